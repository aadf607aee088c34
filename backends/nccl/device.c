/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Devices of this process, and their memory and streams.
 *
 * A thread works on a device by having the device's primary context on its stack while it does. To
 * set the runtime's current device and set it back would make use of the one that was set back to,
 * and take memory of it.
 */
#include "config.h"

#include "device.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_memory.h"
#include "errand.h"
#include "nccl_api.h"

/* The primary contexts that have been retained, one a device; they are kept for good. */
static struct {
    pthread_mutex_t lock;
    cu_context *retained;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

muster_status device_check(const cuda_api *cuda, int device)
{
    if (device >= 0 && device < cuda->num_devices)
        return MUSTER_OK;
    return nccl_host->error(MUSTER_ERR_ARGUMENT, "there is no device %d: this process has %d",
                            device, cuda->num_devices);
}

static cuda_error device_retain(const cuda_api *cuda, int device, cu_context *context)
{
    cu_device handle;
    cu_result result = CUDA_OK;
    if (contexts.retained == NULL)
        contexts.retained = calloc((size_t)cuda->num_devices, sizeof(*contexts.retained));
    if (contexts.retained == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (contexts.retained[device] == NULL) {
        result = cuda->cu_device_get(&handle, device);
        if (result == CUDA_OK)
            result = cuda->cu_device_primary_ctx_retain(&contexts.retained[device], handle);
    }
    *context = contexts.retained[device];
    return result;
}

cuda_error device_enter(const cuda_api *cuda, int device, const char **doing)
{
    cu_context context = NULL;
    *doing = "make use of";
    pthread_mutex_lock(&contexts.lock);
    cuda_error error = device_retain(cuda, device, &context);
    pthread_mutex_unlock(&contexts.lock);
    if (error != CUDA_OK)
        return error;
    *doing = "enter";
    error = cuda->cu_ctx_push_current(context);
    if (error == CUDA_OK)
        *doing = NULL;
    return error;
}

void device_leave(const cuda_api *cuda)
{
    cu_context popped;
    cuda->cu_ctx_pop_current(&popped);
}

static muster_status device_count(int *count)
{
    const cuda_api *cuda;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        *count = cuda->num_devices;
    return status;
}

/* ---- questions to the driver, on another thread ---- */

typedef struct question {
    errand errand; /* first */
    char words[64];
    int active; /* whether the process makes use of the device */
    muster_device_info info;
} question;

static void question_release(errand *base)
{
    free(base);
}

static muster_status question_new(const cuda_api *cuda, int device, cuda_error (*run)(errand *),
                                  question **made)
{
    question *fresh = calloc(1, sizeof(*fresh));
    if (fresh == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a call of CUDA");
    snprintf(fresh->words, sizeof(fresh->words), "can't describe device %d", device);
    fresh->errand = (errand){.cuda = cuda,
                             .device = device,
                             .outside = true,
                             .what = fresh->words,
                             .run = run,
                             .release = question_release};
    *made = fresh;
    return MUSTER_OK;
}

/* What the driver can't say is not in use. */
static cuda_error active_run(errand *base)
{
    question *me = (question *)base;
    cu_device handle;
    unsigned flags;
    if (base->cuda->cu_device_get(&handle, base->device) != CUDA_OK ||
        base->cuda->cu_device_primary_ctx_get_state(handle, &flags, &me->active) != CUDA_OK)
        me->active = 0;
    return CUDA_OK;
}

/* The runtime says 0 where nobody has chosen; then it counts only if device 0 is made use of. */
static muster_status device_is_chosen(const cuda_api *cuda, int device, bool *chosen)
{
    cu_context context = NULL;
    question *asked;
    *chosen = device > 0 || (cuda->cu_ctx_get_current(&context) == CUDA_OK && context != NULL);
    if (*chosen)
        return MUSTER_OK;
    muster_status status = question_new(cuda, device, active_run, &asked);
    if (status != MUSTER_OK)
        return status;
    status = errand_run(&asked->errand, deadline_in(nccl_host->patience_ms()));
    *chosen = status == MUSTER_OK && asked->active != 0;
    errand_unref(&asked->errand);
    return status;
}

/* What this thread has set is its own, and the runtime asks nobody for it. */
static muster_status device_current(int *device)
{
    const cuda_api *cuda;
    const char *why;
    bool chosen = false;
    int current = 0;
    *device = -1;
    if (!cuda_api_in_use() || cuda_api_try(&cuda, &why) != MUSTER_OK)
        return MUSTER_OK;
    cuda_error error = cuda->get_device(&current);
    if (error != CUDA_OK)
        return cuda_api_error(cuda, error, "can't find out the current device");
    muster_status status = device_is_chosen(cuda, current, &chosen);
    if (chosen)
        *device = current;
    return status;
}

static void device_write_uuid(const cu_uuid *uuid, bool slice, char text[64])
{
    const unsigned char *b = uuid->bytes;
    snprintf(text, 64, "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             slice ? "MIG" : "GPU", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9],
             b[10], b[11], b[12], b[13], b[14], b[15]);
}

/* What the driver can't say is left empty. A slice has the bus id of the whole device, and a UUID
 * of its own, which older drivers don't tell. */
static void device_ask_driver(const cuda_api *cuda, int device, muster_device_info *info)
{
    cu_device handle;
    cu_uuid whole, part;
    if (cuda->cu_device_get(&handle, device) != CUDA_OK)
        return;
    if (cuda->cu_device_get_name(info->name, sizeof(info->name), handle) != CUDA_OK)
        info->name[0] = '\0';
    info->name[sizeof(info->name) - 1] = '\0';
    if (cuda->cu_device_get_uuid(&whole, handle) != CUDA_OK)
        return;
    if (cuda->cu_device_get_uuid_v2 == NULL ||
        cuda->cu_device_get_uuid_v2(&part, handle) != CUDA_OK)
        part = whole;
    info->slice = memcmp(&part, &whole, sizeof(part)) != 0;
    device_write_uuid(&part, info->slice, info->uuid);
}

static cuda_error describe_run(errand *base)
{
    question *me = (question *)base;
    const cuda_api *cuda = base->cuda;
    muster_device_info *info = &me->info;
    *info = (muster_device_info){.size = sizeof(*info)};
    device_ask_driver(cuda, base->device, info);
    cuda_error error =
        cuda->device_get_pci_bus_id(info->bus_id, sizeof(info->bus_id), base->device);
    for (char *at = info->bus_id; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    if (error == CUDA_OK)
        error = cuda->device_get_attribute(&info->compute_major, CUDA_ATTRIBUTE_COMPUTE_MAJOR,
                                           base->device);
    if (error == CUDA_OK)
        error = cuda->device_get_attribute(&info->compute_minor, CUDA_ATTRIBUTE_COMPUTE_MINOR,
                                           base->device);
    return error;
}

muster_status device_describe(int device, deadline end, muster_device_info *info)
{
    const cuda_api *cuda;
    question *asked;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        status = device_check(cuda, device);
    if (status == MUSTER_OK)
        status = question_new(cuda, device, describe_run, &asked);
    if (status != MUSTER_OK)
        return status;
    status = errand_run(&asked->errand, end);
    if (status == MUSTER_OK)
        *info = asked->info;
    errand_unref(&asked->errand);
    return status;
}

static muster_status describe_in_time(int device, muster_device_info *info)
{
    return device_describe(device, deadline_in(nccl_host->patience_ms()), info);
}

const muster_device_table nccl_devices = {
    .size = sizeof(muster_device_table),
    .in_use = cuda_api_in_use,
    .count = device_count,
    .current = device_current,
    .describe = describe_in_time,
    .locate = device_locate,
    .alloc_device = device_alloc,
    .alloc_pinned = device_alloc_pinned,
    .free_memory = device_free,
    .stream_open = device_stream_open,
    .stream_close = device_stream_close,
    .copy_start = device_copy_start,
    .copy_wait = device_copy_wait,
};
