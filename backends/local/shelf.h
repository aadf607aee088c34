/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations that go piece by piece: in each turn a rank puts a piece of what others need on its
 * shelf, where it stays in the cache, and takes theirs. Pieces of several turns fit, so that ranks
 * need not keep step.
 */
#ifndef MUSTER_LOCAL_SHELF_H
#define MUSTER_LOCAL_SHELF_H

#include "blocks.h"

/* The operations that move blocks. */
muster_status shelf_move(hall *of);

/* reduce and all_reduce; and reduce_scatter. */
muster_status shelf_reduce(hall *of);
muster_status shelf_reduce_scatter(hall *of);

/* ---- for both ---- */

/* Waits until this rank may put a piece on its shelf in the turn: until those who read from it,
 * which is every rank or to alone, are through with what lies there. */
muster_status shelf_await_room(hall *of, uint32_t turn, int to);

/* The operation is over: it had so many turns, whether this rank had a part in them or not. */
void shelf_end(hall *of, uint32_t turns);

/* How many turns it takes to move so many bytes. */
uint32_t shelf_turns(size_t bytes, size_t piece);

#endif
