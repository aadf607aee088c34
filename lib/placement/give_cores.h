/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank gets which cores of the host.
 */
#ifndef MUSTER_LIB_GIVE_CORES_H
#define MUSTER_LIB_GIVE_CORES_H

#include "placement/core_map.h"
#include "placement/place_list.h"
#include "placement/placement.h"

/*
 * Sets cpus and cores_kept of each seat and adds to its why, once the devices are given. ranks are
 * those of the seats, in the same order. list is NULL but for the policy explicit.
 *
 * Whom its launcher bound keeps its CPUs, and so do all where nobody is placed; a list is followed.
 * The others are given cores that nobody has yet, where there are enough of them: those with a
 * device cores near to it, the rest as the policy says, so many to each NUMA node as fits its
 * cores and those who are there already. Cores that several are given are shared out evenly, each
 * rank having neighbours.
 */
muster_status give_cores(placement *p, const core_map *map, const standing *const *ranks,
                         const placement_wish *wish, const place_list *list);

#endif
