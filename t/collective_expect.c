/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a case of a collective must come to, and how its buffers lie.
 */
#include "config.h"

#include "collective_expect.h"

#include <string.h>

#include "model.h"

enum { GUARD = 64 };

bool expect_is_whole(muster_type type)
{
    return type < MUSTER_FLOAT32 || type == MUSTER_BOOL;
}

double expect_scalar(muster_type type, int rank)
{
    return expect_is_whole(type) ? (rank * 3 + 1) % 7 : 0.3 * (rank + 1) - 0.7;
}

bool expect_sends(const setting *s, int rank)
{
    return s->row->send != NONE && (!(s->row->traits & ROW_SENDS_AT_ROOT) || rank == s->root);
}

bool expect_receives(const setting *s)
{
    if (s->row->traits & ROW_FROM_LEFT)
        return s->n > 1;
    return s->row->receive != NONE &&
           (!(s->row->traits & ROW_RECEIVES_AT_ROOT) || s->rank == s->root);
}

bool expect_concerns(const setting *s, int rank)
{
    if (!expect_sends(s, rank) || rank == s->rank)
        return expect_sends(s, rank);
    return expect_receives(s) &&
           (!(s->row->traits & ROW_FROM_LEFT) || rank == (s->rank + s->n - 1) % s->n);
}

static void expect_reduction(const setting *s, char *const *arrays, char *expected)
{
    size_t size = muster_type_size(s->type), total = row_send_count(s, 0);
    double scalars[ROWS_MOST_RANKS];
    const void *inputs[ROWS_MOST_RANKS];
    for (int r = 0; r < s->n; r++) {
        scalars[r] = expect_scalar(s->type, r);
        inputs[r] = arrays[r];
    }
    size_t first = s->row->send == BLOCKS ? row_send_offset(s, s->rank, s->rank) : 0;
    size_t count = s->row->send == BLOCKS ? row_block(s, s->rank, s->rank) : total;
    for (int r = 0; r < s->n; r++)
        inputs[r] = arrays[r] + first * size;
    model_reduce(expected, inputs, scalars, s->n, count, s->type, s->kind);
}

static void expect_blocks(const setting *s, char *const *arrays, char *expected)
{
    size_t size = muster_type_size(s->type), offset = 0;
    for (int r = 0; r < s->n; r++) {
        if (!expect_sends(s, r) ||
            (s->row->traits & ROW_FROM_LEFT && r != (s->rank + s->n - 1) % s->n))
            continue;
        size_t from = s->row->send == BLOCKS ? row_send_offset(s, r, s->rank) : 0;
        size_t count = s->row->send == BLOCKS ? row_block(s, r, s->rank) : row_send_count(s, r);
        memcpy(expected + offset * size, arrays[r] + from * size, count * size);
        offset += count;
    }
}

void expect_result(const setting *s, char *const *arrays, char *expected)
{
    if (expect_receives(s) && s->row->traits & ROW_REDUCES)
        expect_reduction(s, arrays, expected);
    else if (expect_receives(s))
        expect_blocks(s, arrays, expected);
}

void expect_place(const setting *s, expect_places *places)
{
    size_t size = muster_type_size(s->type);
    size_t sent = size * row_send_count(s, s->rank),
           received = size * row_receive_count(s, s->rank);
    bool in_place = s->form > 0 && expect_sends(s, s->rank) && expect_receives(s);
    size_t apart = (sent + GUARD + 63) / 64 * 64;
    places->bytes = apart + received + GUARD;
    places->send = 0;
    places->receive = in_place ? 0 : apart;
    if (in_place && s->form == 1 && s->row->receive == BLOCKS && s->row->send == ONE)
        places->send = places->receive + size * row_receive_offset(s, s->rank, s->rank);
    if (in_place && s->form == 1 && s->row->send == BLOCKS && s->row->receive == ONE)
        places->receive = places->send + size * row_send_offset(s, s->rank, s->rank);
}
