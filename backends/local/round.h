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

/* The slot of a rank that was met. */
static inline const hall_slot *round_slot(const hall *of, int rank)
{
    return &of->rooms[rank].slots[of->number % HALL_SLOTS];
}

/* This rank needs no other's slot and memory any more. */
void round_leave(hall *of);

/* Waits until peer has called round_leave. */
muster_status round_await_leave(hall *of, int peer);

/* Whether it has come to this operation or a later one. */
bool round_has_come(const hall *of, int rank);

/* Another rank has found that labels differ: which one differs from the own, into the call. */
muster_status round_find_mismatch(hall *of);

#endif
