/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of muster-run.
 */
#ifndef MUSTER_RUN_OPTIONS_H
#define MUSTER_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

enum { OPTIONS_MOST_RANKS = 1000000 };

struct options {
    int asked_ranks; /* with -n, for the whole world; 0: not given */
    int num_ranks;   /* of the whole world, as far as this node can tell */
    int per_node;    /* ranks here */
    int num_nodes;
    int node_rank;
    const char *master_addr;
    int master_port;
    bool tag;
    bool no_secret;
    bool keep_going;
    double timeout; /* seconds; 0 is none */
    double kill_after;
    double join_timeout;  /* how long nodes wait for each other at the start */
    double node_timeout;  /* and for a sign of life later */
    const char **exports; /* "NAME" or "NAME=VALUE" */
    size_t num_exports;
    const char *folder;
    const char *bind_to; /* "none", "core", "numa", "device" */
    int verbosity;       /* -1 quiet, 0, 1 */
    char **program;
};

/* Returns true when there is something to run; else *status is what to exit with, all having been
 * said. */
bool options_read(struct options *options, int argc, char **argv, int *status);

#endif
