/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network interface that is nearest to what a rank was given.
 */
#ifndef MUSTER_LIB_SEAT_WAYS_H
#define MUSTER_LIB_SEAT_WAYS_H

#include "group/roster.h"

/* Writes it into the rank's seat. */
void seat_ways_tell(rank_record *rank);

/* Has all ranks use theirs, with the backends whose address an option didn't choose. Where ranks
 * know the others by two families of addresses nothing is changed: they have to agree on one. */
void seat_ways_take(roster *world);

#endif
