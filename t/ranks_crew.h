/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parent's view of the ranks of one case while they run.
 */
#ifndef MUSTER_T_RANKS_CREW_H
#define MUSTER_T_RANKS_CREW_H

#include <sys/types.h>

#include "ranks.h"
#include "ranks_report.h"

struct rank_process {
    pid_t pid;
    int points; /* the reading ends of its pipes, -1 when closed */
    int output;
    bool ended;
    int status; /* of waitpid */
    char *said; /* what it printed */
    size_t num_said;
    struct report report;
};

struct ranks_crew {
    const struct ranks_case *test;
    size_t number; /* of the case */
    char folder[4096];
    char program[4096];
    int port;
    bool port_hosted;
    int signals; /* a signalfd for SIGCHLD */
    bool timed_out;
    struct rank_process ranks[RANKS_MOST];
};

/* Starts all ranks. */
void crew_spawn(struct ranks_crew *crew);

/* Until every rank has ended, by itself or by force, and nothing that they started is left. */
void crew_watch(struct ranks_crew *crew);

/* The entry of test's deaths for rank, or NULL. */
const struct ranks_death *crew_death(const struct ranks_case *test, int rank);

#endif
