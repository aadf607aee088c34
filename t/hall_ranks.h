/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that meet in a hall of backends/local, over memory that forked processes share; under
 * ThreadSanitizer, which sees one process only, as threads.
 */
#ifndef MUSTER_T_HALL_RANKS_H
#define MUSTER_T_HALL_RANKS_H

#include "hall_memory.h"

enum { HALL_RANKS_MOST = 8 };

/* What a rank may tell; in shared memory while it runs. */
typedef struct hall_report {
    pid_t pid;
    bool ended;         /* by itself, with its body's answer */
    int answer;         /* of the body: 0, all is well */
    atomic_int at;      /* the test's own */
    long millis;        /* the body took */
    char sentence[512]; /* why not */
} hall_report;

typedef struct hall_rank {
    hall *hall;
    int rank, size;
    void *argument;
    hall_report *reports; /* of all ranks */
} hall_rank;

typedef int (*hall_body)(hall_rank *me);

typedef struct hall_case {
    int size;
    bool cores_for_all;
    uint32_t start; /* what numbers count from */
    hall_body body;
    void *argument;

    /* Runs beside the ranks where it is there; whole is a hall of rank 0's to break. */
    void (*beside)(hall *whole, hall_report *reports, const struct hall_case *all);
} hall_case;

/* Whether ranks are processes, which can be killed. */
bool hall_ranks_are_processes(void);

/* Runs it; true where every body has ended with 0. What the bodies said is in reports, or, where
 * that is NULL, shown. */
bool hall_ranks_run(const hall_case *all, hall_report *reports);

/* Says why a body is not content, and returns 1. */
int hall_wrong(hall_rank *me, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A call with a label made of what ranks must agree on; for hall_try. */
muster_call hall_call(muster_operation operation, muster_type type, muster_reduction redop,
                      int root, size_t count, const void *send, void *receive);

/* Runs it with so much time. other_rank and other (MUSTER_LABEL_MAX bytes) may be NULL. */
muster_status hall_try(hall_rank *me, muster_call call, int64_t timeout_ms, int *other_rank,
                       void *other);

#endif
