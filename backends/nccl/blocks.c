/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations on blocks of ranks: as groups of messages, broadcasts or reductions, which NCCL
 * carries out together. A block that stays on its rank is copied. Each rank may give its buffers in
 * place or not, so the others can't see it and nothing that they do depends on it.
 */
#include "config.h"

#include "steps.h"

/* ---- gather ---- */

static nccl_result gather_messages(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    if (comm->rank != call->root)
        return step_send(comm, o, call->send, call->send_counts[comm->rank], call->root);
    nccl_result result = NCCL_SUCCESS;
    for (int r = 0; r < comm->size && step_fine(result); r++)
        if (r != comm->rank)
            result = step_recv(comm, o, step_at(o, call->receive, call->receive_offsets[r]),
                               call->receive_counts[r], r);
    return result;
}

nccl_result blocks_gather(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    nccl_result result = NCCL_SUCCESS;
    if (comm->rank == call->root)
        result =
            step_copy(comm, o,
                      (device_copy){step_at(o, call->receive, call->receive_offsets[comm->rank]),
                                    call->send, call->receive_counts[comm->rank] * o->width});
    return step_fine(result) ? step_group(comm, o, gather_messages) : result;
}

/* ---- scatter ---- */

static nccl_result scatter_messages(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    if (comm->rank != call->root)
        return step_recv(comm, o, call->receive, call->receive_counts[comm->rank], call->root);
    nccl_result result = NCCL_SUCCESS;
    for (int r = 0; r < comm->size && step_fine(result); r++)
        if (r != comm->rank)
            result = step_send(comm, o, step_at(o, call->send, call->send_offsets[r]),
                               call->send_counts[r], r);
    return result;
}

/* Root's own block is copied first; where others' blocks lie in its way it is put aside until they
 * are sent. */
static nccl_result scatter_own_block(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    device_copy own = {call->receive, step_at(o, call->send, call->send_offsets[comm->rank]),
                       call->send_counts[comm->rank] * o->width};
    if (call->receive != call->send || own.to == own.from || own.size == 0)
        return step_copy(comm, o, own);
    void *aside;
    nccl_result result = step_scratch(comm, o, own.size, &aside);
    if (step_fine(result))
        result = step_copy(comm, o, (device_copy){aside, own.from, own.size});
    o->after = (device_copy){own.to, aside, own.size};
    return result;
}

nccl_result blocks_scatter(muster_comm *comm, operation *o)
{
    nccl_result result = comm->rank == o->call.root ? scatter_own_block(comm, o) : NCCL_SUCCESS;
    return step_fine(result) ? step_group(comm, o, scatter_messages) : result;
}

/* ---- all_gather ---- */

static nccl_result all_gather_broadcasts(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    nccl_result result = NCCL_SUCCESS;
    for (int r = 0; r < comm->size && step_fine(result); r++) {
        void *block = step_at(o, call->receive, call->receive_offsets[r]);
        if (call->receive_counts[r] > 0)
            result = comm->nccl->broadcast(r == comm->rank ? call->send : block, block,
                                           call->receive_counts[r], o->type, r, comm->handle,
                                           call->stream);
    }
    return result;
}

nccl_result blocks_all_gather(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    if (!call->uniform)
        return step_group(comm, o, all_gather_broadcasts);
    if (call->count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->all_gather(call->send, call->receive, call->count, o->type, comm->handle,
                                  call->stream);
}

/* ---- reduce_scatter ---- */

static nccl_result reduce_scatter_reductions(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    nccl_result result = NCCL_SUCCESS;
    for (int r = 0; r < comm->size && step_fine(result); r++) {
        const void *block = step_at(o, call->send, call->send_offsets[r]);
        if (call->send_counts[r] > 0)
            result = comm->nccl->reduce(block, r == comm->rank ? call->receive : NULL,
                                        call->send_counts[r], o->type, o->op, r, comm->handle,
                                        call->stream);
    }
    return result;
}

/* NCCL takes receive where this rank's block is; a result at the beginning of send, where others'
 * blocks are still needed, is put there when all is done. */
static nccl_result reduce_scatter_aside(muster_comm *comm, operation *o)
{
    muster_call *call = &o->call;
    size_t size = call->send_counts[comm->rank] * o->width;
    if (call->receive != call->send || call->send_offsets[comm->rank] == 0 || size == 0)
        return NCCL_SUCCESS;
    void *aside;
    nccl_result result = step_scratch(comm, o, size, &aside);
    o->after = (device_copy){call->receive, aside, size};
    call->receive = aside;
    return result;
}

nccl_result blocks_reduce_scatter(muster_comm *comm, operation *o)
{
    muster_call *call = &o->call;
    nccl_result result = reduce_scatter_aside(comm, o);
    if (!step_fine(result))
        return result;
    if (!call->uniform)
        return step_group(comm, o, reduce_scatter_reductions);
    if (call->count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->reduce_scatter(call->send, call->receive, call->count, o->type, o->op,
                                      comm->handle, call->stream);
}

/* ---- all_to_all ---- */

static nccl_result all_to_all_messages(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    nccl_result result = NCCL_SUCCESS;
    for (int r = 0; r < comm->size && step_fine(result); r++) {
        if (r == comm->rank)
            continue;
        result = step_send(comm, o, step_at(o, call->send, call->send_offsets[r]),
                           call->send_counts[r], r);
        if (step_fine(result))
            result = step_recv(comm, o, step_at(o, call->receive, call->receive_offsets[r]),
                               call->receive_counts[r], r);
    }
    return result;
}

/* In place what is sent is put aside first. */
static nccl_result all_to_all_aside(muster_comm *comm, operation *o)
{
    muster_call *call = &o->call;
    int last = comm->size - 1;
    size_t size = (call->send_offsets[last] + call->send_counts[last]) * o->width;
    if (call->send != call->receive || size == 0)
        return NCCL_SUCCESS;
    void *aside;
    nccl_result result = step_scratch(comm, o, size, &aside);
    if (step_fine(result))
        result = step_copy(comm, o, (device_copy){aside, call->send, size});
    call->send = aside;
    return result;
}

nccl_result blocks_all_to_all(muster_comm *comm, operation *o)
{
    muster_call *call = &o->call;
    nccl_result result = all_to_all_aside(comm, o);
    if (step_fine(result))
        result =
            step_copy(comm, o,
                      (device_copy){step_at(o, call->receive, call->receive_offsets[comm->rank]),
                                    step_at(o, call->send, call->send_offsets[comm->rank]),
                                    call->send_counts[comm->rank] * o->width});
    return step_fine(result) ? step_group(comm, o, all_to_all_messages) : result;
}
