/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: the calls of its NCCL
 * that move data.
 */
#include "config.h"

#include <stdlib.h>

#include "devices.h"
#include "nccl_operation.h"
#include "nccl_reduce.h"

static bool call_reduces(const nccl_operation *operation)
{
    return operation->kind == OPERATION_ALL_REDUCE || operation->kind == OPERATION_REDUCE ||
           operation->kind == OPERATION_REDUCE_SCATTER;
}

static nccl_result call_check(const nccl_comm *comm, const nccl_operation *operation)
{
    if (atomic_load(&comm->revoked))
        return comm_fail(NCCL_INVALID_USAGE, "the communicator was revoked");
    if (comm->finalized)
        return comm_fail(NCCL_INVALID_ARGUMENT, "the communicator was finalized");
    if (reduce_type_size(operation->type) == 0)
        return comm_fail(NCCL_INVALID_ARGUMENT, "invalid type %d", (int)operation->type);
    if (operation->root < 0 || operation->root >= comm->size)
        return comm_fail(NCCL_INVALID_ARGUMENT, "invalid root or peer %d", operation->root);
    if (operation->count > 0 &&
        ((operation_sends(comm, operation) > 0 && operation->send == NULL) ||
         (operation_receives(comm, operation) > 0 && operation->receive == NULL)))
        return comm_fail(NCCL_INVALID_ARGUMENT, "a buffer is NULL");
    return call_reduces(operation) ? reduce_check_op(comm, operation->type, operation->op)
                                   : NCCL_SUCCESS;
}

static nccl_result call_add(nccl_comm *comm, const nccl_operation *operation)
{
    if (operation->count == 0)
        return NCCL_SUCCESS;
    operation_task *task = calloc(1, sizeof(*task));
    if (task == NULL)
        return group_add(NULL);
    task->task = (nccl_task){.comm = comm, .run = operation_launch};
    task->operation = *operation;
    if (call_reduces(operation) && operation->op >= NCCL_FIRST_OWN_OP)
        task->operation.own = comm->own_ops[operation->op - NCCL_FIRST_OWN_OP];
    return group_add(&task->task);
}

/* Operations on one device, counted without a lock: only one thread at a time may start any, since
 * all ranks must start them in one order. */
static unsigned device_calls[DEVICES_MOST];

static nccl_result call_make(const char *function, nccl_comm *comm, nccl_operation operation)
{
    group_open();
    nccl_result result = comm_enter_ready(function, comm);
    if (result == NCCL_SUCCESS) {
        device_calls[comm->device]++;
        result = call_check(comm, &operation);
    }
    if (result == NCCL_SUCCESS)
        result = call_add(comm, &operation);
    return group_leave(result == NCCL_SUCCESS ? comm : NULL, result);
}

EXPORT(nccl_result, ncclAllReduce, const void *send, void *receive, size_t count, nccl_type type,
       nccl_op op, nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclAllReduce", comm,
        (nccl_operation){OPERATION_ALL_REDUCE, send, receive, count, type, op, 0, stream, {0}});
}

EXPORT(nccl_result, ncclBroadcast, const void *send, void *receive, size_t count, nccl_type type,
       int root, nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclBroadcast", comm,
        (nccl_operation){
            OPERATION_BROADCAST, send, receive, count, type, NCCL_SUM, root, stream, {0}});
}

EXPORT(nccl_result, ncclReduce, const void *send, void *receive, size_t count, nccl_type type,
       nccl_op op, int root, nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclReduce", comm,
        (nccl_operation){OPERATION_REDUCE, send, receive, count, type, op, root, stream, {0}});
}

EXPORT(nccl_result, ncclAllGather, const void *send, void *receive, size_t count, nccl_type type,
       nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclAllGather", comm,
        (nccl_operation){
            OPERATION_ALL_GATHER, send, receive, count, type, NCCL_SUM, 0, stream, {0}});
}

EXPORT(nccl_result, ncclReduceScatter, const void *send, void *receive, size_t count,
       nccl_type type, nccl_op op, nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclReduceScatter", comm,
        (nccl_operation){OPERATION_REDUCE_SCATTER, send, receive, count, type, op, 0, stream, {0}});
}

EXPORT(nccl_result, ncclAlltoAll, const void *send, void *receive, size_t count, nccl_type type,
       nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclAlltoAll", comm,
        (nccl_operation){
            OPERATION_ALL_TO_ALL, send, receive, count, type, NCCL_SUM, 0, stream, {0}});
}

EXPORT(nccl_result, ncclGather, const void *send, void *receive, size_t count, nccl_type type,
       int root, nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclGather", comm,
        (nccl_operation){
            OPERATION_GATHER, send, receive, count, type, NCCL_SUM, root, stream, {0}});
}

EXPORT(nccl_result, ncclScatter, const void *send, void *receive, size_t count, nccl_type type,
       int root, nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclScatter", comm,
        (nccl_operation){
            OPERATION_SCATTER, send, receive, count, type, NCCL_SUM, root, stream, {0}});
}

EXPORT(nccl_result, ncclSend, const void *data, size_t count, nccl_type type, int peer,
       nccl_comm *comm, cuda_stream stream)
{
    return call_make(
        "ncclSend", comm,
        (nccl_operation){OPERATION_SEND, data, NULL, count, type, NCCL_SUM, peer, stream, {0}});
}

EXPORT(nccl_result, ncclRecv, void *data, size_t count, nccl_type type, int peer, nccl_comm *comm,
       cuda_stream stream)
{
    return call_make(
        "ncclRecv", comm,
        (nccl_operation){OPERATION_RECV, NULL, data, count, type, NCCL_SUM, peer, stream, {0}});
}

/* ---- reductions that a program makes ---- */

EXPORT(nccl_result, ncclRedOpCreatePreMulSum, nccl_op *op, void *scalar, nccl_type type,
       nccl_scalar_residence residence, nccl_comm *comm)
{
    int number = 0;
    nccl_result result = comm_enter_ready("ncclRedOpCreatePreMulSum", comm);
    if (result != NCCL_SUCCESS)
        return result;
    while (number < COMM_OWN_OPS && comm->own_ops[number].in_use)
        number++;
    if (op == NULL || scalar == NULL || reduce_type_size(type) == 0 || number == COMM_OWN_OPS)
        return comm_fail(NCCL_INVALID_ARGUMENT, "ncclRedOpCreatePreMulSum : type %d", (int)type);
    bool host = residence == NCCL_SCALAR_HOST;
    comm->own_ops[number] = (nccl_own_op){.in_use = true,
                                          .type = type,
                                          .scalar = host ? reduce_read_scalar(scalar, type) : 0,
                                          .place = host ? NULL : scalar};
    *op = (nccl_op)(NCCL_FIRST_OWN_OP + number);
    return NCCL_SUCCESS;
}

EXPORT(nccl_result, ncclRedOpDestroy, nccl_op op, nccl_comm *comm)
{
    int number = (int)op - NCCL_FIRST_OWN_OP;
    nccl_result result = comm_enter("ncclRedOpDestroy", comm);
    if (result != NCCL_SUCCESS)
        return result;
    if (number < 0 || number >= COMM_OWN_OPS || !comm->own_ops[number].in_use)
        return comm_fail(NCCL_INVALID_ARGUMENT, "ncclRedOpDestroy : operation %d", (int)op);
    comm->own_ops[number].in_use = false;
    return NCCL_SUCCESS;
}
