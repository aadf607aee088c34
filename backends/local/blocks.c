/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the blocks of the ranks lie, and who gives them to whom.
 */
#include "config.h"

#include "blocks.h"

const uint8_t hall_element_sizes[MUSTER_NUM_TYPES] = {
#define SIZE_OF_TYPE(name, size, ctype) [MUSTER_##name] = size,
    MUSTER_TYPE_MAP(SIZE_OF_TYPE)
#undef SIZE_OF_TYPE
};

hall_blocks hall_blocks_of(const muster_call *call, const size_t *counts, const size_t *offsets)
{
    size_t element = hall_element_size(call->type), bytes = call->count * element;
    hall_blocks blocks = {.element = element, .bytes = bytes, .stride = bytes};
    if (!call->uniform) {
        blocks.counts = counts;
        blocks.offsets = offsets;
    }
    return blocks;
}

hall_blocks hall_blocks_one(const muster_call *call)
{
    size_t element = hall_element_size(call->type);
    hall_blocks blocks = {.element = element, .bytes = call->count * element};
    return blocks;
}

/* Of one rank, where its blocks need not be alike. */
static hall_blocks own_block(const hall *of, const size_t *counts)
{
    hall_blocks one = hall_blocks_one(of->call);
    if (!of->call->uniform)
        one.bytes = counts[of->rank] * one.element;
    return one;
}

hall_blocks hall_blocks_cut(const muster_call *call, int size)
{
    size_t element = hall_element_size(call->type), total = call->count * element;
    size_t lines = (total + HALL_LINE - 1) / HALL_LINE;
    size_t bytes = (lines + (size_t)size - 1) / (size_t)size * HALL_LINE;
    hall_blocks blocks = {.element = element, .bytes = bytes, .stride = bytes, .total = total};
    return blocks;
}

hall_moves hall_moves_of(const hall *of)
{
    const muster_call *call = of->call;
    const hall_blocks one = hall_blocks_one(call);
    const hall_blocks out = hall_blocks_of(call, call->send_counts, call->send_offsets);
    const hall_blocks in = hall_blocks_of(call, call->receive_counts, call->receive_offsets);
    bool root = of->rank == call->root;
    switch (call->operation) {
    case MUSTER_OPERATION_BROADCAST:
        return (hall_moves){.gives = root, .from = call->root, .to = -1, .out = one, .in = one};
    case MUSTER_OPERATION_GATHER:
        return (hall_moves){.gives = !root,
                            .from = root ? -1 : of->rank,
                            .to = call->root,
                            .out = own_block(of, call->send_counts),
                            .in = in};
    case MUSTER_OPERATION_SCATTER:
        return (hall_moves){.gives = root,
                            .each = true,
                            .from = call->root,
                            .to = -1,
                            .out = out,
                            .in = own_block(of, call->receive_counts)};
    case MUSTER_OPERATION_ALL_GATHER:
        return (hall_moves){.gives = true,
                            .from = -1,
                            .to = -1,
                            .out = own_block(of, call->receive_counts),
                            .in = in};
    default:
        return (hall_moves){
            .gives = true, .each = true, .from = -1, .to = -1, .out = out, .in = in};
    }
}

void hall_move_own(const hall *of, const hall_moves *moves)
{
    const muster_call *call = of->call;
    bool root = of->rank == call->root;
    muster_operation operation = call->operation;
    if (operation == MUSTER_OPERATION_BROADCAST ||
        (!root && (operation == MUSTER_OPERATION_GATHER || operation == MUSTER_OPERATION_SCATTER)))
        return;
    size_t bytes = hall_block_bytes(&moves->out, of->rank);
    if (bytes == 0) /* then there may be no buffers */
        return;
    const char *from = (const char *)call->send + hall_block_offset(&moves->out, of->rank);
    char *to = (char *)call->receive + hall_block_offset(&moves->in, of->rank);
    if (from != to)
        memmove(to, from, bytes);
}
