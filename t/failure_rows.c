/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of the failure matrix.
 */
#include "failure_rows.h"

#include <stdlib.h>

enum { N = FAILURE_RANKS, VICTIM = FAILURE_VICTIM, SMALL = 8, LARGE = 1 << 20, HUGE = 32 << 20 };

#define I MUSTER_INT32

static const size_t counts[N] = {3, 1, 2, 5};
static const size_t mine_of_all[N] = {4, 4, 4, 4};

/* Buffers large enough for all that is done with count elements for each rank. */
typedef struct buffers {
    int32_t *send;
    int32_t *receive;
} buffers;

static buffers get(size_t count)
{
    buffers b = {calloc(count * N, sizeof(int32_t)), calloc(count * N, sizeof(int32_t))};
    if (b.send == NULL || b.receive == NULL)
        abort();
    return b;
}

#define ROW(name, count, text)                                                                     \
    static muster_status name(muster_group *g, int rank, int64_t timeout_ms)                       \
    {                                                                                              \
        buffers b = get(count);                                                                    \
        muster_status status = text;                                                               \
        (void)rank;                                                                                \
        (void)timeout_ms;                                                                          \
        free(b.send);                                                                              \
        free(b.receive);                                                                           \
        return status;                                                                             \
    }
ROW(barrier, 1, muster_barrier(g, NULL))
ROW(broadcast, SMALL, muster_broadcast(g, b.receive, SMALL, I, VICTIM, NULL))
ROW(broadcast_large, LARGE, muster_broadcast(g, b.receive, LARGE, I, VICTIM, NULL))
ROW(reduce, SMALL, muster_reduce(g, b.send, b.receive, SMALL, I, MUSTER_SUM, 0, NULL))
ROW(all_reduce, SMALL, muster_all_reduce(g, b.send, b.receive, SMALL, I, MUSTER_SUM, NULL))
ROW(all_reduce_large, LARGE, muster_all_reduce(g, b.send, b.receive, LARGE, I, MUSTER_SUM, NULL))
ROW(gather, SMALL, muster_gather(g, b.send, b.receive, SMALL, I, 0, NULL))
ROW(gather_v, SMALL, muster_gather_v(g, b.send, counts[rank], b.receive, counts, I, 0, NULL))
ROW(scatter, SMALL, muster_scatter(g, b.send, b.receive, SMALL, I, VICTIM, NULL))
ROW(scatter_v, SMALL, muster_scatter_v(g, NULL, NULL, b.receive, counts[rank], I, VICTIM, NULL))
ROW(all_gather, SMALL, muster_all_gather(g, b.send, b.receive, SMALL, I, NULL))
ROW(all_gather_v, SMALL, muster_all_gather_v(g, b.send, b.receive, counts, I, NULL))
ROW(reduce_scatter, SMALL, muster_reduce_scatter(g, b.send, b.receive, SMALL, I, MUSTER_MAX, NULL))
ROW(reduce_scatter_v, SMALL,
    muster_reduce_scatter_v(g, b.send, b.receive, counts, I, MUSTER_MAX, NULL))
ROW(all_to_all, SMALL, muster_all_to_all(g, b.send, b.receive, SMALL, I, NULL))
ROW(all_to_all_v, SMALL,
    muster_all_to_all_v(g, b.send, mine_of_all, b.receive, mine_of_all, I, NULL))
ROW(send, HUGE / 4, muster_send(g, b.send, HUGE, I, VICTIM, NULL))
ROW(recv, SMALL, muster_recv(g, b.receive, SMALL, I, VICTIM, NULL))
ROW(batch, SMALL,
    muster_batch_send_recv(
        g,
        (const muster_transfer[]){
            {.direction = MUSTER_SENDS, .peer = VICTIM, .count = SMALL, .send = b.send, .type = I},
            {.direction = MUSTER_RECEIVES,
             .peer = VICTIM,
             .count = SMALL,
             .receive = b.receive,
             .type = I}},
        2, NULL))

#define GATHERS(name, mine_type, mine_text, all_type, free_all, text)                              \
    static muster_status name(muster_group *g, int rank, int64_t timeout_ms)                       \
    {                                                                                              \
        all_type *all = NULL;                                                                      \
        const mine_type mine = mine_text;                                                          \
        muster_status status = text;                                                               \
        (void)rank;                                                                                \
        (void)timeout_ms;                                                                          \
        free_all(all);                                                                             \
        return status;                                                                             \
    }
#define NOTHING                                                                                    \
    {                                                                                              \
        0                                                                                          \
    }
GATHERS(all_gather_tokens, muster_token_lists, NOTHING, muster_tokens, muster_tokens_free,
        muster_all_gather_tokens(g, &mine, &all))
GATHERS(gather_tokens, muster_token_lists, NOTHING, muster_tokens, muster_tokens_free,
        muster_gather_tokens(g, &mine, 0, &all))
GATHERS(all_gather_objects, muster_object_list, NOTHING, muster_objects, muster_objects_free,
        muster_all_gather_objects(g, &mine, &all))
GATHERS(gather_objects, muster_object_list, NOTHING, muster_objects, muster_objects_free,
        muster_gather_objects(g, &mine, 0, &all))

#define MAKES(name, text)                                                                          \
    static muster_status name(muster_group *g, int rank, int64_t timeout_ms)                       \
    {                                                                                              \
        static const int ranks[] = {3, 2, 1, 0}, *const lists[] = {ranks};                         \
        static const size_t sizes[] = {N};                                                         \
        muster_group *made = NULL, *other = NULL;                                                  \
        muster_init_args args = MUSTER_INIT_ARGS_INIT;                                             \
        args.group_name = "in init";                                                               \
        args.timeout_ms = timeout_ms;                                                              \
        (void)rank, (void)lists, (void)sizes, (void)g, (void)args;                                 \
        muster_status status = text;                                                               \
        muster_group_free(other);                                                                  \
        muster_group_free(made);                                                                   \
        return status;                                                                             \
    }
MAKES(init, muster_init_process_group(&made, &args))
MAKES(new_group, muster_new_group(g, ranks, N, NULL, &made))
MAKES(enumeration, muster_new_subgroups_by_enumeration(g, lists, sizes, 1, NULL, &made))
MAKES(split, muster_group_split(g, 0, rank, NULL, &made))
MAKES(sub_group, muster_create_sub_group(g, 2, NULL, &made, &other))
MAKES(shrink, muster_group_shrink(g, NULL, 0, NULL, &made))

const struct failure_row failure_rows[] = {
    {"barrier", "muster_barrier", 0, barrier},
    {"broadcast", "muster_broadcast", 0, broadcast},
    {"broadcast_large", "muster_broadcast", 0, broadcast_large},
    {"reduce", "muster_reduce", FAILURE_ROOTED, reduce},
    {"all_reduce", "muster_all_reduce", 0, all_reduce},
    {"all_reduce_large", "muster_all_reduce", 0, all_reduce_large},
    {"gather", "muster_gather", FAILURE_ROOTED, gather},
    {"gather_v", "muster_gather_v", FAILURE_ROOTED, gather_v},
    {"scatter", "muster_scatter", 0, scatter},
    {"scatter_v", "muster_scatter_v", 0, scatter_v},
    {"all_gather", "muster_all_gather", 0, all_gather},
    {"all_gather_v", "muster_all_gather_v", 0, all_gather_v},
    {"reduce_scatter", "muster_reduce_scatter", 0, reduce_scatter},
    {"reduce_scatter_v", "muster_reduce_scatter_v", 0, reduce_scatter_v},
    {"all_to_all", "muster_all_to_all", 0, all_to_all},
    {"all_to_all_v", "muster_all_to_all_v", 0, all_to_all_v},
    {"send", "muster_send", 0, send},
    {"recv", "muster_recv", 0, recv},
    {"batch", "muster_batch_send_recv", 0, batch},
    {"all_gather_tokens", "muster_all_gather_tokens", 0, all_gather_tokens},
    {"gather_tokens", "muster_gather_tokens", 0, gather_tokens},
    {"all_gather_objects", "muster_all_gather_objects", 0, all_gather_objects},
    {"gather_objects", "muster_gather_objects", 0, gather_objects},
    {"new_group", "muster_new_group", FAILURE_MAKES | FAILURE_STORED, new_group},
    {"enumeration", "muster_new_subgroups_by_enumeration", FAILURE_MAKES | FAILURE_STORED,
     enumeration},
    {"split", "muster_group_split", FAILURE_MAKES | FAILURE_STORED, split},
    {"sub_group", "muster_create_sub_group", FAILURE_MAKES | FAILURE_STORED, sub_group},
    {"shrink", "muster_group_shrink", FAILURE_MAKES | FAILURE_STORED, shrink},
    {"init", "rank", FAILURE_MAKES | FAILURE_UNMET, init},
};
const size_t failure_num_rows = sizeof(failure_rows) / sizeof(*failure_rows);
