/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes of this host as the ranks see each other: which one it is, a descriptor that tells of
 * its end, and copies out of its memory.
 */
#ifndef MUSTER_LOCAL_PROCESS_H
#define MUSTER_LOCAL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pid alone may be given to another process once this one has ended. */
typedef struct process {
    int64_t pid;
    uint64_t start; /* in clock ticks since the boot; 0: not known */
} process;

process process_self(void);

enum { PROCESS_CPUS = 1024 };

/* The CPUs that a thread may run on, a bit each. */
typedef struct process_cpus {
    uint64_t words[PROCESS_CPUS / 64];
} process_cpus;

/* Those of this thread; all, where the kernel has more of them or does not say. */
process_cpus process_cpus_self(void);

/* Whether there is one that both may run on. */
bool process_cpus_meet(const process_cpus *a, const process_cpus *b);

/* A descriptor that can be read from once the process has ended; -1 where the kernel has none, or
 * the process has ended, as process_ended then says. */
int process_watch(process of);

/* Whether it has ended, or has begun to. */
bool process_ended(process of);

/* Copies size bytes from another process's memory, in one go; false with errno where that is
 * refused, or is not all there. */
bool process_read(process of, uint64_t from, void *to, size_t size);

#endif
