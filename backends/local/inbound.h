/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What comes in from a peer: messages, offers of messages and pieces of them. The lock is held.
 */
#ifndef MUSTER_LOCAL_INBOUND_H
#define MUSTER_LOCAL_INBOUND_H

#include "comm.h"

/* Begins a receive, for which the message may be there. */
muster_status inbound_begin(muster_comm *comm, muster_request *request);

/* Takes all that is in the ring. What is wrong with it is a failure, with its sentence. */
muster_status inbound_take(muster_comm *comm, int peer);

/* Has the sender put an offered message into the ring, from its beginning. */
void inbound_gather(muster_comm *comm, muster_request *request);

/* Frees what has come for nobody. */
void inbound_free(comm_peer *it);

#endif
