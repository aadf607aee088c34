/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks: once, for a cause that is kept, told to the others, and quoted to all
 * that wait. None of these may be called with the lock held, but for failure_error.
 */
#ifndef MUSTER_BACKENDS_GLOO_FAILURE_H
#define MUSTER_BACKENDS_GLOO_FAILURE_H

#include "comm.h"

/* Keeps the cause, tells the others, then wakes all that wait; a later cause is dropped. rank is
 * the one to blame, -1 if none is. Does not block. */
void failure_break(muster_comm *comm, muster_status cause, int rank, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Gloo closes all connections when one wait's time is over, and every other wait fails with it.
 * Breaks the communicator if that is what has happened. */
void failure_break_if_overdue(muster_comm *comm);

/* Whether the connection to another rank is closed. */
bool failure_is_closed(muster_comm *comm, int peer);

/* The backend's slot. Whom it holds for is settled when the communicator breaks, before this rank
 * closes connections itself. */
bool failure_suspects(muster_comm *comm, int peer);

/* Returns when whoever has found the cause has told the others, which does not block. */
void failure_await_told(muster_comm *comm);

bool failure_is_broken(muster_comm *comm);

/* The status and sentence of a call on a broken communicator. The lock is held. */
muster_status failure_error(const muster_comm *comm);

#endif
