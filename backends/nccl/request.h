/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations under way: starting one, and waiting for it.
 */
#ifndef MUSTER_BACKENDS_NCCL_REQUEST_H
#define MUSTER_BACKENDS_NCCL_REQUEST_H

#include "job.h"
#include "operation.h"

struct muster_request {
    job job; /* first */
    muster_comm *comm;
    muster_request *next, *previous; /* in comm->requests */
    operation operation;
    cuda_event event; /* recorded behind the operation; NULL: there is none yet */
};

/* Whether all operations that the core has not waited for have run. */
bool request_all_complete(muster_comm *comm);

/* The core has no use for it any more; for all; and in a child of fork. */
void request_let_go(muster_comm *comm, muster_request *request);
void request_release_all(muster_comm *comm);
void request_forget_all(muster_comm *comm);

/* Frees the events that are kept to be used again, and keeps none from now on. */
void request_free_events(muster_comm *comm);

#endif
