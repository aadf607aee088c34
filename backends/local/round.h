/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks meet for an operation: each says in its slot which one it has come to, and looks at the
 * slots of those that it has to do with. What differs is found before anything is taken.
 */
#ifndef MUSTER_LOCAL_ROUND_H
#define MUSTER_LOCAL_ROUND_H

#include "station.h"

/* Takes the next number. *slot may be filled in until round_tell says that this rank has come. */
muster_status round_begin(hall *of, hall_slot **slot);
void round_tell(hall *of);

/* Waits until peer has come to the same operation. Its slot stays as it is until the operation is
 * done here. MUSTER_ERR_MISMATCH where peer came to another one. */
muster_status round_meet(hall *of, int peer, const hall_slot **slot);

/* round_meet for all ranks; then everyone is known to have left all operations before. */
muster_status round_meet_all(hall *of);

/* In an operation in which this rank meets nobody: looks now and then whether others, as far as
 * they have come, disagree, without waiting for them. */
muster_status round_look(hall *of);

/* Waits until the tray of this operation may be filled. */
muster_status round_await_tray(hall *of);

/* The slot of a rank that was met. */
static inline const hall_slot *round_slot(const hall *of, int rank)
{
    return &of->rooms[rank].slots[of->number % HALL_SLOTS];
}

/* The tray of a rank that was met; the own one may be filled before round_tell. */
static inline hall_tray *round_tray(const hall *of, int rank)
{
    return &of->rooms[rank].trays[of->number % HALL_TRAYS];
}

/* This rank needs no other's slot and memory any more; in an operation in which all ranks wait for
 * all, which tells the others that it had left those before. */
static inline void round_leave_met(hall *of)
{
    of->told = of->number - 1;
}

/* The same in any other. */
static inline void round_leave(hall *of)
{
    if (of->number - of->told < HALL_TELLS)
        return;
    of->told = of->number;
    station_write(of, &hall_my_room(of)->steps.done, of->number);
}

/* Whether it has come to this operation or a later one. */
bool round_has_come(const hall *of, int rank);

/* Another rank has found that labels differ: which one differs from the own, into the call. */
muster_status round_find_mismatch(hall *of);

#endif
