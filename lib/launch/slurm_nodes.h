/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Slurm's short ways to write lists: of hosts, and of tasks on each node.
 *
 * A list of hosts is names with commas between them; a name may hold groups in brackets, each of
 * numbers and ranges: "rack[0-1]n[05-06],login" is rack0n05, rack0n06, rack1n05, rack1n06 and
 * login. A range's numbers have as many digits as its first has.
 */
#ifndef MUSTER_LIB_SLURM_NODES_H
#define MUSTER_LIB_SLURM_NODES_H

#include "muster.h"

/* A longest name, and how many a list may come to. */
enum { SLURM_MAX_NAME = 255, SLURM_MAX_NODES = 131072 };

/* Calls take for each name in order until that returns false. A list that is not well formed is
 * refused with MUSTER_ERR_ARGUMENT before the first call, with what is wrong and where. */
muster_status slurm_nodes_each(const char *list, bool (*take)(void *user, const char *name),
                               void *user);

/* The first name alone. */
muster_status slurm_nodes_first(const char *list, char name[SLURM_MAX_NAME + 1]);

/* Of "3,1" or "2(x4),1": how many tasks node number node has. */
muster_status slurm_nodes_tasks(const char *list, int node, int *tasks);

#endif
