/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: memory and copies, as
 * CUDA's runtime has them. Of pageable host memory a copy reads before it returns, and writes
 * before it returns; of pinned memory both happen on the stream.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static cuda_error runtime_make(const char *function, cuda_memory_type type, void **memory,
                               size_t size)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_device(function, &driver);
    if (error == CUDA_OK)
        error = driver->memory_make(driver->current(), type, size, memory);
    return runtime_leave(error);
}

static cuda_error runtime_drop(const char *function, void *memory)
{
    const standin_driver *driver;
    cuda_error error = runtime_enter_device(function, &driver);
    if (error == CUDA_OK && memory != NULL)
        error = driver->memory_drop(memory);
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaMalloc, void **memory, size_t size)
{
    return runtime_make("cudaMalloc", CUDA_MEMORY_DEVICE, memory, size);
}

EXPORT(cuda_error, cudaMallocManaged, void **memory, size_t size, unsigned flags)
{
    (void)flags;
    return runtime_make("cudaMallocManaged", CUDA_MEMORY_MANAGED, memory, size);
}

EXPORT(cuda_error, cudaHostAlloc, void **memory, size_t size, unsigned flags)
{
    (void)flags;
    return runtime_make("cudaHostAlloc", CUDA_MEMORY_HOST, memory, size);
}

EXPORT(cuda_error, cudaFree, void *memory)
{
    return runtime_drop("cudaFree", memory);
}

EXPORT(cuda_error, cudaFreeHost, void *memory)
{
    return runtime_drop("cudaFreeHost", memory);
}

/* 13 writes a longer struct. */
EXPORT(cuda_error, cudaPointerGetAttributes, cuda_pointer_attributes *told, const void *pointer)
{
    const standin_driver *driver;
    standin_memory memory = {NULL, 0, NULL, CUDA_MEMORY_UNREGISTERED, -2};
    cuda_error error = runtime_enter_device("cudaPointerGetAttributes", &driver);
    if (error != CUDA_OK)
        return runtime_leave(error);
    bool known = driver->memory_find(pointer, &memory);
    told->type = memory.type;
    told->device = memory.device;
    told->device_pointer = known ? (void *)(uintptr_t)pointer : NULL;
    told->host_pointer = memory.type != CUDA_MEMORY_DEVICE ? (void *)(uintptr_t)pointer : NULL;
    if (runtime_version >= 13000)
        memset(told->reserved, 0, sizeof(told->reserved));
    return CUDA_OK;
}

/* ---- copies ---- */

typedef struct runtime_copy {
    const standin_driver *driver;
    void *to;
    const void *from; /* NULL: value is written */
    int value;
    size_t size;
    void *kept; /* what was read of pageable memory */
} runtime_copy;

/* Host memory that the driver has not heard of is where it says. */
static void *runtime_reach(const standin_driver *driver, const void *pointer, size_t size)
{
    standin_memory memory;
    if (!driver->memory_find(pointer, &memory))
        return (void *)(uintptr_t)pointer;
    return driver->memory_reach(pointer, size);
}

static void runtime_do_copy(void *what)
{
    runtime_copy *copy = what;
    void *to = runtime_reach(copy->driver, copy->to, copy->size);
    const void *from =
        copy->from != NULL ? runtime_reach(copy->driver, copy->from, copy->size) : NULL;
    if (to == NULL || (copy->from != NULL && from == NULL))
        copy->driver->poison((cu_result)STANDIN_ILLEGAL_ADDRESS);
    else if (copy->from == NULL)
        memset(to, copy->value, copy->size);
    else
        memmove(to, from, copy->size);
    free(copy->kept);
    free(copy);
}

/* Reads pageable memory beforehand. */
static bool runtime_keep(runtime_copy *copy)
{
    standin_memory memory;
    if (copy->from == NULL || copy->driver->memory_find(copy->from, &memory))
        return true;
    copy->kept = malloc(copy->size);
    if (copy->kept == NULL)
        return false;
    memcpy(copy->kept, copy->from, copy->size);
    copy->from = copy->kept;
    return true;
}

static cuda_error runtime_start_copy(runtime_copy copy, standin_stream *stream, bool wait)
{
    const standin_driver *driver = copy.driver;
    standin_memory memory;
    if (!driver->stream_known(stream))
        return (cuda_error)STANDIN_INVALID_HANDLE;
    if (runtime_reach(driver, copy.to, copy.size) == NULL ||
        (copy.from != NULL && runtime_reach(driver, copy.from, copy.size) == NULL))
        return (cuda_error)STANDIN_INVALID_VALUE;
    if (copy.size == 0)
        return CUDA_OK;
    runtime_copy *started = malloc(sizeof(*started));
    if (started == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    wait = wait || !driver->memory_find(copy.to, &memory);
    *started = copy;
    cuda_error error = runtime_keep(started) ? driver->stream_push(stream, runtime_do_copy, started)
                                             : CUDA_ERROR_OUT_OF_MEMORY;
    if (error != CUDA_OK) {
        free(started->kept);
        free(started);
    } else if (wait) {
        driver->mark_wait(driver->stream_mark(stream));
        error = driver->ready();
    }
    return error;
}

/* Whether the kinds of memory are those that the caller has named. */
static bool runtime_kind_fits(const runtime_copy *copy, cuda_copy_kind kind)
{
    standin_memory to = {.type = CUDA_MEMORY_UNREGISTERED}, from = to;
    copy->driver->memory_find(copy->to, &to);
    copy->driver->memory_find(copy->from, &from);
    bool to_device = kind == CUDA_COPY_HOST_TO_DEVICE || kind == CUDA_COPY_DEVICE_TO_DEVICE;
    bool from_device = kind == CUDA_COPY_DEVICE_TO_HOST || kind == CUDA_COPY_DEVICE_TO_DEVICE;
    if (kind == CUDA_COPY_DEFAULT)
        return true;
    if ((to.type == CUDA_MEMORY_DEVICE && !to_device) ||
        (from.type == CUDA_MEMORY_DEVICE && !from_device))
        return false;
    return (!to_device || to.type != CUDA_MEMORY_UNREGISTERED) &&
           (!from_device || from.type != CUDA_MEMORY_UNREGISTERED);
}

static cuda_error runtime_move(const char *function, runtime_copy copy, cuda_copy_kind kind,
                               standin_stream *stream, bool wait)
{
    cuda_error error = runtime_enter_device(function, &copy.driver);
    if (error == CUDA_OK && copy.from != NULL && !runtime_kind_fits(&copy, kind))
        error = (cuda_error)STANDIN_INVALID_VALUE;
    if (error == CUDA_OK)
        error = runtime_start_copy(copy, stream, wait);
    return runtime_leave(error);
}

EXPORT(cuda_error, cudaMemcpyAsync, void *to, const void *from, size_t size, cuda_copy_kind kind,
       cuda_stream stream)
{
    runtime_copy copy = {.to = to, .from = from, .size = size};
    return runtime_move("cudaMemcpyAsync", copy, kind, stream, false);
}

EXPORT(cuda_error, cudaMemcpy, void *to, const void *from, size_t size, cuda_copy_kind kind)
{
    runtime_copy copy = {.to = to, .from = from, .size = size};
    return runtime_move("cudaMemcpy", copy, kind, NULL, true);
}

EXPORT(cuda_error, cudaMemsetAsync, void *to, int value, size_t size, cuda_stream stream)
{
    runtime_copy copy = {.to = to, .value = value, .size = size};
    return runtime_move("cudaMemsetAsync", copy, CUDA_COPY_DEFAULT, stream, false);
}

EXPORT(cuda_error, cudaMemset, void *to, int value, size_t size)
{
    runtime_copy copy = {.to = to, .value = value, .size = size};
    return runtime_move("cudaMemset", copy, CUDA_COPY_DEFAULT, NULL, true);
}
