/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Carrying messages: whoever posts or waits carries what it can for all requests of the
 * communicator. The lock is held wherever nothing else is said.
 *
 * A short message goes through the ring whole, unless the receiver has too many already that it has
 * not asked for. Any other is offered, with its address; once the receiver has a place for it, it
 * copies it from the sender's memory, or where it can't, has it sent through the ring in pieces. So
 * a message needs the sender's thread only in the last case, and never memory of the receiver's
 * beyond a bound for each peer. An offer has a ticket, a bit by which it is answered. Where too
 * many offers are open, a message is announced only, and offered when the receiver asks for it.
 */
#ifndef MUSTER_LOCAL_CARRY_H
#define MUSTER_LOCAL_CARRY_H

#include "comm.h"

/* Begins a request that has been posted; carry_drop ends it, also where this fails. */
muster_status carry_begin(muster_comm *comm, muster_request *request);

/* What can be done at once, for one peer or for all with which there is something to do. What is
 * wrong with what has come is a failure, with its sentence. */
muster_status carry_peer(muster_comm *comm, int peer);
muster_status carry_all(muster_comm *comm);

/* Copies some of a message that is to be copied; lets the lock go meanwhile. False where there is
 * none. */
bool carry_pull(muster_comm *comm);

/* Forgets a request, wherever it stands. */
void carry_drop(muster_comm *comm, muster_request *request);

/* A request is done. */
void carry_finish(muster_comm *comm, muster_request *request);

/* Wakes the threads of a rank that wait, so that they look. */
void carry_ring(muster_comm *comm, int rank);

/* Frees what has come for nobody, and requests that nobody has waited for. */
void carry_free(muster_comm *comm);

#endif
