/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What goes out to a peer: messages, offers of messages and pieces of them, and what is asked of
 * it. The lock is held.
 */
#ifndef MUSTER_LOCAL_OUTBOUND_H
#define MUSTER_LOCAL_OUTBOUND_H

#include "comm.h"

/* Puts what there is room for; returns whether there was any. */
bool outbound_put(muster_comm *comm, comm_peer *it);

/* Takes the answers that the peer has given to offers. */
void outbound_hear(muster_comm *comm, comm_peer *it);

/* The peer asks for a message that was announced; false where it was not. */
bool outbound_give(comm_peer *it, uint64_t serial);

#endif
