/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ranks of a group share a host, and what the launcher says of that.
 */
#ifndef MUSTER_LIB_LOCAL_RANK_H
#define MUSTER_LIB_LOCAL_RANK_H

#include "group/group.h"
#include "launch/launcher.h"

/* Logs a warning where a world is placed otherwise than the launcher says: another number of ranks
 * on this host, or another rank here with the same local rank. Launchers that count the local ranks
 * in another order are right too. */
void local_rank_compare(const muster_group *world, const launcher *found);

#endif
