/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: one operation of its
 * NCCL, and how it is carried out on a stream.
 */
#ifndef MUSTER_T_STANDIN_NCCL_OPERATION_H
#define MUSTER_T_STANDIN_NCCL_OPERATION_H

#include "nccl_group.h"

typedef enum nccl_operation_kind {
    OPERATION_ALL_REDUCE,
    OPERATION_BROADCAST,
    OPERATION_REDUCE,
    OPERATION_ALL_GATHER,
    OPERATION_REDUCE_SCATTER,
    OPERATION_ALL_TO_ALL,
    OPERATION_GATHER,
    OPERATION_SCATTER,
    OPERATION_SEND,
    OPERATION_RECV,
    OPERATION_KINDS
} nccl_operation_kind;

typedef struct nccl_operation {
    nccl_operation_kind kind;
    const void *send;
    void *receive;
    size_t count; /* of elements of the buffer of a rank, or of a block where there are several */
    nccl_type type;
    nccl_op op;
    int root; /* or the peer */
    standin_stream *stream;
    nccl_own_op own; /* as it was when the call was made, if op is one */
} nccl_operation;

typedef struct operation_task {
    nccl_task task;
    nccl_operation operation;
} operation_task;

/* Blocks in the buffers of a rank; 0: the rank does not use the buffer. */
size_t operation_sends(const nccl_comm *comm, const nccl_operation *operation);
size_t operation_receives(const nccl_comm *comm, const nccl_operation *operation);

/* Carries one collective, or count messages at once, out; on the thread of a stream, with buffers
 * that can be touched. */
nccl_result operation_run(nccl_comm *comm, nccl_operation *operations, size_t count);

/* Puts an operation on its stream; messages of one job all at once. */
nccl_result operation_launch(nccl_task *task);

#endif
