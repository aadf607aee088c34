/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many bytes an operation moves, as the files that carry it out move them.
 */
#include "config.h"

#include "traffic.h"

#include "blocks.h"

typedef struct amount {
    size_t given, taken;
} amount;

static size_t sum_of(const hall_blocks *blocks, int size)
{
    size_t sum = 0;
    if (blocks->counts == NULL)
        return blocks->bytes * (size_t)size;
    for (int r = 0; r < size; r++)
        sum += hall_block_bytes(blocks, r);
    return sum;
}

/* Each takes its share of all arrays, and who needs the whole takes the others' results. */
static amount of_shares(const muster_call *call, int rank, int size, bool needs_all, bool needed)
{
    const hall_blocks shares = hall_blocks_cut(call, size);
    size_t own = hall_block_bytes(&shares, rank), others = shares.total - own;
    return (amount){others + (needed ? own : 0),
                    (size_t)(size - 1) * own + (needs_all ? others : 0)};
}

/* The blocks of a buffer, without this rank's own. */
static size_t of_others(const muster_call *call, const size_t *counts, int rank, int size)
{
    const hall_blocks blocks = hall_blocks_of(call, counts, NULL);
    return sum_of(&blocks, size) - hall_block_bytes(&blocks, rank);
}

/* The block of a rank that has one alone. */
static size_t of_one(const muster_call *call, const size_t *counts, int rank)
{
    const hall_blocks blocks = hall_blocks_of(call, counts, NULL);
    return hall_block_bytes(&blocks, rank);
}

static amount amount_of(const muster_call *call, int rank, int size, bool in_slots)
{
    bool root = rank == call->root;
    size_t block = hall_blocks_one(call).bytes, others = block * (size_t)(size - 1);
    switch (call->operation) {
    case MUSTER_OPERATION_BROADCAST:
        return root ? (amount){block, 0} : (amount){0, block};
    case MUSTER_OPERATION_REDUCE:
        if (!in_slots)
            return of_shares(call, rank, size, root, !root);
        return root ? (amount){0, others} : (amount){block, 0};
    case MUSTER_OPERATION_ALL_REDUCE:
        return in_slots ? (amount){block, others} : of_shares(call, rank, size, true, true);
    case MUSTER_OPERATION_GATHER:
        return root ? (amount){0, of_others(call, call->receive_counts, rank, size)}
                    : (amount){of_one(call, call->send_counts, rank), 0};
    case MUSTER_OPERATION_SCATTER:
        return root ? (amount){of_others(call, call->send_counts, rank, size), 0}
                    : (amount){0, of_one(call, call->receive_counts, rank)};
    case MUSTER_OPERATION_ALL_GATHER:
        return (amount){of_one(call, call->receive_counts, rank),
                        of_others(call, call->receive_counts, rank, size)};
    case MUSTER_OPERATION_REDUCE_SCATTER:
        return (amount){of_others(call, call->send_counts, rank, size),
                        (size_t)(size - 1) * of_one(call, call->send_counts, rank)};
    case MUSTER_OPERATION_ALL_TO_ALL:
        return (amount){of_others(call, call->send_counts, rank, size),
                        of_others(call, call->receive_counts, rank, size)};
    default:
        return (amount){0, 0};
    }
}

void traffic_add(traffic *sum, const muster_call *call, int rank, int size, bool in_slots)
{
    const amount moved = amount_of(call, rank, size, in_slots);
    traffic_add_bytes(sum, moved.given, moved.taken);
}
