/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the blocks of the ranks lie in a buffer, in bytes.
 */
#ifndef MUSTER_LOCAL_BLOCKS_H
#define MUSTER_LOCAL_BLOCKS_H

#include "hall_memory.h"

extern const uint8_t hall_element_sizes[MUSTER_NUM_TYPES];

static inline size_t hall_element_size(muster_type type)
{
    return hall_element_sizes[type];
}

typedef struct hall_blocks {
    const size_t *counts; /* in elements, one a rank; NULL: all of bytes */
    const size_t *offsets;
    size_t element;
    size_t bytes;  /* of a block, where counts is NULL, else of the largest */
    size_t stride; /* from one to the next there; 0: all ranks have the same one */
    size_t total;  /* where it is not 0 the last ones end here */
} hall_blocks;

static inline size_t hall_block_offset(const hall_blocks *blocks, int rank)
{
    return blocks->offsets != NULL ? blocks->offsets[rank] * blocks->element
                                   : blocks->stride * (size_t)rank;
}

static inline size_t hall_block_bytes(const hall_blocks *blocks, int rank)
{
    if (blocks->counts != NULL)
        return blocks->counts[rank] * blocks->element;
    if (blocks->total == 0)
        return blocks->bytes;
    size_t first = blocks->stride * (size_t)rank;
    if (first >= blocks->total)
        return 0;
    return blocks->total - first < blocks->bytes ? blocks->total - first : blocks->bytes;
}

/* Of the part of a block that begins at first and has at most so many bytes. */
static inline size_t hall_block_part(const hall_blocks *blocks, int rank, size_t first, size_t most)
{
    size_t bytes = hall_block_bytes(blocks, rank);
    if (bytes <= first)
        return 0;
    return bytes - first < most ? bytes - first : most;
}

/* Blocks of the call's elements, one behind the other, or where its counts say. */
hall_blocks hall_blocks_of(const muster_call *call, const size_t *counts, const size_t *offsets);

/* The same array for all. */
hall_blocks hall_blocks_one(const muster_call *call);

/* The array cut into one block a rank, at multiples of a cache line, which holds whole elements. */
hall_blocks hall_blocks_cut(const muster_call *call, int size);

/* How ranks give and take in an operation that moves blocks. */
typedef struct hall_moves {
    bool gives; /* this rank has blocks for others, else out is not looked at */
    bool each;  /* another block for each rank */
    int from;   /* the one that it takes from; -1: from all others; this rank: from none */
    int to;     /* the one that takes from it; -1: all others; this rank: none */
    hall_blocks out, in;
} hall_moves;

hall_moves hall_moves_of(const hall *of);

static inline bool hall_takes_from(const hall *of, const hall_moves *moves, int rank)
{
    return rank != of->rank && (moves->from == -1 || moves->from == rank);
}

static inline bool hall_gives_to(const hall *of, const hall_moves *moves, int rank)
{
    return rank != of->rank && moves->gives && (moves->to == -1 || moves->to == rank);
}

/* Puts the own block of the operation in its place, where it isn't there. */
void hall_move_own(const hall *of, const hall_moves *moves);

#endif
