/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks. The first cause stands in the memory that the ranks share, and all of
 * them take it from there.
 */
#ifndef MUSTER_LOCAL_BREACH_H
#define MUSTER_LOCAL_BREACH_H

#include "comm.h"

/* The rank to blame has left in good order, but was needed. */
enum { BREACH_LEFT = 1 };

/*
 * Breaks it for all ranks, tells them, and wakes all that wait; where it is broken already the
 * cause stays as it was. rank is the one to blame, -1 if none is. The lock is not held. Does not
 * block.
 */
void breach_make(muster_comm *comm, muster_status cause, int rank, int traits, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));

/* Takes over what another rank has found. Returns whether the communicator is broken. */
bool breach_notice(muster_comm *comm);

/* The same where the lock is held. */
bool breach_notice_locked(muster_comm *comm);

/* Whether some rank has found a cause. Needs no lock. */
bool breach_is_there(const muster_comm *comm);

/* The status and sentence of a call on a broken communicator. The lock is not held. */
muster_status breach_error(muster_comm *comm);

/* Has all ranks look: their threads that wait, and their watches. */
void breach_tell_all(const muster_comm *comm);

/* The backend's slots. */
bool breach_suspects(muster_comm *comm, int peer);
bool breach_left(muster_comm *comm, int peer);

#endif
