/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which NUMA nodes ranks go to that no device draws anywhere.
 */
#ifndef MUSTER_LIB_NODE_TURNS_H
#define MUSTER_LIB_NODE_TURNS_H

#include "placement/core_map.h"
#include "placement/crews.h"
#include "placement/placement.h"

/* A node, with those of its cores that the ranks could have. */
typedef struct node_share {
    cpu_set cores;
    int number;       /* of cores */
    int ranks;        /* that a policy sends there */
    long long weight; /* room for ranks, in the policy's own measure */
    int turn, place;  /* where it is in its package, and in the map */
} node_share;

typedef struct node_turns {
    placement_policy policy;
    int count;
    node_share *nodes; /* that have room, in the order in which ranks go there */
    int ranks;
    int *node_of; /* of each rank, the first of its nodes */
} node_turns;

/*
 * For so many ranks over these cores, beside the crews that are there already. By the policy auto
 * each rank has one node, as many ranks to a node as it has room; or several whole nodes where
 * there are more nodes than ranks. compact has as few nodes as have a core for each rank, scatter
 * goes round the packages and their nodes. Freed by node_turns_clear(), also after an error.
 */
muster_status node_turns_make(node_turns *turns, const core_map *map, const cpu_set *cores,
                              const crews *beside, placement_policy policy, int ranks);

/* The cores that the i-th rank may have some of. */
cpu_set node_turns_domain(const node_turns *turns, int i);

void node_turns_clear(node_turns *turns);

#endif
