/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One operation, from the core's call to NCCL's calls.
 */
#ifndef MUSTER_BACKENDS_NCCL_OPERATION_H
#define MUSTER_BACKENDS_NCCL_OPERATION_H

#include "comm.h"

/* A copy on the device; size 0: none. */
typedef struct device_copy {
    void *to;
    const void *from;
    size_t size;
} device_copy;

typedef struct operation {
    muster_call call; /* its arrays are our own */
    void *arrays;
    nccl_type type;
    size_t width; /* bytes of an element */
    nccl_op op;

    /* The thread's own, from start to finish. */
    bool has_own_op;   /* op is one that was made for this operation */
    bool uses_scratch; /* which is to be given back */
    device_copy after; /* to be made when NCCL's work is on the stream */
    cuda_error cuda; /* where the result is NCCL_UNHANDLED_CUDA_ERROR and it is not NCCL's: which */
} operation;

/* "all_reduce". */
const char *operation_name(muster_operation number);

/* How long the call may take to start it. */
int64_t operation_timeout(const muster_comm *comm, const muster_call *call);

/* Takes over what the core has asked for; fails for what can't be done. */
muster_status operation_copy(muster_comm *comm, const muster_call *call, operation *copy);
void operation_free(operation *o);

/* On the device's thread: start makes NCCL's calls, finish what is to be done when NCCL has put its
 * work on the stream, before which nothing else may come to it. */
nccl_result operation_start(muster_comm *comm, operation *o);
nccl_result operation_finish(muster_comm *comm, operation *o);

#endif
