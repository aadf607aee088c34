/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cores of a host as all of its ranks together see them, in one order for all: by package, NUMA
 * node and lowest CPU. A cpu_set serves as a set of cores too, by their place in that order.
 */
#ifndef MUSTER_LIB_CORE_MAP_H
#define MUSTER_LIB_CORE_MAP_H

#include "placement/standing.h"

/* Cores that are together on a package and NUMA node. */
typedef struct core_node {
    int package; /* -1 not known */
    int number;  /* the kernel's; -1 not known */
    int turn;    /* how many nodes of its package are before it */
    cpu_set cores;
} core_node;

typedef struct core_map {
    int num_cores;
    int num_nodes;
    core_node *nodes;           /* in the order of cores */
    int node_of[CPU_SET_LIMIT]; /* of a core: its node's place */
    int core_of[CPU_SET_LIMIT]; /* of a CPU: its core; -1 none */
    int num_cpus;               /* from here on none has a core */
} core_map;

/* Of ranks in their order. Where they disagree on a CPU the first that has it is believed; a CPU
 * that a rank may use and nobody has in a core is one by itself. */
muster_status core_map_make(core_map **map, const standing *const *ranks, int count);
void core_map_free(core_map *map);

/* The cores that have one of the CPUs, and all CPUs of cores. */
cpu_set core_map_cores(const core_map *map, const cpu_set *cpus);
cpu_set core_map_cpus(const core_map *map, const cpu_set *cores);

/* The nodes, by their place, that the cores are on. */
cpu_set core_map_nodes(const core_map *map, const cpu_set *cores);

#endif
