/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ranks of a group are on which host. In a group of several hosts the ranks of each have a
 * communicator of their own, the near side.
 */
#ifndef MUSTER_LIB_NEAR_H
#define MUSTER_LIB_NEAR_H

#include "group/roster.h"

/* Hosts are in the order of their first ranks, the ranks of each in that of the group. */
typedef struct near_map {
    int hosts;
    int fewest; /* ranks on one host */
    int most;
    bool in_order; /* the ranks of each host follow one another, hosts in order */
    int *starts;   /* host h has members[starts[h]] to members[starts[h + 1] - 1] */
    int *members;
    int *host;  /* of each rank */
    int *place; /* of each rank among those of its host */
} near_map;

muster_status near_map_make(const roster *ranks, near_map *map);
void near_map_clear(near_map *map);

/* Where the ranks of the host that rank is on begin, and how many they are. */
const int *near_map_ranks(const near_map *map, int rank, int *count);

/* A sentence of the near side of rank, in which "rank 1" is the second of its host, in the numbers
 * of the group. Returns text. */
const char *near_sentence(const near_map *map, int rank, const char *sentence, char *text,
                          size_t size);

/* The same of the thread's last error, which status is. */
muster_status near_error(const near_map *map, int rank, muster_status status);

#endif
