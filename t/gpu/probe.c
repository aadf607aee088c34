/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the probe of the nccl backend says of this machine: the sentence and its time, the devices,
 * and what the NCCL found can do. Where there is no GPU that is one skipped line.
 *
 *     probe              TAP, with rows for the table
 *     probe --libraries  the libraries found, as settings for a shell, and the number of devices
 */
#include "config.h"

#include "gpu/common.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "base/deadline.h"
#include "base/error.h"
#include "cuda_api.h"
#include "device.h"
#include "nccl_api.h"
#include "nccl_config.h"
#include "probe.h"

enum { POINTS_FIRST = 4, POINTS_DEVICE = 2 };

static const char *named(const char *variable, const char *otherwise)
{
    const char *name = getenv(variable);
    return name != NULL && name[0] != '\0' ? name : otherwise;
}

static int show_libraries(const cuda_api *cuda, const nccl_api *nccl)
{
    printf("MUSTER_CUDA_LIBRARY='%s'\n", named("MUSTER_CUDA_LIBRARY", "libcuda.so.1"));
    printf("MUSTER_CUDART_LIBRARY='%s'\n", cuda->file);
    printf("MUSTER_NCCL_LIBRARY='%s'\n", nccl->file);
    printf("devices=%d\n", cuda->num_devices);
    return 0;
}

/* ---- what there is ---- */

static void show_device(int number)
{
    muster_device_info info = {.size = sizeof(info)};
    bool known = nccl_devices.describe(number, &info) == MUSTER_OK;
    ok(known && info.name[0] != '\0' && info.compute_major > 0, "device %d says what it is",
       number);
    if (!known)
        diag("%s", muster_last_error());
    ok(info.uuid[0] != '\0' || info.bus_id[0] != '\0', "and which");
    common_row("device %-2d  %.60s, compute capability %d.%d%s%s", number, info.name,
               info.compute_major, info.compute_minor, info.slice ? ", a slice" : "",
               info.uuid[0] == '\0' ? ", no UUID" : "");
}

/* Functions are there from the version on that brought them. */
static bool functions_are_due(const nccl_api *nccl)
{
    bool right = true;
    for (const nccl_function *row = nccl_functions; row->name != NULL; row++) {
        bool there = *(void *const *)((const char *)nccl + row->offset) != NULL;
        if (there != (nccl->version >= row->since))
            right = (diag("%s is %s", row->name, there ? "there" : "missing"), false);
    }
    return right;
}

static void add(char *words, size_t size, const char *word)
{
    size_t length = strlen(words);
    snprintf(words + length, size - length, " %s", word);
}

/* The next version after this one that brought something; 0 if there is none. */
static int next_version(int after)
{
    int next = INT_MAX;
    for (const nccl_function *row = nccl_functions; row->name != NULL; row++)
        if (row->since > after && row->since < next)
            next = row->since;
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++)
        if (field->since > after && field->since < next)
            next = field->since;
    return next == INT_MAX ? 0 : next;
}

/* What each version brought, and whether it is in the one found. */
static void show_versions(int found)
{
    for (int version = next_version(0); version != 0; version = next_version(version)) {
        char brought[512] = "", text[NCCL_VERSION_TEXT];
        for (const nccl_function *row = nccl_functions; row->name != NULL; row++)
            if (row->since == version)
                add(brought, sizeof(brought), row->name);
        for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++)
            if (field->since == version)
                add(brought, sizeof(brought), field->option);
        common_row("  %-8s %-3s%s", nccl_version_text(version, text),
                   version <= found ? "yes" : "no", brought);
    }
}

static int show(const muster_backend_info *info, const cuda_api *cuda, const nccl_api *nccl,
                double ms)
{
    plan(POINTS_FIRST + POINTS_DEVICE * cuda->num_devices);
    ok(true, "the probe: %s", info->details);
    is_str(info->version, nccl->version_text, "NCCL %s", info->version);
    common_row("the probe took %.1f ms", ms);
    common_row("NCCL %s, CUDA runtime %d.%d, driver serves %d.%d", info->version,
               cuda->runtime_version / 1000, cuda->runtime_version % 1000 / 10,
               cuda->driver_version / 1000, cuda->driver_version % 1000 / 10);
    ok(functions_are_due(nccl), "it has the functions that the table gives it, and no other");
    ok(nccl_config_size(nccl->version) > 0, "and a config of known size");
    for (int i = 0; i < cuda->num_devices; i++)
        show_device(i);
    common_row("what NCCL's versions brought, and whether it is in %s%s:", info->version,
               nccl->version > NCCL_CONFIG_NEWEST ? " (newer than muster knows)" : "");
    show_versions(nccl->version);
    common_row("its config has %zu bytes", nccl_config_size(nccl->version));
    return done();
}

int main(int argc, char **argv)
{
    const cuda_api *cuda;
    const nccl_api *nccl;
    const char *why = "";
    muster_backend_info info = {.size = sizeof(info)};
    int64_t began = deadline_now_ns();
    muster_status status = probe(&host_functions, &info);
    double ms = (double)(deadline_now_ns() - began) / 1e6;
    if (status != MUSTER_OK) {
        printf("1..0 # SKIP %s (asked in %.1f ms)\n", muster_last_error(), ms);
        return 0;
    }
    if (cuda_api_try(&cuda, &why) != MUSTER_OK || !nccl_api_try(&nccl, &why)) {
        printf("Bail out! the probe is content, but %s\n", why);
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "--libraries") == 0)
        return show_libraries(cuda, nccl);
    return show(&info, cuda, nccl, ms);
}
