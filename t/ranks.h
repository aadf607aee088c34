/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tests with several ranks in one file. Its main() calls ranks_main() with a list of cases; for
 * each, the program starts itself again as so many ranks, and only the parent writes TAP: a point
 * is ok when every rank said so. A case has one point more than planned, for how its ranks ended.
 *
 *     static void meets(int rank, int size)
 *     {
 *         ok(rank < size, "a rank is in its world");
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         static const struct ranks_case cases[] = {
 *             {.name = "meeting", .size = 4, .points = 1, .body = meets},
 *         };
 *         return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
 *     }
 *
 * Ranks make points with ok() and its like of tap.h, from any of their threads; all make the same
 * in the same order. What they print becomes comments. The names of cases as arguments of the
 * program run these cases alone.
 */
#ifndef MUSTER_T_RANKS_H
#define MUSTER_T_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "tap.h"

enum { RANKS_MOST = 64, RANKS_DEATHS = 8 };

/* A rank that is to end otherwise than by returning from its body; its points don't count. signal 0
 * means an exit with that status. An entry of zeros is none. */
struct ranks_death {
    int rank;
    int signal;
    int status;
};

struct ranks_case {
    const char *name;
    int size;   /* 1 to RANKS_MOST */
    int points; /* that each rank makes */
    void (*body)(int rank, int size);
    int seconds; /* until the case counts as hanging; 0 is 60; times MUSTER_TEST_TIMEOUT_FACTOR */
    bool host_store; /* the parent hosts the tcp store at MASTER_PORT, else rank 0 can bind it */
    bool silent;     /* whatever a rank prints is a failure */
    const char *const *environment; /* "NAME=VALUE", or "NAME" to remove it; NULL at the end */
    struct ranks_death deaths[RANKS_DEATHS];
};

/*
 * Runs the cases; what main() returns. Each rank has RANK, WORLD_SIZE, LOCAL_RANK,
 * LOCAL_WORLD_SIZE, MASTER_ADDR=127.0.0.1, a MASTER_PORT that nobody else is given meanwhile (bind
 * it with SO_REUSEADDR), and MUSTER_TEST_DIR, a folder of the case that is removed in the end.
 */
int ranks_main(int argc, char **argv, const struct ranks_case *cases, size_t count);

/* ---- in the body ---- */

/* Ends this rank and skips what is left of the case. */
void ranks_skip_case(const char *reason, ...) TAP_PRINTF(1, 2);

/* Waits until all ranks are here, or that many. It uses nothing of muster. After 30 seconds (times
 * the factor) the rank fails. */
void ranks_barrier(void);
void ranks_barrier_among(int count);

/* Memory that all ranks of the case share, at first zeros. One area: the first call on each rank
 * says how large, the same on all; later calls return the same. */
void *ranks_shared(size_t size);

/* Sends signal to another rank, which must have begun its body. */
void ranks_kill(int rank, int signal);

/* The factor for time-outs of a slow machine, from MUSTER_TEST_TIMEOUT_FACTOR. */
double ranks_time_factor(void);

/*
 * Runs body as the ranks of threads of this process, and merges their points (so many each, and
 * the one for how they ended) as points of the caller: with plan() or in a rank. ranks_barrier()
 * works among them, ranks_shared() does not.
 */
void ranks_threads(const char *name, int size, int points, void (*body)(int rank, int size));

#endif
