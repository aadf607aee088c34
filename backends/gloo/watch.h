/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watch: a receive is posted from every peer on a slot of its own, and one thread waits on all
 * of them. A peer that leaves, or breaks the group off, sends a note there; one that dies makes
 * the wait fail. Gloo tells only those who wait for a dead peer, and not even them while a message
 * is half way.
 */
#ifndef MUSTER_BACKENDS_GLOO_WATCH_H
#define MUSTER_BACKENDS_GLOO_WATCH_H

#include "comm.h"

/* Posts the receives. */
muster_status watch_prepare(muster_comm *comm);

/* Starts and ends the thread. Stopping waits for a call of host->broken that it is in. */
muster_status watch_start(muster_comm *comm);
void watch_stop(muster_comm *comm);

/* Frees its buffers. The connections must be closed. */
void watch_free(muster_comm *comm);

#endif
