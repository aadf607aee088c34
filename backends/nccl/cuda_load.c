/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens the driver, then the runtimes that are there, newest first, until one works with it.
 */
#include "config.h"

#include "cuda_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const driver_names[] = {"libcuda.so.1", NULL};
const library_place cuda_driver_place = {"MUSTER_CUDA_LIBRARY", driver_names};

static const char *const runtime_names[] = {"libcudart.so.13", "libcudart.so.12",
                                            "libcudart.so.11.0", NULL};
static const library_place runtime_place = {"MUSTER_CUDART_LIBRARY", runtime_names};

/* The name of a function that the library should have and has not, or NULL. */
static const char *cuda_take(const library *opened, bool driver, cuda_api *api)
{
    for (const cuda_function *row = cuda_functions; row->name != NULL; row++)
        if (row->driver == driver &&
            !library_function(opened, row->name, (char *)api + row->offset) && !row->optional)
            return row->name;
    return NULL;
}

static bool cuda_refuse_no_device(library_reason *why)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible == NULL)
        return library_refuse(why, "there is no GPU here: NVIDIA's driver finds no device");
    return library_refuse(
        why,
        "no GPU is visible: CUDA_VISIBLE_DEVICES is '%s', which hides all devices "
        "that may be here",
        visible);
}

/* Says why the driver does not start. */
static bool cuda_refuse_driver(int error, const char *file, library_reason *why)
{
    switch (error) {
    case CUDA_ERROR_STUB:
        return library_refuse(why,
                              "%s is a stub for linking, not NVIDIA's driver: take its folder out "
                              "of LD_LIBRARY_PATH, and install the driver where there is a GPU",
                              file);
    case CUDA_ERROR_NO_DEVICE:
        return cuda_refuse_no_device(why);
    case CUDA_ERROR_INITIALIZATION:
        return library_refuse(why,
                              "NVIDIA's driver (%s) does not start in this process (error 3): a "
                              "child made by fork can't use GPUs that its parent has used",
                              file);
    case CUDA_ERROR_DRIVER_MISMATCH:
        return library_refuse(why,
                              "NVIDIA's driver (%s) and its kernel module are of different "
                              "versions (error 803): reload the module, or restart the host",
                              file);
    default:
        return library_refuse(why,
                              "NVIDIA's driver (%s) does not start (error %d): see whether "
                              "nvidia-smi shows the GPUs",
                              file, error);
    }
}

static bool cuda_load_driver(cuda_api *api, library *opened, library_reason *why)
{
    library_reason loader = {""};
    int turn = 0;
    if (!library_next(&cuda_driver_place, &turn, opened, &loader))
        return library_refuse(why, "there is no NVIDIA driver (%s)", loader.words);
    const char *missing = cuda_take(opened, true, api);
    if (missing != NULL)
        return library_refuse(why, "%s lacks %s: it is no driver, or older than CUDA 11",
                              opened->file, missing);
    cu_result result = api->cu_init(0);
    return result == CUDA_OK || cuda_refuse_driver((int)result, opened->file, why);
}

/* The runtimes that were opened and are of no use. */
typedef struct cuda_refused {
    char needs[512]; /* "13.0 (libcudart.so.13), 12.4 (...)" */
    size_t length;
    int driver_version;
    library_reason lacks;
} cuda_refused;

static void cuda_add_refused(cuda_refused *refused, const cuda_api *api, const library *opened)
{
    int wrote = snprintf(
        refused->needs + refused->length, sizeof(refused->needs) - refused->length, "%s%d.%d (%s)",
        refused->length == 0 ? "" : ", ", api->runtime_version / CUDA_VERSION_MAJOR_UNIT,
        api->runtime_version % CUDA_VERSION_MAJOR_UNIT / CUDA_VERSION_MINOR_UNIT, opened->file);
    refused->length += (size_t)wrote;
    if (refused->length >= sizeof(refused->needs))
        refused->length = sizeof(refused->needs) - 1;
    refused->driver_version = api->driver_version;
}

typedef enum cuda_verdict { CUDA_USABLE, CUDA_TRY_NEXT, CUDA_HOPELESS } cuda_verdict;

static cuda_verdict cuda_try_runtime(cuda_api *api, const library *opened, const char *driver,
                                     cuda_refused *refused, library_reason *why)
{
    const char *missing = cuda_take(opened, false, api);
    if (missing != NULL) {
        library_refuse(&refused->lacks, "%s lacks %s: it is no CUDA runtime, or older than 11",
                       opened->file, missing);
        return CUDA_TRY_NEXT;
    }
    memcpy(api->file, opened->file, sizeof(api->file));
    api->runtime_get_version(&api->runtime_version);
    api->driver_get_version(&api->driver_version);
    cuda_error error = api->get_device_count(&api->num_devices);
    if (error == CUDA_OK && api->num_devices > 0)
        return CUDA_USABLE;
    api->get_last_error();
    if (error == CUDA_ERROR_DRIVER_TOO_OLD) {
        cuda_add_refused(refused, api, opened);
        return CUDA_TRY_NEXT;
    }
    cuda_refuse_driver(error == CUDA_OK ? CUDA_ERROR_NO_DEVICE : (int)error, driver, why);
    return CUDA_HOPELESS;
}

/* All that were there have been tried. */
static bool cuda_refuse_runtimes(const cuda_refused *refused, const library_reason *loader,
                                 library_reason *why)
{
    if (refused->length > 0 && refused->driver_version == 0)
        return library_refuse(why,
                              "the CUDA runtime does not find NVIDIA's driver, which was found "
                              "here; what was found of the runtime is %s",
                              refused->needs);
    if (refused->length > 0)
        return library_refuse(
            why,
            "NVIDIA's driver is too old: it serves CUDA up to %d.%d, and what was found of the "
            "runtime is %s; update the driver, or name an older runtime in MUSTER_CUDART_LIBRARY",
            refused->driver_version / CUDA_VERSION_MAJOR_UNIT,
            refused->driver_version % CUDA_VERSION_MAJOR_UNIT / CUDA_VERSION_MINOR_UNIT,
            refused->needs);
    if (refused->lacks.words[0] != '\0')
        return library_refuse(why, "%s", refused->lacks.words);
    if (library_is_named(&runtime_place))
        return library_refuse(why,
                              "the CUDA runtime that MUSTER_CUDART_LIBRARY names can't be opened "
                              "(%s)",
                              loader->words);
    return library_refuse(why,
                          "there is no CUDA runtime, neither libcudart.so.13 nor .12 nor .11.0 "
                          "(%s): install one, or name its file in MUSTER_CUDART_LIBRARY",
                          loader->words);
}

bool cuda_load(cuda_api *api, library_reason *why)
{
    library driver, opened;
    library_reason loader = {""};
    cuda_refused refused = {.length = 0};
    int turn = 0;
    if (!cuda_load_driver(api, &driver, why))
        return false;
    while (library_next(&runtime_place, &turn, &opened, &loader)) {
        cuda_verdict verdict = cuda_try_runtime(api, &opened, driver.file, &refused, why);
        if (verdict != CUDA_TRY_NEXT)
            return verdict == CUDA_USABLE;
    }
    return cuda_refuse_runtimes(&refused, &loader, why);
}
