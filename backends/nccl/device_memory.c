/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of devices, pinned memory of the host, and streams.
 */
#include "config.h"

#include "device_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "errand.h"
#include "memory_pool.h"
#include "owner.h"
#include "nccl_api.h"

static void release_errand(errand *base)
{
    free(base);
}

/* How long the driver is waited for where it is known that something hangs. */
enum { LOCATE_MS = 500 };

/* Memory that can be reached by both is on the host as well as on the device; where it is at the
 * moment does not matter. */
static cu_result ask_place(const cuda_api *cuda, const void *pointer, muster_memory_place *place)
{
    unsigned type = 0, managed = 0;
    int device = -1;
    cu_attribute asked[] = {CU_ATTRIBUTE_MEMORY_TYPE, CU_ATTRIBUTE_IS_MANAGED,
                            CU_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {&type, &managed, &device};
    cu_result result = cuda->cu_pointer_get_attributes(3, asked, answers, (uintptr_t)pointer);
    if (result != CUDA_OK)
        return result;
    if (managed != 0)
        place->kind = MUSTER_MEMORY_MANAGED;
    else if (type == CU_MEMORY_DEVICE)
        place->kind = MUSTER_MEMORY_DEVICE;
    if (place->kind != MUSTER_MEMORY_HOST)
        place->device = device;
    return CUDA_OK;
}

static const char no_place[] = "can't find out where a buffer is";

static muster_status device_place(const cuda_api *cuda, const void *pointer,
                                  muster_memory_place *place)
{
    cu_result result = ask_place(cuda, pointer, place);
    return result == CUDA_OK ? MUSTER_OK : cuda_api_error(cuda, result, no_place);
}

/* The same on another thread, which takes ten times as long or more. */
typedef struct place_errand {
    errand errand; /* first */
    const void *pointer;
    muster_memory_place place;
} place_errand;

static cuda_error place_run(errand *base)
{
    place_errand *me = (place_errand *)base;
    return ask_place(base->cuda, me->pointer, &me->place);
}

static muster_status place_apart(const cuda_api *cuda, const void *pointer,
                                 muster_memory_place *place)
{
    place_errand *me = calloc(1, sizeof(*me));
    if (me == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a call of CUDA");
    me->errand = (errand){.cuda = cuda,
                          .outside = true,
                          .what = no_place,
                          .run = place_run,
                          .release = release_errand};
    me->pointer = pointer;
    me->place = *place;
    muster_status status = errand_run(&me->errand, deadline_in(LOCATE_MS));
    if (status == MUSTER_OK)
        *place = me->place;
    errand_unref(&me->errand);
    return status;
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
    return errand_some_hang() ? place_apart(cuda, pointer, place)
                              : device_place(cuda, pointer, place);
}

/* ---- getting it ---- */

typedef struct alloc_errand {
    errand errand; /* first */
    bool pinned;
    size_t size;
    void *memory;
    char words[128];
} alloc_errand;

static cuda_error alloc_run(errand *base)
{
    alloc_errand *me = (alloc_errand *)base;
    cuda_error error = me->pinned
                           ? base->cuda->host_alloc(&me->memory, me->size, CUDA_HOST_ALLOC_PORTABLE)
                           : base->cuda->malloc(&me->memory, me->size);
    if (error != CUDA_OK || memory_pool_note(base->device, me->pinned, me->size, me->memory))
        return error;
    if (me->pinned)
        base->cuda->free_host(me->memory);
    else
        base->cuda->free(me->memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static void alloc_late(errand *base)
{
    if (base->error == CUDA_OK)
        memory_pool_give(((alloc_errand *)base)->memory, true);
}

/* Of size bytes, with an errand in front, after a look at the device. */
static muster_status errand_new(int device, size_t size, errand **made)
{
    const cuda_api *cuda;
    muster_status status = cuda_api_load(&cuda);
    if (status == MUSTER_OK)
        status = device_check(cuda, device);
    if (status != MUSTER_OK)
        return status;
    *made = calloc(1, size);
    if (*made == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a call of CUDA");
    (*made)->cuda = cuda;
    (*made)->device = device;
    (*made)->release = release_errand;
    return MUSTER_OK;
}

static muster_status alloc(int device, bool pinned, size_t size, int64_t timeout_ms, void **memory)
{
    alloc_errand *me;
    muster_status status = errand_new(device, sizeof(*me), (errand **)&me);
    if (status != MUSTER_OK)
        return status;
    me->pinned = pinned;
    me->size = size;
    me->errand.run = alloc_run;
    me->errand.late = alloc_late;
    me->errand.what = me->words;
    snprintf(me->words, sizeof(me->words), "can't take %zu bytes of %s of device %d", size,
             pinned ? "pinned memory" : "the memory", device);
    me->memory = memory_pool_take(device, pinned, size);
    if (me->memory == NULL)
        status = errand_run(&me->errand, deadline_in(timeout_ms));
    else
        me->errand.refs = 1;
    if (status == MUSTER_OK)
        *memory = me->memory;
    errand_unref(&me->errand);
    return status;
}

muster_status device_alloc(int device, size_t size, int64_t timeout_ms, void **memory)
{
    return alloc(device, false, size, timeout_ms, memory);
}

muster_status device_alloc_pinned(int device, size_t size, int64_t timeout_ms, void **memory)
{
    return alloc(device, true, size, timeout_ms, memory);
}

/* ---- giving it back ---- */

/* How long a caller waits for what may go on without him, so that a program that ends now does not
 * end in the middle of it. */
enum { BEHIND_MS = 100 };

static cuda_error trim_run(errand *base)
{
    memory_pool_trim(base->cuda, base->device);
    return CUDA_OK;
}

static void trim_soon(int device)
{
    errand *me;
    if (errand_new(device, sizeof(*me), &me) != MUSTER_OK)
        return;
    me->run = trim_run;
    if (errand_await(me, deadline_in(BEHIND_MS)) == MUSTER_ERR_TIMEOUT)
        nccl_host->log(MUSTER_LOG_WARNING,
                       "memory of device %d is not given back while the device is busy; that goes "
                       "on in the background",
                       device);
    errand_unref(me);
}

/* Where communicators use the device, the last of them gives back what is left. */
void device_free(int device, void *memory)
{
    const cuda_api *cuda;
    const char *why;
    if (memory == NULL || cuda_api_try(&cuda, &why) != MUSTER_OK || device < 0 ||
        device >= cuda->num_devices)
        return;
    owner *of = owner_of(cuda, device);
    memory_pool_give(memory, of != NULL && owner_is_sound(of));
    if (of != NULL && owner_is_idle(of))
        trim_soon(device);
}

/* ---- streams ---- */

typedef struct stream_errand {
    errand errand; /* first */
    bool high_priority;
    cuda_stream stream;
} stream_errand;

static cuda_error stream_run(errand *base)
{
    stream_errand *me = (stream_errand *)base;
    int least = 0, greatest = 0;
    cuda_error error = base->cuda->device_get_stream_priority_range(&least, &greatest);
    if (error == CUDA_OK)
        error = base->cuda->stream_create_with_priority(&me->stream, CUDA_STREAM_DEFAULT,
                                                        me->high_priority ? greatest : least);
    return error;
}

static cuda_error stream_end(errand *base)
{
    return base->cuda->stream_destroy(((stream_errand *)base)->stream);
}

static void stream_late(errand *base)
{
    if (base->error == CUDA_OK)
        stream_end(base);
}

muster_status device_stream_open(int device, bool high_priority, int64_t timeout_ms, void **stream)
{
    stream_errand *me;
    muster_status status = errand_new(device, sizeof(*me), (errand **)&me);
    if (status != MUSTER_OK)
        return status;
    me->high_priority = high_priority;
    me->errand.what = "can't make a stream";
    me->errand.run = stream_run;
    me->errand.late = stream_late;
    status = errand_run(&me->errand, deadline_in(timeout_ms));
    if (status == MUSTER_OK)
        *stream = me->stream;
    errand_unref(&me->errand);
    return status;
}

void device_stream_close(int device, void *stream)
{
    stream_errand *me;
    if (stream == NULL || errand_new(device, sizeof(*me), (errand **)&me) != MUSTER_OK)
        return;
    me->stream = stream;
    me->errand.run = stream_end;
    errand_await(&me->errand, deadline_in(BEHIND_MS));
    errand_unref(&me->errand);
}
