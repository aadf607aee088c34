/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of devices, pinned memory of the host, and streams.
 */
#include "config.h"

#include "device_memory.h"

#include <stdio.h>

#include "device.h"
#include "nccl_api.h"

/* Loads what is needed and enters the device. */
static muster_status device_open(int device, const cuda_api **cuda)
{
    muster_status status = cuda_api_load(cuda);
    return status != MUSTER_OK ? status : device_enter(*cuda, device);
}

/* Memory that can be reached by both is on the host as well as on the device; where it is at the
 * moment does not matter. */
static muster_status device_place(const cuda_api *cuda, const void *pointer,
                                  muster_memory_place *place)
{
    unsigned type = 0, managed = 0;
    int device = -1;
    cu_attribute asked[] = {CU_ATTRIBUTE_MEMORY_TYPE, CU_ATTRIBUTE_IS_MANAGED,
                            CU_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {&type, &managed, &device};
    cu_result result = cuda->cu_pointer_get_attributes(3, asked, answers, (cu_pointer)pointer);
    if (result != CUDA_OK)
        return cuda_api_error(cuda, result, "can't find out where a buffer is");
    if (managed != 0)
        place->kind = MUSTER_MEMORY_MANAGED;
    else if (type == CU_MEMORY_DEVICE)
        place->kind = MUSTER_MEMORY_DEVICE;
    if (place->kind != MUSTER_MEMORY_HOST)
        place->device = device;
    return MUSTER_OK;
}

/* In a process that can't use CUDA, since there is no device, or since it is a child made by fork
 * of one that does, no memory is a device's, whoever loaded the driver. */
muster_status device_locate(const void *pointer, muster_memory_place *place)
{
    const cuda_api *cuda;
    const char *why;
    *place = (muster_memory_place){sizeof(*place), MUSTER_MEMORY_HOST, -1};
    if (!cuda_api_in_use() || cuda_api_try(&cuda, &why) != MUSTER_OK)
        return MUSTER_OK;
    return device_place(cuda, pointer, place);
}

static muster_status device_no_memory(const cuda_api *cuda, cuda_error error, size_t size,
                                      const char *kind, int device)
{
    char words[128];
    snprintf(words, sizeof(words), "can't take %zu bytes of %s of device %d", size, kind, device);
    return cuda_api_error(cuda, error, words);
}

muster_status device_alloc(int device, size_t size, void **memory)
{
    const cuda_api *cuda;
    muster_status status = device_open(device, &cuda);
    if (status != MUSTER_OK)
        return status;
    cuda_error error = cuda->malloc(memory, size);
    if (error != CUDA_OK)
        status = device_no_memory(cuda, error, size, "the memory", device);
    device_leave(cuda);
    return status;
}

muster_status device_alloc_pinned(int device, size_t size, void **memory)
{
    const cuda_api *cuda;
    muster_status status = device_open(device, &cuda);
    if (status != MUSTER_OK)
        return status;
    cuda_error error = cuda->host_alloc(memory, size, CUDA_HOST_ALLOC_PORTABLE);
    if (error != CUDA_OK)
        status = device_no_memory(cuda, error, size, "pinned memory", device);
    device_leave(cuda);
    return status;
}

void device_free(int device, void *memory)
{
    const cuda_api *cuda;
    muster_memory_place place = {sizeof(place), MUSTER_MEMORY_HOST, -1};
    if (memory == NULL || device_open(device, &cuda) != MUSTER_OK)
        return;
    if (device_place(cuda, memory, &place) == MUSTER_OK) {
        cuda_error error =
            place.kind == MUSTER_MEMORY_HOST ? cuda->free_host(memory) : cuda->free(memory);
        if (error != CUDA_OK)
            cuda->get_last_error();
    }
    device_leave(cuda);
}

muster_status device_stream_open(int device, bool high_priority, void **stream)
{
    const cuda_api *cuda;
    int least = 0, greatest = 0;
    muster_status status = device_open(device, &cuda);
    if (status != MUSTER_OK)
        return status;
    cuda_error error = cuda->device_get_stream_priority_range(&least, &greatest);
    if (error == CUDA_OK)
        error = cuda->stream_create_with_priority(stream, CUDA_STREAM_DEFAULT,
                                                  high_priority ? greatest : least);
    if (error != CUDA_OK)
        status = cuda_api_error(cuda, error, "can't make a stream");
    device_leave(cuda);
    return status;
}

void device_stream_close(int device, void *stream)
{
    const cuda_api *cuda;
    if (stream == NULL || device_open(device, &cuda) != MUSTER_OK)
        return;
    if (cuda->stream_destroy(stream) != CUDA_OK)
        cuda->get_last_error();
    device_leave(cuda);
}
