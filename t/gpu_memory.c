/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the stand-in's devices.
 */
#include "config.h"

#include "gpu_memory.h"

#include <stdlib.h>
#include <string.h>

#include "standin.h"
#include "tap.h"

const char *const gpu_place_names[GPU_PLACES] = {"host", "device", "managed"};

enum { COPY_ANY_WAY = 4, ATTACH_GLOBAL = 1 };

static void *function(const char *name)
{
    void *found = standin_function(name);
    if (found == NULL)
        bail_out("the stand-in has no %s", name);
    return found;
}

static void check(int error, const char *what)
{
    if (error != 0)
        bail_out("%s: error %d of the stand-in", what, error);
}

#define CALL(name, types, ...) check(((int(*) types)function(name))(__VA_ARGS__), name)

void gpu_take(int ordinal)
{
    CALL("cudaSetDevice", (int), ordinal);
    gpu_free(GPU_DEVICE, gpu_alloc(GPU_DEVICE, 1));
}

void *gpu_alloc(gpu_place place, size_t size)
{
    void *memory = NULL;
    if (place == GPU_DEVICE)
        CALL("cudaMalloc", (void **, size_t), &memory, size);
    else if (place == GPU_MANAGED)
        CALL("cudaMallocManaged", (void **, size_t, unsigned), &memory, size, ATTACH_GLOBAL);
    else if ((memory = malloc(size)) == NULL)
        bail_out("no memory");
    return memory;
}

void gpu_free(gpu_place place, void *memory)
{
    if (place == GPU_HOST)
        free(memory);
    else
        CALL("cudaFree", (void *), memory);
}

static void copy(void *to, const void *from, size_t size)
{
    if (size > 0)
        CALL("cudaMemcpy", (void *, const void *, size_t, int), to, from, size, COPY_ANY_WAY);
}

void gpu_put(void *to, const void *from, size_t size)
{
    copy(to, from, size);
}

void gpu_get(void *to, const void *from, size_t size)
{
    copy(to, from, size);
}

void *gpu_stream(void)
{
    void *stream = NULL;
    CALL("cudaStreamCreate", (void **), &stream);
    return stream;
}

void gpu_copy_later(void *stream, void *to, const void *from, size_t size)
{
    CALL("cudaMemcpyAsync", (void *, const void *, size_t, int, void *), to, from, size,
         COPY_ANY_WAY, stream);
}

void gpu_stream_free(void *stream)
{
    CALL("cudaStreamDestroy", (void *), stream);
}
