/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the device that operations use in between.
 */
#include "config.h"

#include "scratch.h"

#include <stdlib.h>

#include "memory_pool.h"

enum { LEAST = 4096 };

static cuda_error scratch_alloc(muster_comm *comm, scratch *made)
{
    made->memory = memory_pool_take(comm->device, false, made->size);
    if (made->memory != NULL)
        return CUDA_OK;
    cuda_error error = comm->cuda->malloc(&made->memory, made->size);
    if (error != CUDA_OK || memory_pool_note(comm->device, false, made->size, made->memory))
        return error;
    comm->cuda->free(made->memory);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* Adds a larger piece; by a half at least, so that all smaller ones together are not twice it. */
static cuda_error scratch_grow(muster_comm *comm, size_t size)
{
    size_t now = comm->scratch != NULL ? comm->scratch->size : 0;
    scratch *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->size = size < now + now / 2 ? now + now / 2 : size < LEAST ? LEAST : size;
    cuda_error error = scratch_alloc(comm, made);
    if (error != CUDA_OK) {
        free(made);
        return error;
    }
    made->next = comm->scratch;
    comm->scratch = made;
    return CUDA_OK;
}

cuda_error scratch_take(muster_comm *comm, cuda_stream stream, size_t size, void **memory)
{
    cuda_error error = CUDA_OK;
    if (comm->scratch == NULL || comm->scratch->size < size)
        error = scratch_grow(comm, size);
    if (error == CUDA_OK && comm->scratch_used != NULL)
        error = comm->cuda->stream_wait_event(stream, comm->scratch_used, 0);
    if (error == CUDA_OK)
        *memory = comm->scratch->memory;
    return error;
}

cuda_error scratch_give(muster_comm *comm, cuda_stream stream)
{
    cuda_error error = CUDA_OK;
    if (comm->scratch_used == NULL)
        error = comm->cuda->event_create_with_flags(&comm->scratch_used, CUDA_EVENT_DISABLE_TIMING);
    return error == CUDA_OK ? comm->cuda->event_record(comm->scratch_used, stream) : error;
}

void scratch_free_all(muster_comm *comm)
{
    while (comm->scratch != NULL) {
        scratch *next = comm->scratch->next;
        memory_pool_give(comm->scratch->memory, owner_is_sound(comm->thread));
        free(comm->scratch);
        comm->scratch = next;
    }
    if (comm->scratch_used != NULL)
        comm->cuda->event_destroy(comm->scratch_used);
    comm->scratch_used = NULL;
}
