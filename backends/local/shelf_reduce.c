/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions, piece by piece: each rank reduces its share of the array, in the order of ranks.
 *
 * What a share is made of comes from the shelves of the others; what comes of it goes over the own
 * shelf, to where the own part of the array would be, which nobody else needs.
 */
#include "config.h"

#include "round.h"
#include "shelf.h"

/* An operation while it runs. */
typedef struct shares {
    hall *of;
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
    return hall_shelf(all->of, shelf, all->of->turns + t) + all->piece * (size_t)rank;
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
    *part = lane(all, from, of->rank, t);
    return station_wait(of, from, &of->rooms[from].steps.in, of->turns + t + 1);
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

static muster_status run(shares *all)
{
    hall *of = all->of;
    hall_slot *slot;
    all->turns = shelf_turns(all->blocks.bytes, all->piece);
    muster_status status = round_begin(of, &slot);
    if (status != MUSTER_OK)
        return status;
    round_tell(of);
    status = put(all, 0);
    for (uint32_t t = 0; status == MUSTER_OK && t <= all->turns; t++) {
        if (t + 1 < all->turns)
            status = put(all, t + 1);
        if (status == MUSTER_OK && t < all->turns)
            status = work(all, t);
        if (status == MUSTER_OK && t > 0)
            status = take(all, t - 1);
    }
    if (status == MUSTER_OK)
        shelf_end(of, all->turns);
    return status;
}

static size_t piece_of(const hall *of)
{
    return HALL_PIECE / (size_t)of->size / HALL_LINE * HALL_LINE;
}

muster_status shelf_reduce(hall *of)
{
    const muster_call *call = of->call;
    bool everywhere = call->operation == MUSTER_OPERATION_ALL_REDUCE;
    shares all = {.of = of,
                  .to = everywhere ? -1 : call->root,
                  .takes = everywhere || of->rank == call->root,
                  .blocks = hall_blocks_cut(call, of->size),
                  .piece = piece_of(of)};
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
                  .piece = piece_of(of)};
    return run(&all);
}
