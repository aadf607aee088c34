/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations that move blocks, piece by piece.
 */
#include "config.h"

#include "shelf.h"

#include "round.h"

muster_status shelf_await_room(hall *of, uint32_t turn, int to)
{
    uint32_t last = turn - HALL_PIECES + 1;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++) {
        if (r == of->rank)
            continue;
        /* Who takes nothing now may not have come yet, but read from this shelf before. */
        bool reads = to == -1 || to == r;
        uint32_t needed = reads || !hall_reached(last, of->turns) ? last : of->turns;
        const hall_slot *slot;
        if (!hall_reached(needed, of->turns + 1))
            status = station_wait(of, r, &of->rooms[r].steps.out, needed);
        else if ((status = round_meet(of, r, &slot)) == MUSTER_OK)
            status = station_wait(of, r, &of->rooms[r].steps.out, needed);
    }
    return status;
}

void shelf_end(hall *of, uint32_t turns)
{
    hall_steps *steps = &hall_my_room(of)->steps;
    of->turns += turns;
    atomic_store_explicit(&steps->in, of->turns, memory_order_release);
    atomic_store_explicit(&steps->mid, of->turns, memory_order_release);
    station_write(of, &steps->out, of->turns);
    round_leave(of);
}

uint32_t shelf_turns(size_t bytes, size_t piece)
{
    return (uint32_t)((bytes + piece - 1) / piece);
}

/* The most bytes of a block that one turn moves. */
static size_t piece_of(const hall *of, const hall_moves *moves)
{
    size_t lanes = moves->each ? (size_t)of->size : 1;
    return HALL_PIECE / lanes / HALL_LINE * HALL_LINE;
}

/* Whether all others take the block that this rank needs in its own place too. Then it is put there
 * with the piece on the shelf, while it is in the cache: nothing else lies in that place. */
static bool moves_own_early(const hall *of)
{
    return of->call->operation == MUSTER_OPERATION_ALL_GATHER;
}

static void put_whole(const hall *of, const hall_moves *moves, char *shelf, size_t first,
                      size_t bytes)
{
    const char *from = (const char *)of->call->send + first;
    char *place = (char *)of->call->receive + hall_block_offset(&moves->in, of->rank) + first;
    memcpy(shelf, from, bytes);
    if (moves_own_early(of) && place != from)
        memcpy(place, from, bytes);
}

static muster_status put(hall *of, const hall_moves *moves, size_t piece, uint32_t t)
{
    uint32_t turn = of->turns + t;
    muster_status status = shelf_await_room(of, turn, moves->to);
    if (status != MUSTER_OK)
        return status;
    char *shelf = hall_shelf(of, of->rank, turn);
    const char *send = of->call->send;
    size_t first = t * piece;
    size_t whole = moves->each ? 0 : hall_block_part(&moves->out, of->rank, first, piece);
    if (whole > 0)
        put_whole(of, moves, shelf, first, whole);
    for (int r = 0; moves->each && r < of->size; r++) {
        size_t part =
            hall_gives_to(of, moves, r) ? hall_block_part(&moves->out, r, first, piece) : 0;
        if (part > 0)
            memcpy(shelf + piece * (size_t)r, send + hall_block_offset(&moves->out, r) + first,
                   part);
    }
    station_write(of, &hall_my_room(of)->steps.in, turn + 1);
    return MUSTER_OK;
}

static muster_status take_from(hall *of, const hall_moves *moves, int from, size_t piece,
                               uint32_t t)
{
    uint32_t turn = of->turns + t;
    const hall_slot *slot;
    muster_status status = t == 0 ? round_meet(of, from, &slot) : MUSTER_OK;
    if (status == MUSTER_OK)
        status = station_wait(of, from, &of->rooms[from].steps.in, turn + 1);
    if (status != MUSTER_OK)
        return status;
    size_t lane = moves->each ? piece * (size_t)of->rank : 0, first = t * piece;
    size_t part = hall_block_part(&moves->in, from, first, piece);
    if (part > 0)
        memcpy((char *)of->call->receive + hall_block_offset(&moves->in, from) + first,
               hall_shelf(of, from, turn) + lane, part);
    return MUSTER_OK;
}

static muster_status take(hall *of, const hall_moves *moves, size_t piece, uint32_t t)
{
    muster_status status = MUSTER_OK;
    bool takes = false;
    for (int step = 1; status == MUSTER_OK && step < of->size; step++) {
        int from = (of->rank + step) % of->size;
        if (hall_takes_from(of, moves, from)) {
            status = take_from(of, moves, from, piece, t);
            takes = true;
        }
    }
    if (takes && status == MUSTER_OK)
        station_write(of, &hall_my_room(of)->steps.out, of->turns + t + 1);
    return status;
}

/* Those who take from this rank have come to the same operation. */
static muster_status meet_takers(hall *of, const hall_moves *moves)
{
    const hall_slot *slot;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++)
        if (hall_gives_to(of, moves, r))
            status = round_meet(of, r, &slot);
    return status;
}

/* A turn is put while the one before is still to be taken, so that others need not wait. */
muster_status shelf_move(hall *of)
{
    const hall_moves moves = hall_moves_of(of);
    size_t piece = piece_of(of, &moves);
    uint32_t turns = shelf_turns(hall_blocks_one(of->call).bytes, piece);
    hall_slot *slot;
    muster_status status = round_begin(of, &slot);
    if (status != MUSTER_OK)
        return status;
    round_tell(of);
    for (uint32_t t = 0; status == MUSTER_OK && t <= turns; t++) {
        if (moves.gives && t < turns)
            status = put(of, &moves, piece, t);
        if (status == MUSTER_OK && t > 0)
            status = take(of, &moves, piece, t - 1);
    }
    if (status == MUSTER_OK)
        status = meet_takers(of, &moves);
    if (status != MUSTER_OK)
        return status;
    if (!moves_own_early(of))
        hall_move_own(of, &moves);
    shelf_end(of, turns);
    return MUSTER_OK;
}
