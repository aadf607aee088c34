/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reaper: frees communicators in the background, since Gloo takes up to 10 ms a peer for it.
 */
#ifndef MUSTER_BACKENDS_GLOO_REAPER_H
#define MUSTER_BACKENDS_GLOO_REAPER_H

#include "comm.h"

/* Takes over a communicator that nobody uses any more. */
void reaper_give(muster_comm *comm);

/* Waits until few communicators are left to free, so that a program that makes and frees many does
 * not gather descriptors. */
void reaper_catch_up(deadline end);

#endif
