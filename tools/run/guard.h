/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process beside the launcher that outlives it for a moment: when the launcher is killed, the
 * kernel ends the ranks, and the guard ends what the ranks had started.
 */
#ifndef MUSTER_RUN_GUARD_H
#define MUSTER_RUN_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard {
    pid_t pid;
    int pipe; /* to it */
};

/* To be called before there are threads. */
bool guard_start(struct guard *guard);

/* Tells it of a process group, which is its to end from now on. */
void guard_add(struct guard *guard, pid_t group);

/* The group is no more. */
void guard_remove(struct guard *guard, pid_t group);

/* Ends it; it touches nothing. */
void guard_stop(struct guard *guard);

#endif
