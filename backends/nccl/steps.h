/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What operations are made of: calls of NCCL, groups of them, and copies.
 */
#ifndef MUSTER_BACKENDS_NCCL_STEPS_H
#define MUSTER_BACKENDS_NCCL_STEPS_H

#include "operation.h"

/* A result that stands for "go on". */
bool step_fine(nccl_result result);

/* Keeps the error for whoever says what went wrong. */
nccl_result step_cuda(operation *o, cuda_error error);

/* A copy on the operation's stream, now; nothing where both are one place or there is no size. */
nccl_result step_copy(muster_comm *comm, operation *o, device_copy copy);

/* Memory in between, which is the operation's until it has finished. */
nccl_result step_scratch(muster_comm *comm, operation *o, size_t size, void **memory);

/* Makes the calls of body as one group of NCCL's. */
typedef nccl_result step_body(muster_comm *comm, operation *o);
nccl_result step_group(muster_comm *comm, operation *o, step_body *body);

/* Messages in a group; of no elements: nothing. */
nccl_result step_send(muster_comm *comm, const operation *o, const void *data, size_t count,
                      int peer);
nccl_result step_recv(muster_comm *comm, const operation *o, void *data, size_t count, int peer);

/* The address of an element. */
void *step_at(const operation *o, const void *base, size_t element);

/* Operations that differ by rank in what they move; in blocks.c and transfers.c. */
step_body blocks_gather, blocks_scatter, blocks_all_gather, blocks_reduce_scatter,
    blocks_all_to_all, transfers_send_recv;

#endif
