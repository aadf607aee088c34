/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives as the model sees them.
 */
#include "config.h"

#include "collective_rows.h"

#include "model.h"

size_t row_block(const setting *s, int from, int to)
{
    int ragged = s->row->traits & (ROW_BY_SOURCE | ROW_BY_TARGET);
    uint64_t where = 0;
    if (ragged == 0)
        return s->count;
    if (ragged & ROW_BY_SOURCE)
        where = model_hash(s->seed, (uint64_t)from);
    if (ragged & ROW_BY_TARGET)
        where = model_hash(where, (uint64_t)to);
    return where % 4 == 0 ? 0 : s->count == 0 ? where % 3 : where % (2 * s->count + 1);
}

size_t row_send_offset(const setting *s, int rank, int to)
{
    size_t offset = 0;
    for (int r = 0; r < to; r++)
        offset += row_block(s, rank, r);
    return offset;
}

size_t row_receive_offset(const setting *s, int rank, int from)
{
    size_t offset = 0;
    for (int r = 0; r < from; r++)
        offset += row_block(s, r, rank);
    return offset;
}

size_t row_send_count(const setting *s, int rank)
{
    if (s->row->send == BLOCKS)
        return row_send_offset(s, rank, s->n);
    return row_block(s, rank, rank);
}

size_t row_receive_count(const setting *s, int rank)
{
    if (s->row->receive == BLOCKS)
        return row_receive_offset(s, rank, s->n);
    return row_block(s, rank, rank);
}

/* The counts of what this rank receives, or sends. */
static const size_t *counts_from(const setting *s, size_t *counts)
{
    for (int r = 0; r < s->n; r++)
        counts[r] = row_block(s, r, s->rank);
    return counts;
}

static const size_t *counts_to(const setting *s, size_t *counts)
{
    for (int r = 0; r < s->n; r++)
        counts[r] = row_block(s, s->rank, r);
    return counts;
}

#define CALL(name) static muster_status name(const setting *s, const void *send, void *receive)

CALL(call_barrier)
{
    (void)send, (void)receive;
    return muster_barrier(s->group, NULL);
}

CALL(call_broadcast)
{
    (void)send;
    return muster_broadcast(s->group, receive, s->count, s->type, s->root, NULL);
}

CALL(call_reduce)
{
    return muster_reduce(s->group, send, receive, s->count, s->type, s->redop, s->root, NULL);
}

CALL(call_all_reduce)
{
    return muster_all_reduce(s->group, send, receive, s->count, s->type, s->redop, NULL);
}

CALL(call_gather)
{
    return muster_gather(s->group, send, receive, s->count, s->type, s->root, NULL);
}

CALL(call_gather_v)
{
    size_t counts[ROWS_MOST_RANKS];
    return muster_gather_v(s->group, send, row_send_count(s, s->rank), receive,
                           s->rank == s->root ? counts_from(s, counts) : NULL, s->type, s->root,
                           NULL);
}

CALL(call_scatter)
{
    return muster_scatter(s->group, send, receive, s->count, s->type, s->root, NULL);
}

CALL(call_scatter_v)
{
    size_t counts[ROWS_MOST_RANKS];
    return muster_scatter_v(s->group, send, s->rank == s->root ? counts_to(s, counts) : NULL,
                            receive, row_receive_count(s, s->rank), s->type, s->root, NULL);
}

CALL(call_all_gather)
{
    return muster_all_gather(s->group, send, receive, s->count, s->type, NULL);
}

CALL(call_all_gather_v)
{
    size_t counts[ROWS_MOST_RANKS];
    return muster_all_gather_v(s->group, send, receive, counts_from(s, counts), s->type, NULL);
}

CALL(call_reduce_scatter)
{
    return muster_reduce_scatter(s->group, send, receive, s->count, s->type, s->redop, NULL);
}

CALL(call_reduce_scatter_v)
{
    size_t counts[ROWS_MOST_RANKS];
    return muster_reduce_scatter_v(s->group, send, receive, counts_to(s, counts), s->type, s->redop,
                                   NULL);
}

CALL(call_all_to_all)
{
    return muster_all_to_all(s->group, send, receive, s->count, s->type, NULL);
}

CALL(call_all_to_all_v)
{
    size_t to[ROWS_MOST_RANKS], from[ROWS_MOST_RANKS];
    return muster_all_to_all_v(s->group, send, counts_to(s, to), receive, counts_from(s, from),
                               s->type, NULL);
}

/* Round the ring with a handle on each side. */
CALL(call_send_recv)
{
    muster_work *in = NULL, *out = NULL;
    if (s->n == 1)
        return MUSTER_OK;
    muster_status status =
        muster_recv(s->group, receive, s->count, s->type, (s->rank + s->n - 1) % s->n, &in);
    if (status == MUSTER_OK)
        status = muster_send(s->group, send, s->count, s->type, (s->rank + 1) % s->n, &out);
    if (status == MUSTER_OK)
        status = muster_work_wait(out, MUSTER_TIMEOUT_DEFAULT);
    if (status == MUSTER_OK)
        status = muster_work_wait(in, MUSTER_TIMEOUT_DEFAULT);
    muster_work_free(in);
    muster_work_free(out);
    return status;
}

/* An all_to_all_v as a batch, in another order on every rank, without a handle or with one. */
CALL(call_batch)
{
    enum { MOST = 2 * ROWS_MOST_RANKS };
    muster_transfer list[MOST];
    size_t size = muster_type_size(s->type), count = 0;
    for (int r = 0; r < s->n; r++) {
        list[count++] =
            (muster_transfer){.direction = MUSTER_SENDS,
                              .peer = r,
                              .count = row_block(s, s->rank, r),
                              .type = s->type,
                              .send = (const char *)send + size * row_send_offset(s, s->rank, r)};
        list[count++] = (muster_transfer){.direction = MUSTER_RECEIVES,
                                          .peer = r,
                                          .count = row_block(s, r, s->rank),
                                          .type = s->type,
                                          .receive = (char *)receive +
                                                     size * row_receive_offset(s, s->rank, r)};
    }
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = model_hash(s->seed + (uint64_t)s->rank, i) % (i + 1);
        muster_transfer kept = list[i];
        list[i] = list[other];
        list[other] = kept;
    }
    muster_work *work = NULL;
    if (model_hash(s->seed, 99) % 2 == 0)
        return muster_batch_send_recv(s->group, list, count, NULL);
    muster_status status = muster_batch_send_recv(s->group, list, count, &work);
    if (status == MUSTER_OK)
        status = muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT);
    muster_work_free(work);
    return status;
}

const row rows[] = {
    {"barrier", NONE, NONE, 0, 1, call_barrier},
    {"broadcast", ONE, ONE, ROW_ROOTED | ROW_SENDS_AT_ROOT | ROW_ONE_BUFFER, 1, call_broadcast},
    {"reduce", ONE, ONE, ROW_REDUCES | ROW_ROOTED | ROW_RECEIVES_AT_ROOT, 2, call_reduce},
    {"all_reduce", ONE, ONE, ROW_REDUCES, 2, call_all_reduce},
    {"gather", ONE, BLOCKS, ROW_ROOTED | ROW_RECEIVES_AT_ROOT, 2, call_gather},
    {"gather_v", ONE, BLOCKS, ROW_ROOTED | ROW_RECEIVES_AT_ROOT | ROW_BY_SOURCE, 2, call_gather_v},
    {"scatter", BLOCKS, ONE, ROW_ROOTED | ROW_SENDS_AT_ROOT, 3, call_scatter},
    {"scatter_v", BLOCKS, ONE, ROW_ROOTED | ROW_SENDS_AT_ROOT | ROW_BY_TARGET, 3, call_scatter_v},
    {"all_gather", ONE, BLOCKS, 0, 2, call_all_gather},
    {"all_gather_v", ONE, BLOCKS, ROW_BY_SOURCE, 2, call_all_gather_v},
    {"reduce_scatter", BLOCKS, ONE, ROW_REDUCES, 3, call_reduce_scatter},
    {"reduce_scatter_v", BLOCKS, ONE, ROW_REDUCES | ROW_BY_TARGET, 3, call_reduce_scatter_v},
    {"all_to_all", BLOCKS, BLOCKS, 0, 2, call_all_to_all},
    {"all_to_all_v", BLOCKS, BLOCKS, ROW_BY_SOURCE | ROW_BY_TARGET, 2, call_all_to_all_v},
    {"send and recv", ONE, ONE, ROW_FROM_LEFT, 1, call_send_recv},
    {"batch", BLOCKS, BLOCKS, ROW_BY_SOURCE | ROW_BY_TARGET, 1, call_batch},
};
const int num_rows = sizeof(rows) / sizeof(*rows);
