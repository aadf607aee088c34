/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations whose data fits on trays.
 */
#include "config.h"

#include "small.h"

#include "round.h"

static bool reduces(muster_operation operation)
{
    return operation == MUSTER_OPERATION_REDUCE || operation == MUSTER_OPERATION_ALL_REDUCE ||
           operation == MUSTER_OPERATION_REDUCE_SCATTER;
}

/* What this rank gives in a reduction: all of send, of which each takes its block. */
static hall_moves moves_of_reduction(const hall *of)
{
    const muster_call *call = of->call;
    const hall_blocks one = hall_blocks_one(call);
    if (call->operation == MUSTER_OPERATION_ALL_REDUCE)
        return (hall_moves){.gives = true, .from = -1, .to = -1, .out = one, .in = one};
    bool root = of->rank == call->root;
    if (call->operation == MUSTER_OPERATION_REDUCE)
        return (hall_moves){
            .gives = !root, .from = root ? -1 : of->rank, .to = call->root, .out = one, .in = one};
    const hall_blocks out = hall_blocks_of(call, call->send_counts, call->send_offsets);
    return (hall_moves){.gives = true, .each = true, .from = -1, .to = -1, .out = out, .in = one};
}

/* A block's place in the payload of a rank that gives each another; whole words for every type. */
static size_t lane_of(size_t largest)
{
    return (largest + 7) / 8 * 8;
}

static size_t largest_block(const hall *of)
{
    return hall_blocks_one(of->call).bytes;
}

static bool gives_each(muster_operation operation)
{
    return operation == MUSTER_OPERATION_SCATTER || operation == MUSTER_OPERATION_ALL_TO_ALL ||
           operation == MUSTER_OPERATION_REDUCE_SCATTER;
}

bool small_fits(const hall *of)
{
    muster_operation operation = of->call->operation;
    size_t most = gives_each(operation) ? HALL_PAYLOAD / (size_t)of->size : HALL_PAYLOAD;
    return largest_block(of) <= most / 8 * 8;
}

static void give(const hall *of, const hall_moves *moves, hall_tray *tray)
{
    const char *send = of->call->send;
    if (!moves->each) {
        size_t bytes = moves->gives ? hall_block_bytes(&moves->out, of->rank) : 0;
        if (bytes > 0)
            memcpy(tray->payload, send, bytes);
        return;
    }
    size_t lane = lane_of(largest_block(of));
    for (int r = 0; r < of->size; r++) {
        size_t bytes = hall_gives_to(of, moves, r) ? hall_block_bytes(&moves->out, r) : 0;
        if (bytes > 0)
            memcpy(tray->payload + lane * (size_t)r, send + hall_block_offset(&moves->out, r),
                   bytes);
    }
}

/* What rank gives to this one. */
static const unsigned char *given(const hall *of, const hall_moves *moves, int rank)
{
    size_t lane = moves->each ? lane_of(largest_block(of)) : 0;
    return round_tray(of, rank)->payload + lane * (size_t)of->rank;
}

static void take_reduced(hall *of, const hall_moves *moves)
{
    const muster_call *call = of->call;
    size_t count = call->count;
    if (moves->each && !call->uniform)
        count = call->send_counts[of->rank];
    for (int r = 0; r < of->size; r++)
        of->inputs[r] = (muster_reduce_input){given(of, moves, r), round_slot(of, r)->scalar};
    size_t own = moves->each ? hall_block_offset(&moves->out, of->rank) : 0;
    of->inputs[of->rank] = (muster_reduce_input){(const char *)call->send + own, call->scalar};
    of->host->reduce(call->receive, of->inputs, (size_t)of->size, count, call->type, call->redop);
}

static void take(hall *of, const hall_moves *moves)
{
    for (int r = 0; r < of->size; r++) {
        size_t bytes = hall_takes_from(of, moves, r) ? hall_block_bytes(&moves->in, r) : 0;
        if (bytes > 0)
            memcpy((char *)of->call->receive + hall_block_offset(&moves->in, r),
                   given(of, moves, r), bytes);
    }
}

static muster_status meet(hall *of, const hall_moves *moves)
{
    const hall_slot *slot;
    muster_status status = MUSTER_OK;
    if (moves->from == of->rank)
        return round_look(of);
    for (int step = 1; status == MUSTER_OK && step < of->size; step++) {
        int peer = (of->rank + step) % of->size;
        if (hall_takes_from(of, moves, peer))
            status = round_meet(of, peer, &slot);
    }
    return status;
}

static bool all_meet_all(muster_operation operation)
{
    return operation == MUSTER_OPERATION_ALL_REDUCE ||
           operation == MUSTER_OPERATION_REDUCE_SCATTER ||
           operation == MUSTER_OPERATION_ALL_GATHER || operation == MUSTER_OPERATION_ALL_TO_ALL;
}

muster_status small_run(hall *of)
{
    muster_operation operation = of->call->operation;
    const hall_moves moves = reduces(operation) ? moves_of_reduction(of) : hall_moves_of(of);
    hall_slot *slot;
    muster_status status = round_begin(of, &slot);
    if (status == MUSTER_OK)
        status = round_await_tray(of);
    if (status != MUSTER_OK)
        return status;
    give(of, &moves, round_tray(of, of->rank));
    round_tell(of);
    status = meet(of, &moves);
    if (status != MUSTER_OK)
        return status;
    if (!reduces(operation)) {
        hall_move_own(of, &moves);
        take(of, &moves);
    } else if (operation != MUSTER_OPERATION_REDUCE || of->rank == of->call->root) {
        take_reduced(of, &moves);
    }
    if (all_meet_all(operation))
        round_leave_met(of);
    else
        round_leave(of);
    return MUSTER_OK;
}
