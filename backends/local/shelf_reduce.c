/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions, piece by piece: each rank reduces its share of the array, in the order of ranks.
 *
 * What a share is made of comes from the shelves of the others, or is read straight from their
 * memory into a scratch that stays in the cache. What comes of it goes over this rank's shelf.
 */
#include "config.h"

#include "direct.h"
#include "round.h"
#include "shelf.h"

/* An operation while it runs. */
typedef struct shares {
    hall *of;
    bool direct;
    bool each;          /* only this rank needs its share */
    int to;             /* who needs what comes of it: -1: every rank */
    bool takes;         /* this rank does */
    hall_blocks blocks; /* of send */
    char *result;       /* where this rank's share goes; NULL: to the shelf alone */
    size_t piece;
    uint32_t turns;
} shares;

static size_t part_of(const shares *all, int rank, uint32_t t)
{
    return hall_block_part(&all->blocks, rank, t * all->piece, all->piece);
}

static const char *own_part(const shares *all, int rank, uint32_t t)
{
    return (const char *)all->of->call->send + hall_block_offset(&all->blocks, rank) +
           t * all->piece;
}

/* Where a rank's part lies on a shelf, and what comes of it. */
static char *lane(const shares *all, int shelf, int rank, uint32_t t)
{
    size_t place = all->direct ? 0 : all->piece * (size_t)rank;
    return hall_shelf(all->of, shelf, all->of->turns + t) + place;
}

static muster_status put(shares *all, uint32_t t)
{
    hall *of = all->of;
    muster_status status = shelf_await_room(of, of->turns + t, -1);
    if (status != MUSTER_OK)
        return status;
    for (int r = 0; r < of->size; r++)
        if (r != of->rank)
            memcpy(lane(all, of->rank, r, t), own_part(all, r, t), part_of(all, r, t));
    station_write(of, &hall_my_room(of)->steps.in, of->turns + t + 1);
    return MUSTER_OK;
}

/* The part of another rank's array that this one reduces. */
static muster_status get(shares *all, int from, uint32_t t, const void **part)
{
    hall *of = all->of;
    const hall_slot *slot;
    muster_status status = round_meet(of, from, &slot);
    if (status != MUSTER_OK)
        return status;
    if (!all->direct) {
        *part = lane(all, from, of->rank, t);
        return station_wait(of, from, &of->rooms[from].steps.in, of->turns + t + 1);
    }
    char *room = of->scratch + all->piece * (size_t)(from - (from > of->rank));
    *part = room;
    return direct_read(of, from, room,
                       direct_send_of(slot) + hall_block_offset(&all->blocks, of->rank) +
                           t * all->piece,
                       part_of(all, of->rank, t));
}

/* Reduces this rank's part of a turn. */
static muster_status work(shares *all, uint32_t t)
{
    hall *of = all->of;
    const muster_call *call = of->call;
    size_t bytes = part_of(all, of->rank, t);
    muster_status status = MUSTER_OK;
    of->inputs[of->rank] = (muster_reduce_input){own_part(all, of->rank, t), call->scalar};
    for (int step = 1; status == MUSTER_OK && step < of->size; step++) {
        int from = (of->rank + step) % of->size;
        status = get(all, from, t, &of->inputs[from].data);
        of->inputs[from].scalar = round_slot(of, from)->scalar;
    }
    if (status == MUSTER_OK && all->direct && !all->each)
        status = shelf_await_room(of, of->turns + t, all->to);
    if (status != MUSTER_OK)
        return status;
    char *shelf = lane(all, of->rank, of->rank, t);
    char *to = all->result != NULL ? all->result + t * all->piece : shelf;
    if (bytes > 0)
        of->host->reduce(to, of->inputs, (size_t)of->size, bytes / all->blocks.element, call->type,
                         call->redop);
    if (!all->each && to != shelf && all->to != of->rank)
        memcpy(shelf, to, bytes);
    station_write(of, &hall_my_room(of)->steps.mid, of->turns + t + 1);
    return MUSTER_OK;
}

/* Takes what the others have made of their parts. */
static muster_status take(shares *all, uint32_t t)
{
    hall *of = all->of;
    muster_status status = MUSTER_OK;
    for (int step = 1; all->takes && status == MUSTER_OK && step < of->size; step++) {
        int from = (of->rank + step) % of->size;
        status = station_wait(of, from, &of->rooms[from].steps.mid, of->turns + t + 1);
        if (status == MUSTER_OK)
            memcpy((char *)of->call->receive + hall_block_offset(&all->blocks, from) +
                       t * all->piece,
                   lane(all, from, from, t), part_of(all, from, t));
    }
    if (status == MUSTER_OK)
        station_write(of, &hall_my_room(of)->steps.out, of->turns + t + 1);
    return status;
}

/* Nobody reads this rank's array any more. */
static muster_status await_readers(const shares *all)
{
    hall *of = all->of;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < of->size; r++)
        if (r != of->rank)
            status = station_wait(of, r, &of->rooms[r].steps.mid, of->turns + all->turns);
    return status;
}

static muster_status run(shares *all)
{
    hall *of = all->of;
    hall_slot *slot;
    all->turns = shelf_turns(hall_blocks_largest(&all->blocks, of->size), all->piece);
    muster_status status = round_begin(of, &slot);
    if (status != MUSTER_OK)
        return status;
    direct_offer(slot, of->call->send);
    round_tell(of);
    if (!all->direct)
        status = put(all, 0);
    for (uint32_t t = 0; status == MUSTER_OK && t <= all->turns; t++) {
        if (!all->direct && t + 1 < all->turns)
            status = put(all, t + 1);
        if (status == MUSTER_OK && t < all->turns)
            status = work(all, t);
        if (status == MUSTER_OK && t > 0)
            status = take(all, t - 1);
    }
    if (status == MUSTER_OK && all->direct)
        status = await_readers(all);
    if (status == MUSTER_OK && all->direct)
        status = station_check(of);
    if (status == MUSTER_OK)
        shelf_end(of, all->turns);
    return status;
}

static size_t piece_of(const hall *of, bool direct)
{
    size_t most = HALL_PIECE / (size_t)of->size;
    if (direct)
        most = HALL_SCRATCH / (size_t)(of->size > 1 ? of->size - 1 : 1);
    if (most > HALL_PIECE)
        most = HALL_PIECE;
    return most / HALL_LINE * HALL_LINE;
}

muster_status shelf_reduce(hall *of, bool direct)
{
    const muster_call *call = of->call;
    bool everywhere = call->operation == MUSTER_OPERATION_ALL_REDUCE;
    shares all = {.of = of,
                  .direct = direct,
                  .to = everywhere ? -1 : call->root,
                  .takes = everywhere || of->rank == call->root,
                  .blocks = hall_blocks_cut(call, of->size),
                  .piece = piece_of(of, direct)};
    if (all.takes)
        all.result = (char *)call->receive + hall_block_offset(&all.blocks, of->rank);
    return run(&all);
}

muster_status shelf_reduce_scatter(hall *of)
{
    const muster_call *call = of->call;
    shares all = {.of = of,
                  .each = true,
                  .to = of->rank,
                  .blocks = hall_blocks_of(call, call->send_counts, call->send_offsets),
                  .result = call->receive,
                  .piece = piece_of(of, false)};
    return run(&all);
}
