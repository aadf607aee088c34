/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What operations are made of.
 */
#include "config.h"

#include "steps.h"

#include "scratch.h"

bool step_fine(nccl_result result)
{
    return result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS;
}

nccl_result step_cuda(operation *o, cuda_error error)
{
    o->cuda = error;
    return error == CUDA_OK ? NCCL_SUCCESS : NCCL_UNHANDLED_CUDA_ERROR;
}

nccl_result step_copy(muster_comm *comm, operation *o, device_copy copy)
{
    if (copy.size == 0 || copy.to == copy.from)
        return NCCL_SUCCESS;
    return step_cuda(o, comm->cuda->memcpy_async(copy.to, copy.from, copy.size,
                                                 CUDA_COPY_DEVICE_TO_DEVICE, o->call.stream));
}

nccl_result step_scratch(muster_comm *comm, operation *o, size_t size, void **memory)
{
    o->uses_scratch = true;
    return step_cuda(o, scratch_take(comm, o->call.stream, size, memory));
}

nccl_result step_group(muster_comm *comm, operation *o, step_body *body)
{
    nccl_result begun = comm->nccl->group_start();
    if (begun != NCCL_SUCCESS)
        return begun;
    nccl_result inside = body(comm, o);
    /* Also after an error, or the thread stays in the group. */
    nccl_result ended = comm->nccl->group_end();
    return step_fine(inside) ? ended : inside;
}

nccl_result step_send(muster_comm *comm, const operation *o, const void *data, size_t count,
                      int peer)
{
    if (count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->send(data, count, o->type, peer, comm->handle, o->call.stream);
}

nccl_result step_recv(muster_comm *comm, const operation *o, void *data, size_t count, int peer)
{
    if (count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->recv(data, count, o->type, peer, comm->handle, o->call.stream);
}

void *step_at(const operation *o, const void *base, size_t element)
{
    return (char *)(uintptr_t)base + element * o->width;
}
