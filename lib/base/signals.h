/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Some system calls raise a signal in the thread that makes them besides failing: a write to a
 * socket whose peer is dead SIGPIPE, one beyond the largest file that the process may have SIGXFSZ.
 * Either would end a program that muster is a guest in. Between signals_block and signals_restore
 * no signal reaches the thread, and one of that kind that was raised there is gone afterwards.
 */
#ifndef MUSTER_LIB_SIGNALS_H
#define MUSTER_LIB_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

typedef struct signals {
    sigset_t mask;
    int raised;
    bool was_pending;
} signals;

/* Blocks all signals for the thread, of which raised may come of what is done then; *before is for
 * signals_restore. */
void signals_block(signals *before, int raised);

/* Takes away one that was raised since, and sets the mask as it was. Keeps errno. */
void signals_restore(const signals *before);

#endif
