/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives as the model sees them: one row each, with what it makes of the arrays of all
 * ranks in plain terms, and how it is called.
 */
#ifndef MUSTER_T_COLLECTIVE_ROWS_H
#define MUSTER_T_COLLECTIVE_ROWS_H

#include "muster.h"

enum { ROWS_MOST_RANKS = 8 };

/* What a buffer holds: nothing, what is of one rank, or a block for each. */
typedef enum row_shape { NONE, ONE, BLOCKS } row_shape;

enum {
    ROW_REDUCES = 1,
    ROW_ROOTED = 2,
    ROW_SENDS_AT_ROOT = 4,
    ROW_RECEIVES_AT_ROOT = 8,
    ROW_BY_SOURCE = 16, /* blocks differ by the rank that they come from */
    ROW_BY_TARGET = 32, /* and by the one that they are for */
    ROW_FROM_LEFT = 64, /* only what the rank before has */
    ROW_ONE_BUFFER = 128
};

/* One case. */
typedef struct setting {
    muster_group *group;
    const struct row *row;
    int rank;
    int n;
    muster_type type;
    muster_reduction kind;
    muster_reduction redop; /* as it is given */
    int root;
    size_t count;
    int form; /* 0: buffers apart; else in place, in the first or second way */
    uint64_t seed;
} setting;

typedef struct row {
    const char *name;
    row_shape send;
    row_shape receive;
    int traits;
    int forms;
    muster_status (*call)(const setting *s, const void *send, void *receive);
} row;

extern const row rows[];
extern const int num_rows;

/* Elements that go from one rank to another. */
size_t row_block(const setting *s, int from, int to);

/* Elements of this rank's block of a rank's buffers, and where in them it begins. */
size_t row_send_count(const setting *s, int rank);
size_t row_receive_count(const setting *s, int rank);
size_t row_send_offset(const setting *s, int rank, int to);
size_t row_receive_offset(const setting *s, int rank, int from);

#endif
