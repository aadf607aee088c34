/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The soak: a process that hosts a store and starts ranks, and those ranks, which are the same
 * program. Ranks 0 and 1 live as long as the soak; the others are killed now and then, in the
 * middle of whatever they do, and started again.
 */
#ifndef MUSTER_T_SOAK_H
#define MUSTER_T_SOAK_H

#include <stdio.h>

enum { SOAK_SIZE = 4, SOAK_LASTING = 2, SOAK_DEATH_EVERY = 5, SOAK_TIMEOUT_MS = 300000 };

/* What a process has of what must not grow. */
typedef struct soak_state {
    long kib;
    int descriptors;
    int threads;
    long long keys; /* in the store, as far as it was asked */
} soak_state;

soak_state soak_look(void);

/* One rank, from a round on, of which there are until the seconds are over. Lines for the table go
 * to stdout: rank, round, state. What main() returns. */
typedef struct soak_job {
    int rank;
    int port;
    int seconds;
    int first_round;
    int sample_ms;
} soak_job;

int soak_rank(const soak_job *job);

#endif
