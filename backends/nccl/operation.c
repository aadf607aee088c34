/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One operation: what it takes over from the core, and its beginning and end on the device's
 * thread.
 */
#include "config.h"

#include "operation.h"

#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "steps.h"
#include "types.h"

enum { REDUCES = 1, GIVES_SEND_BLOCKS = 2, GIVES_RECEIVE_BLOCKS = 4 };

static step_body start_barrier, start_broadcast, start_reduce, start_all_reduce;

static const struct {
    const char *name;
    int traits;
    step_body *start;
} rows[] = {
    [MUSTER_OPERATION_BARRIER] = {"barrier", 0, start_barrier},
    [MUSTER_OPERATION_BROADCAST] = {"broadcast", 0, start_broadcast},
    [MUSTER_OPERATION_REDUCE] = {"reduce", REDUCES, start_reduce},
    [MUSTER_OPERATION_ALL_REDUCE] = {"all_reduce", REDUCES, start_all_reduce},
    [MUSTER_OPERATION_GATHER] = {"gather", GIVES_SEND_BLOCKS | GIVES_RECEIVE_BLOCKS, blocks_gather},
    [MUSTER_OPERATION_SCATTER] = {"scatter", GIVES_SEND_BLOCKS | GIVES_RECEIVE_BLOCKS,
                                  blocks_scatter},
    [MUSTER_OPERATION_ALL_GATHER] = {"all_gather", GIVES_RECEIVE_BLOCKS, blocks_all_gather},
    [MUSTER_OPERATION_REDUCE_SCATTER] = {"reduce_scatter", REDUCES | GIVES_SEND_BLOCKS,
                                         blocks_reduce_scatter},
    [MUSTER_OPERATION_ALL_TO_ALL] = {"all_to_all", GIVES_SEND_BLOCKS | GIVES_RECEIVE_BLOCKS,
                                     blocks_all_to_all},
    [MUSTER_OPERATION_SEND_RECV] = {"send and receive", 0, transfers_send_recv},
};
enum { NUM_ROWS = sizeof(rows) / sizeof(*rows) };

static bool is_known(muster_operation number)
{
    return number >= MUSTER_OPERATION_BARRIER && (int)number < NUM_ROWS;
}

const char *operation_name(muster_operation number)
{
    return is_known(number) ? rows[number].name : "an unknown operation";
}

int64_t operation_timeout(const muster_comm *comm, const muster_call *call)
{
    bool has = call->size >= offsetof(muster_call, timeout_ms) + sizeof(call->timeout_ms);
    return has && call->timeout_ms > 0 ? call->timeout_ms : comm->timeout_ms;
}

bool comm_can(muster_comm *comm, const muster_call *call)
{
    return is_known(call->operation) &&
           (!(rows[call->operation].traits & REDUCES) ||
            types_can_reduce(call->type, call->redop, comm->nccl->version, comm->compute));
}

/* ---- what is taken over ---- */

static void *copy_into(char **at, const void *from, size_t size)
{
    void *to = *at;
    memcpy(to, from, size);
    *at += size;
    return to;
}

static size_t arrays_size(const muster_comm *comm, const muster_call *call)
{
    size_t counts = (size_t)comm->size * sizeof(size_t);
    int traits = rows[call->operation].traits;
    size_t size = call->operation == MUSTER_OPERATION_SEND_RECV
                      ? call->num_transfers * sizeof(*call->transfers)
                      : 0;
    size += traits & GIVES_SEND_BLOCKS ? 2 * counts : 0;
    return size + (traits & GIVES_RECEIVE_BLOCKS ? 2 * counts : 0);
}

/* Of arrays that are given by root alone there may be none elsewhere. */
static const size_t *copy_counts(const muster_comm *comm, char **at, const size_t *from)
{
    return from == NULL ? NULL : copy_into(at, from, (size_t)comm->size * sizeof(*from));
}

static void copy_arrays(const muster_comm *comm, muster_call *call, char *at)
{
    int traits = rows[call->operation].traits;
    if (call->operation == MUSTER_OPERATION_SEND_RECV)
        call->transfers =
            copy_into(&at, call->transfers, call->num_transfers * sizeof(*call->transfers));
    if (traits & GIVES_SEND_BLOCKS) {
        call->send_counts = copy_counts(comm, &at, call->send_counts);
        call->send_offsets = copy_counts(comm, &at, call->send_offsets);
    }
    if (traits & GIVES_RECEIVE_BLOCKS) {
        call->receive_counts = copy_counts(comm, &at, call->receive_counts);
        call->receive_offsets = copy_counts(comm, &at, call->receive_offsets);
    }
}

muster_status operation_copy(muster_comm *comm, const muster_call *call, operation *copy)
{
    if (!comm_can(comm, call))
        return nccl_host->error(MUSTER_ERR_UNSUPPORTED,
                                "NCCL %s has no %s of this kind and type (operation %d, type %d, "
                                "reduction %d)",
                                comm->nccl->version_text, operation_name(call->operation),
                                (int)call->operation, (int)call->type, (int)call->redop);
    size_t size = arrays_size(comm, call);
    memcpy(&copy->call, call, call->size < sizeof(*call) ? call->size : sizeof(*call));
    copy->arrays = malloc(size + 1);
    if (copy->arrays == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for an operation (%zu bytes)",
                                size);
    copy_arrays(comm, &copy->call, copy->arrays);
    copy->width = types_width(call->type);
    copy->type = rows[call->operation].traits & REDUCES ? types_to_reduce(call->type)
                                                        : types_to_move(call->type);
    copy->op = types_op(call->redop);
    return MUSTER_OK;
}

void operation_free(operation *o)
{
    free(o->arrays);
}

/* ---- operations that are one call ---- */

static nccl_result start_barrier(muster_comm *comm, operation *o)
{
    void *byte;
    nccl_result result = step_scratch(comm, o, 1, &byte);
    return step_fine(result) ? comm->nccl->all_reduce(byte, byte, 1, NCCL_UINT8, NCCL_MAX,
                                                      comm->handle, o->call.stream)
                             : result;
}

static nccl_result start_broadcast(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    const void *from = call->send != NULL ? call->send : call->receive;
    void *to = call->receive != NULL ? call->receive : (void *)(uintptr_t)call->send;
    if (call->count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->broadcast(from, to, call->count, o->type, call->root, comm->handle,
                                 call->stream);
}

static nccl_result start_reduce(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    if (call->count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->reduce(call->send, call->receive, call->count, o->type, o->op, call->root,
                              comm->handle, call->stream);
}

static nccl_result start_all_reduce(muster_comm *comm, operation *o)
{
    const muster_call *call = &o->call;
    if (call->count == 0)
        return NCCL_SUCCESS;
    return comm->nccl->all_reduce(call->send, call->receive, call->count, o->type, o->op,
                                  comm->handle, call->stream);
}

/* ---- beginning and end ---- */

/* A reduction of our own, that multiplies what this rank has. */
static nccl_result make_op(muster_comm *comm, operation *o)
{
    unsigned char element[8];
    types_scalar(o->call.type, o->call.scalar, element);
    nccl_result result = comm->nccl->red_op_create_pre_mul_sum(&o->op, element, o->type,
                                                               NCCL_SCALAR_HOST, comm->handle);
    o->has_own_op = step_fine(result);
    return result;
}

nccl_result operation_start(muster_comm *comm, operation *o)
{
    nccl_result result = NCCL_SUCCESS;
    bool reduces = rows[o->call.operation].traits & REDUCES;
    if (reduces && o->call.redop == MUSTER_PREMUL_SUM)
        result = make_op(comm, o);
    return step_fine(result) ? rows[o->call.operation].start(comm, o) : result;
}

nccl_result operation_finish(muster_comm *comm, operation *o)
{
    nccl_result result = step_copy(comm, o, o->after);
    if (o->uses_scratch && step_fine(result))
        result = step_cuda(o, scratch_give(comm, o->call.stream));
    if (o->has_own_op)
        comm->nccl->red_op_destroy(o->op, comm->handle);
    return result;
}
