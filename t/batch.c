/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Batches of messages: no order of them, here or among ranks, is a deadlock.
 */
#include "config.h"

#include "grouptest.h"

#include <stdlib.h>
#include <string.h>

enum { T = 10000, LONG = 300000, MANY = 40 };

static int32_t out[LONG], in[3][LONG];

static muster_transfer sends(int peer, const void *data, size_t count)
{
    return (muster_transfer){.direction = MUSTER_SENDS,
                             .peer = peer,
                             .count = count,
                             .type = MUSTER_INT32,
                             .send = data};
}

static muster_transfer receives(int peer, void *data, size_t count)
{
    return (muster_transfer){.direction = MUSTER_RECEIVES,
                             .peer = peer,
                             .count = count,
                             .type = MUSTER_INT32,
                             .receive = data};
}

static void fill(int rank)
{
    for (int i = 0; i < LONG; i++)
        out[i] = rank * LONG + i;
}

static bool came_from(const int32_t *data, int rank)
{
    for (int i = 0; i < LONG; i++)
        if (data[i] != rank * LONG + i)
            return false;
    return true;
}

/* Rank 2 sends to rank 0, and only then what rank 1 waits for before it sends to rank 0, where it
 * is received first. */
static void one_after_the_other(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    fill(rank);
    muster_status status;
    if (rank == 0) {
        muster_transfer both[] = {receives(1, in[1], LONG), receives(2, in[2], LONG)};
        status = muster_batch_send_recv(group, both, 2, NULL);
    } else if (rank == 1) {
        status = muster_recv(group, in[2], LONG, MUSTER_INT32, 2, NULL);
        if (status == MUSTER_OK)
            status = muster_send(group, out, LONG, MUSTER_INT32, 0, NULL);
    } else {
        status = muster_send(group, out, LONG, MUSTER_INT32, 0, NULL);
        if (status == MUSTER_OK)
            status = muster_send(group, out, LONG, MUSTER_INT32, 1, NULL);
    }
    is_status(status, MUSTER_OK, "all end");
    ok((rank == 2 || came_from(in[2], 2)) && (rank != 0 || came_from(in[1], 1)), "and are right");
    ranks_barrier();
    muster_group_free(group);
}

/* All send first in blocking order of the list, long messages, to everybody. */
static void sends_first(int rank, int size)
{
    muster_group *group = world_of("world", T);
    muster_transfer list[6];
    size_t count = 0;
    fill(rank);
    for (int r = 0; r < size; r++)
        list[count++] = sends((rank + r) % size, out, LONG);
    for (int r = 0; r < size; r++)
        list[count++] = receives(r, in[r], LONG);
    is_status(muster_batch_send_recv(group, list, count, NULL), MUSTER_OK, "sends, then receives");
    ok(came_from(in[0], 0) && came_from(in[1], 1) && came_from(in[2], 2), "are right");
    memset(in, 0, sizeof(in));
    for (size_t i = 0; i < count / 2; i++) {
        muster_transfer kept = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = kept;
    }
    is_status(muster_batch_send_recv(group, list, count, NULL), MUSTER_OK, "and the other way");
    ok(came_from(in[0], 0) && came_from(in[1], 1) && came_from(in[2], 2), "are right too");
    ranks_barrier();
    muster_group_free(group);
}

/* Many messages with one peer keep their order, also with those of send and recv. */
static void in_order(int rank, int size)
{
    muster_group *group = world_of("world", T);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    muster_transfer list[2 * MANY];
    int32_t numbers[MANY + 1], got[MANY + 1];
    for (int i = 0; i <= MANY; i++)
        numbers[i] = rank * 1000 + i;
    for (int i = 0; i < MANY; i++) {
        list[2 * i] = sends(next, &numbers[i], 1);
        list[2 * i + 1] = receives(before, &got[i], 1);
    }
    muster_work *batch = NULL, *single = NULL;
    is_status(muster_batch_send_recv(group, list, 2 * MANY, &batch), MUSTER_OK, "a batch");
    is_status(muster_recv(group, &got[MANY], 1, MUSTER_INT32, before, &single), MUSTER_OK,
              "and one more");
    is_status(muster_send(group, &numbers[MANY], 1, MUSTER_INT32, next, NULL), MUSTER_OK, "sent");
    muster_status status = muster_work_wait(single, T);
    if (status == MUSTER_OK)
        status = muster_work_wait(batch, T);
    is_status(status, MUSTER_OK, "all end");
    bool right = true;
    for (int i = 0; i <= MANY; i++)
        right = right && got[i] == before * 1000 + i;
    ok(right, "in their order");
    muster_work_free(batch);
    muster_work_free(single);
    ranks_barrier();
    muster_group_free(group);
}

static void alone(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *group = world_of("world", T);
    int32_t from[] = {7, 8}, to[2] = {0};
    muster_transfer list[] = {receives(0, &to[0], 1), sends(0, &from[0], 1), sends(0, &from[1], 1),
                              receives(0, &to[1], 1)};
    muster_work *work = NULL;
    is_status(muster_batch_send_recv(group, list, 4, NULL), MUSTER_OK, "to oneself");
    ok(to[0] == 7 && to[1] == 8, "in order");
    to[0] = to[1] = 0;
    is_status(muster_batch_send_recv(group, list, 4, &work), MUSTER_OK, "and with a handle");
    is_status(muster_work_wait(work, T), MUSTER_OK, "that ends");
    ok(to[0] == 7 && to[1] == 8, "the same");
    muster_work_free(work);
    muster_group_free(group);
}

/* What does not fit ends the batch on both sides, with all its other messages. */
static void disagreement(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    int64_t began = now_ms();
    muster_transfer list[] = {sends((rank + 1) % 3, out, LONG),
                              receives((rank + 2) % 3, in[0], rank == 2 ? LONG - 1 : LONG),
                              receives((rank + 1) % 3, in[1], 5)};
    muster_status status = muster_batch_send_recv(group, list, 3, NULL);
    is_status(status, MUSTER_ERR_MISMATCH, "it ends");
    ok(in_time(began, 2000), "at once");
    has_str(muster_last_error(), "of 300000 int32", "with what was sent");
    has_str(muster_last_error(), "of 299999 int32", "and what was to be received");
    is_status(muster_barrier(group, NULL), MUSTER_ERR_MISMATCH, "the group has failed");
    ranks_barrier();
    muster_group_free(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "chain", .size = 3, .points = 2, .body = one_after_the_other, .silent = true},
        {.name = "sends first", .size = 3, .points = 4, .body = sends_first, .silent = true},
        {.name = "order", .size = 3, .points = 5, .body = in_order, .silent = true},
        {.name = "alone", .size = 1, .points = 5, .body = alone, .silent = true},
        {.name = "disagreement", .size = 3, .points = 5, .body = disagreement, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
