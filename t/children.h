/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A function run in several forked children, which report through shared memory: ranks that have
 * an environment, or a network, of their own.
 */
#ifndef MUSTER_T_CHILDREN_H
#define MUSTER_T_CHILDREN_H

#include <stdbool.h>

enum { CHILDREN_MOST = 8 };

typedef struct child_report {
    bool ended;  /* by itself, within 20 seconds */
    int status;  /* what the function returned: a muster_status, or whatever the test likes */
    int millis;  /* how long it took */
    long number; /* the test's own */
    bool left;   /* the test's own */
    char sentence[2048];
} child_report;

/* The children's view of each other: all reports of a run, in shared memory. */
typedef int (*child_fn)(int index, void *argument, volatile child_report *reports);

/* Runs fn in count children at once; true when each ended by itself. The caller must have no
 * threads, so that the children may start some. */
bool children_run(int count, child_fn fn, void *argument, child_report *reports);

#endif
