/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether the ranks that this one waits for are still there, as far as that can be seen without
 * them: processes of this host can be looked at, and a group that works notices by itself.
 */
#ifndef MUSTER_LIB_LOOKOUT_H
#define MUSTER_LIB_LOOKOUT_H

#include "group/exchange.h"
#include "group/roster.h"

/* Whether the process of the record ran on this host and has ended. */
bool lookout_gone(const rank_record *record);

/* exchange_lookout with a roster as user: none of its ranks on this host has ended. */
muster_status lookout_roster(void *roster);

/* Some of the ranks of a roster. */
typedef struct lookout_some {
    const roster *all;
    const int *ranks;
    int count;
} lookout_some;

/* exchange_lookout with a lookout_some as user: the same for these ranks, named as in the whole. */
muster_status lookout_those(void *some);

/* exchange_lookout with a group as user: the ranks that meet are its own, and it works. */
muster_status lookout_group(void *group);

/* The same for who does not want to know why, without waiting until that is known. */
muster_status lookout_works(void *group);

/* Before the ranks know each other each looks at the two next to it, so that the store has as
 * little to do for many ranks as for few. */
typedef struct lookout_neighbours {
    exchange *meeting;
    int gone; /* which one was not there the last time; it may be started again meanwhile; -1 */
} lookout_neighbours;

/* exchange_lookout with a lookout_neighbours as user, for a meeting's first round, in which the
 * ranks publish their records. */
muster_status lookout_next(void *neighbours);

#endif
