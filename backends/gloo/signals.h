/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo writes to sockets without MSG_NOSIGNAL, so that a write to a dead peer raises SIGPIPE in the
 * thread that called. Between signals_block and signals_restore no signal reaches the thread, and
 * a SIGPIPE that was raised there is gone afterwards.
 */
#ifndef MUSTER_BACKENDS_GLOO_SIGNALS_H
#define MUSTER_BACKENDS_GLOO_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef struct signals {
    sigset_t mask;
    bool pipe_pending;
} signals;

/* Blocks all signals for the thread; *before is for signals_restore. */
void signals_block(signals *before);

/* Takes away a SIGPIPE that came since, and sets the mask as it was. Keeps errno. */
void signals_restore(const signals *before);

#endif
