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
#include "nccl_api.h"

/* The primary contexts that have been retained, one a device; they are kept for good. */
static struct {
    pthread_mutex_t lock;
    cu_context *retained;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static muster_status device_error(const cuda_api *cuda, cuda_error error, const char *what,
                                  int device)
{
    char words[128];
    snprintf(words, sizeof(words), "can't %s device %d", what, device);
    return cuda_api_error(cuda, error, words);
}

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

/* The runtime says 0 where nobody has chosen; then it counts only if device 0 is made use of. */
static bool device_is_chosen(const cuda_api *cuda, int device)
{
    cu_context context = NULL;
    cu_device handle;
    unsigned flags;
    int active = 0;
    if (device > 0 || (cuda->cu_ctx_get_current(&context) == CUDA_OK && context != NULL))
        return true;
    return cuda->cu_device_get(&handle, device) == CUDA_OK &&
           cuda->cu_device_primary_ctx_get_state(handle, &flags, &active) == CUDA_OK && active != 0;
}

static muster_status device_current(int *device)
{
    const cuda_api *cuda;
    const char *why;
    int current = 0;
    *device = -1;
    if (!cuda_api_in_use() || cuda_api_try(&cuda, &why) != MUSTER_OK)
        return MUSTER_OK;
    cuda_error error = cuda->get_device(&current);
    if (error != CUDA_OK)
        return cuda_api_error(cuda, error, "can't find out the current device");
    if (device_is_chosen(cuda, current))
        *device = current;
    return MUSTER_OK;
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

static muster_status device_describe(int device, muster_device_info *info)
{
    const cuda_api *cuda;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        status = device_check(cuda, device);
    if (status != MUSTER_OK)
        return status;
    *info = (muster_device_info){.size = sizeof(*info)};
    device_ask_driver(cuda, device, info);
    cuda_error error = cuda->device_get_pci_bus_id(info->bus_id, sizeof(info->bus_id), device);
    for (char *at = info->bus_id; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    if (error == CUDA_OK)
        error =
            cuda->device_get_attribute(&info->compute_major, CUDA_ATTRIBUTE_COMPUTE_MAJOR, device);
    if (error == CUDA_OK)
        error =
            cuda->device_get_attribute(&info->compute_minor, CUDA_ATTRIBUTE_COMPUTE_MINOR, device);
    return error == CUDA_OK ? MUSTER_OK : device_error(cuda, error, "describe", device);
}

const muster_device_table nccl_devices = {
    .size = sizeof(muster_device_table),
    .in_use = cuda_api_in_use,
    .count = device_count,
    .current = device_current,
    .describe = device_describe,
    .locate = device_locate,
    .alloc_device = device_alloc,
    .alloc_pinned = device_alloc_pinned,
    .free_memory = device_free,
    .stream_open = device_stream_open,
    .stream_close = device_stream_close,
    .copy_start = device_copy_start,
    .copy_wait = device_copy_wait,
};
