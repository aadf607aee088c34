/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives whose blocks differ in size, on a backend that carries them out whole: what ranks
 * tell each other before, what the backend is given then, and what is wrong. The backend only keeps
 * what it is asked for, and says what the others would have.
 */
#include "config.h"

#include "collective/bulk_ragged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collective/work.h"
#include "records.h"
#include "tap.h"

enum { RANKS = 3, ME = 1, TIMEOUT_MS = 2000 };

/* ---- a backend ---- */

typedef uint64_t tales[RANKS][2]; /* how much a rank has for another, and the most it has for any */

static struct {
    tales told, heard;
    muster_call moved;
    size_t send_counts[RANKS], send_offsets[RANKS], receive_counts[RANKS];
    int runs;
    int posts;
    bool refuses;
    bool no_memory; /* in what moves the data */
} seen;

static bool fake_can(muster_comm *comm, const muster_call *call)
{
    (void)comm;
    return !seen.refuses || call->uniform;
}

static muster_status fake_run(muster_comm *comm, const muster_call *call)
{
    (void)comm;
    bool tells = call->operation == MUSTER_OPERATION_ALL_TO_ALL && call->uniform;
    seen.runs++;
    if (tells) {
        memcpy(seen.told, call->send, sizeof(tales));
        memcpy(call->receive, seen.heard, sizeof(tales));
        return MUSTER_OK;
    }
    seen.moved = *call;
    if (!call->uniform) {
        memcpy(seen.send_counts, call->send_counts, sizeof(seen.send_counts));
        memcpy(seen.send_offsets, call->send_offsets, sizeof(seen.send_offsets));
        memcpy(seen.receive_counts, call->receive_counts, sizeof(seen.receive_counts));
    }
    return seen.no_memory ? error_set(MUSTER_ERR_NO_MEMORY, "no room for it") : MUSTER_OK;
}

static muster_status fake_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                    size_t size, muster_request **request)
{
    (void)comm, (void)peer, (void)slot, (void)data, (void)size, (void)request;
    seen.posts++;
    return error_set(MUSTER_ERR_UNSUPPORTED, "there are no messages");
}

static muster_status fake_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data,
                                    size_t size, muster_request **request)
{
    return fake_post_send(comm, peer, slot, data, size, request);
}

static void fake_end(muster_comm *comm)
{
    (void)comm;
}

static const muster_backend fake = {.name = "fake",
                                    .run = fake_run,
                                    .can = fake_can,
                                    .post_send = fake_post_send,
                                    .post_recv = fake_post_recv,
                                    .abort = fake_end,
                                    .close = fake_end};
static const backend_entry fake_entry = {.name = "fake", .ops = &fake, .available = true};

static muster_group *make_group(void)
{
    static char comm;
    muster_store *store = NULL;
    muster_group *group = NULL;
    if (muster_store_hash(&store) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    const group_shape shape = {.name = "g",
                               .prefix = "g",
                               .asked = "fake",
                               .store = store,
                               .timeout_ms = TIMEOUT_MS,
                               .rank = ME,
                               .size = RANKS,
                               .parent_size = RANKS,
                               .world_size = RANKS};
    if (group_new(&shape, &group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    muster_store_free(store);
    records_roster(&group->ranks, RANKS, NULL, NULL);
    group->one_host = true;
    group->host.backend = &fake_entry;
    group->host.comm = (muster_comm *)&comm;
    if (work_queue_start(&group->queue, group) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    memset(&seen, 0, sizeof(seen));
    return group;
}

/* ---- the calls ---- */

static int32_t send[16], receive[16];
static const size_t counts[RANKS] = {1, 2, 3}, from[RANKS] = {4, 2, 0}, none[RANKS];

static muster_status call_all_gather_v(muster_group *g)
{
    return muster_all_gather_v(g, send, receive, counts, MUSTER_INT32, NULL);
}

static muster_status call_gather_v(muster_group *g)
{
    return muster_gather_v(g, send, 2, receive, counts, MUSTER_INT32, ME, NULL);
}

static muster_status call_give(muster_group *g)
{
    return muster_gather_v(g, send, 5, NULL, NULL, MUSTER_INT32, 2, NULL);
}

static muster_status call_scatter_v(muster_group *g)
{
    return muster_scatter_v(g, send, counts, receive, 2, MUSTER_INT32, ME, NULL);
}

static muster_status call_take(muster_group *g)
{
    return muster_scatter_v(g, NULL, NULL, receive, 5, MUSTER_INT32, 2, NULL);
}

static muster_status call_reduce_scatter_v(muster_group *g)
{
    return muster_reduce_scatter_v(g, send, receive, counts, MUSTER_INT32, MUSTER_MAX, NULL);
}

static muster_status call_all_to_all_v(muster_group *g)
{
    return muster_all_to_all_v(g, send, counts, receive, from, MUSTER_INT32, NULL);
}

static const struct {
    const char *name;
    muster_status (*call)(muster_group *);
    muster_operation operation;
    int root;
    uint64_t told[RANKS], most;  /* by this rank */
    uint64_t heard[RANKS], more; /* from the others; the most of rank 2 */
    size_t largest;
} rows[] = {
    {"all_gather_v",
     call_all_gather_v,
     MUSTER_OPERATION_ALL_GATHER,
     -1,
     {2, 2, 2},
     2,
     {1, 2, 3},
     3,
     3},
    {"gather_v to it", call_gather_v, MUSTER_OPERATION_GATHER, ME, {0, 2, 0}, 2, {1, 2, 3}, 3, 3},
    {"gather_v from it", call_give, MUSTER_OPERATION_GATHER, 2, {0, 5, 5}, 5, {0, 5, 0}, 2, 5},
    {"scatter_v from it",
     call_scatter_v,
     MUSTER_OPERATION_SCATTER,
     ME,
     {1, 2, 3},
     3,
     {0, 2, 0},
     0,
     3},
    {"scatter_v to it", call_take, MUSTER_OPERATION_SCATTER, 2, {0, 0, 0}, 0, {0, 0, 5}, 9, 9},
    {"reduce_scatter_v",
     call_reduce_scatter_v,
     MUSTER_OPERATION_REDUCE_SCATTER,
     -1,
     {1, 2, 3},
     3,
     {2, 2, 2},
     3,
     3},
    {"all_to_all_v",
     call_all_to_all_v,
     MUSTER_OPERATION_ALL_TO_ALL,
     -1,
     {1, 2, 3},
     3,
     {4, 2, 0},
     7,
     7},
};
enum { NUM_ROWS = sizeof(rows) / sizeof(*rows) };

/* The others say what fits the call. */
static void hear(size_t row)
{
    for (int r = 0; r < RANKS; r++) {
        seen.heard[r][0] = rows[row].heard[r];
        seen.heard[r][1] = r == 2 ? rows[row].more : r == ME ? rows[row].most : 0;
    }
}

static bool has_told(size_t row)
{
    for (int r = 0; r < RANKS; r++)
        if (seen.told[r][0] != rows[row].told[r] || seen.told[r][1] != rows[row].most)
            return false;
    return true;
}

static void given(size_t row)
{
    muster_group *group = make_group();
    bool good = true;
    hear(row);
    is_int(rows[row].call(group), MUSTER_OK, "%s", rows[row].name);
    is_int(seen.runs, 2, "in two operations");
    ok(has_told(row), "of which one tells how much there is");
    ok(seen.moved.operation == rows[row].operation && !seen.moved.uniform &&
           seen.moved.root == rows[row].root && seen.moved.count == rows[row].largest,
       "and one moves it, with the largest block of all ranks: %zu", seen.moved.count);
    for (int r = 0; r < RANKS; r++)
        good = good && seen.send_counts[r] == rows[row].told[r] &&
               (r == ME || seen.receive_counts[r] == rows[row].heard[r]);
    ok(good, "and with the counts of blocks");
    muster_group_free(group);
}

/* What is sent is put aside: what comes may be of other sizes. */
static void in_place(void)
{
    muster_group *group = make_group();
    hear(NUM_ROWS - 1);
    is_int(muster_all_to_all_v(group, receive, counts, receive, from, MUSTER_INT32, NULL),
           MUSTER_OK, "all_to_all_v in place");
    ok(seen.moved.send != receive && seen.moved.receive == receive, "sends from elsewhere");
    ok(seen.send_offsets[1] == 1 && seen.send_offsets[2] == 3, "from one block after the other");
    muster_group_free(group);
}

/* ---- what is wrong ---- */

static void disagree(void)
{
    muster_group *group = make_group();
    hear(0);
    seen.heard[2][0] = 4;
    is_int(call_all_gather_v(group), MUSTER_ERR_MISMATCH, "a rank that has something else");
    has_str(muster_last_error(), "rank 2", "is named");
    has_str(muster_last_error(), "has 4 int32 for rank 1, which expects 3", "with both counts");
    is_int(seen.runs, 1, "before anything moves");
    is_int(call_all_gather_v(group), MUSTER_ERR_MISMATCH, "the group has failed");
    muster_group_free(group);
}

static void fails(void)
{
    muster_group *group = make_group();
    hear(0);
    seen.no_memory = true;
    is_int(call_all_gather_v(group), MUSTER_ERR_NO_MEMORY, "a failure of the second operation");
    has_str(muster_last_error(), "no room for it", "is handed on");
    muster_group_free(group);
}

static void empty(void)
{
    muster_group *group = make_group();
    is_int(muster_all_gather_v(group, NULL, NULL, none, MUSTER_INT32, NULL), MUSTER_OK,
           "where no rank has anything");
    is_int(seen.runs, 1, "nothing moves");
    muster_group_free(group);
}

static void by_messages(void)
{
    muster_group *group = make_group();
    seen.refuses = true;
    is_int(call_all_gather_v(group), MUSTER_ERR_UNSUPPORTED,
           "what the backend has for like blocks alone goes by messages");
    ok(seen.runs == 1 && seen.moved.operation == MUSTER_OPERATION_BARRIER && seen.posts == 1,
       "behind a barrier");
    muster_group_free(group);
    group = make_group();
    group->device.backend = &fake_entry;
    ok(!bulk_ragged_serves(group, MUSTER_OPERATION_ALL_GATHER),
       "as do all such calls in a group with devices");
    group->device.backend = NULL;
    muster_group_free(group);
}

/* ---- gathers ---- */

static void gathers(void)
{
    static char mine[2], all[6];
    size_t bytes[RANKS] = {1, 2, 3}, offsets[RANKS] = {0, 1, 3};
    const layout blocks = {bytes, offsets, bytes};
    muster_group *group = make_group();
    message_label label = {.kind = MESSAGE_GATHER_TOKENS, .root = -1, .sequence = 1};
    is_int(bulk_ragged_gather(group, &label, mine, all, &blocks, deadline_in(TIMEOUT_MS)),
           MUSTER_OK, "a gather of blocks that all know");
    ok(seen.runs == 1 && seen.moved.operation == MUSTER_OPERATION_ALL_GATHER, "is one operation");
    ok(seen.moved.count == 3 && seen.moved.send == mine && seen.moved.receive == all,
       "with the largest block, straight into the result");
    label.root = 2;
    bulk_ragged_gather(group, &label, mine, mine, &blocks, deadline_in(TIMEOUT_MS));
    ok(seen.moved.operation == MUSTER_OPERATION_GATHER && seen.moved.receive == NULL,
       "to another rank nothing comes here");
    memset(bytes, 0, sizeof(bytes));
    is_int(bulk_ragged_gather(group, &label, mine, mine, &blocks, deadline_in(TIMEOUT_MS)),
           MUSTER_OK, "one of nothing");
    is_int(seen.runs, 2, "is no operation at all");
    muster_group_free(group);
}

int main(void)
{
    plan(5 * NUM_ROWS + 3 + 5 + 2 + 2 + 3 + 6);
    for (size_t i = 0; i < NUM_ROWS; i++)
        given(i);
    in_place();
    disagree();
    fails();
    empty();
    by_messages();
    gathers();
    return done();
}
