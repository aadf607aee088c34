/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks: once, for a cause that is kept and quoted to all that wait.
 */
#ifndef MUSTER_BACKENDS_NCCL_FAILURE_H
#define MUSTER_BACKENDS_NCCL_FAILURE_H

#include "comm.h"

/* Keeps the cause, wakes all that wait, and lets the keeper abort NCCL's communicator. A later
 * cause is dropped, and false returned. report: the core is to be told. Does not block. */
bool failure_break(muster_comm *comm, bool report, muster_status cause, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for what NCCL says, reported. what is the first half of the sentence. */
void failure_break_for_result(muster_comm *comm, nccl_result result, const char *what);

/* Set the sentence "<what>: <NCCL's or CUDA's words>"; return the status that it stands for. */
muster_status failure_result_error(muster_comm *comm, nccl_result result, const char *what);
muster_status failure_cuda_error(muster_comm *comm, cuda_error error, const char *what);

/* What a call on a communicator that breaks returns: MUSTER_ERR_TIMEOUT where this is the cause,
 * with the sentence, or where it is plain, so that the core says as much by itself, with nothing
 * but what came of breaking off; else what failure_error does. */
muster_status failure_timeout(muster_comm *comm, bool plain, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The status and sentence of a call on a broken communicator; waits for the abort, so that the
 * caller's memory is not touched any more. The lock is not held. */
muster_status failure_error(muster_comm *comm);

/* The same for an operation that was under way. Where another one timed out this one has waited in
 * vain as well, and says so like that one, since it may be the first that the core hears of. */
muster_status failure_of_wait(muster_comm *comm);

#endif
