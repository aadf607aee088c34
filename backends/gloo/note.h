/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notes: the one thing that a rank tells each other outside of messages, either that it leaves in
 * good order, or that the group has failed and why.
 */
#ifndef MUSTER_BACKENDS_GLOO_NOTE_H
#define MUSTER_BACKENDS_GLOO_NOTE_H

#include "comm.h"

/* Tells all peers that have not left. One of the two, once. Do not block. */
void note_tell_goodbye(muster_comm *comm);
void note_tell_failure(muster_comm *comm);

/* Waits until the kernel has what was told, so long at most. */
void note_flush(muster_comm *comm, int64_t timeout_ms);

/* Reads what a peer, or every peer, has told so far: marks who has left, and breaks the
 * communicator if one says that it has failed. The lock is not held. */
void note_read(muster_comm *comm, int peer);
void note_read_all(muster_comm *comm);

bool note_peer_left(muster_comm *comm, int peer);

#endif
