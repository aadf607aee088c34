/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives that a backend of host memory carries out whole: what it is given, what is made of
 * its failures, and what a call costs before it. The backend only keeps what it is asked for.
 */
#include "config.h"

#include "collective/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/error.h"
#include "collective/work.h"
#include "records.h"
#include "tap.h"

enum { RANKS = 3, TIMEOUT_MS = 2000, MANY = 20000 };

/* ---- a backend ---- */

static struct {
    muster_call call;
    unsigned char label[MUSTER_LABEL_MAX];
    int runs;
    int posts;
    bool refuses;
    muster_status status;
    const char *sentence;
    int other;
    const unsigned char *other_label;
} seen;

static bool fake_can(muster_comm *comm, const muster_call *call)
{
    (void)comm;
    return call->uniform && (!seen.refuses || call->operation == MUSTER_OPERATION_BARRIER);
}

static muster_status fake_run(muster_comm *comm, const muster_call *call)
{
    (void)comm;
    seen.call = *call;
    seen.runs++;
    memcpy(seen.label, call->label, call->label_size);
    if (seen.status == MUSTER_OK)
        return MUSTER_OK;
    *call->other_rank = seen.other;
    if (seen.other_label != NULL)
        memcpy(call->other_label, seen.other_label, call->label_size);
    return error_set(seen.status, "%s", seen.sentence);
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

static void fake_abort(muster_comm *comm)
{
    (void)comm;
}

static const muster_backend fake = {.name = "fake",
                                    .run = fake_run,
                                    .can = fake_can,
                                    .post_send = fake_post_send,
                                    .post_recv = fake_post_recv,
                                    .abort = fake_abort,
                                    .close = fake_abort};
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
                               .rank = 1,
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

/* ---- what it is given ---- */

static int32_t send[2 * RANKS], receive[2 * RANKS];

static muster_status call_barrier(muster_group *g)
{
    return muster_barrier(g, NULL);
}

static muster_status call_broadcast(muster_group *g)
{
    return muster_broadcast(g, receive, 2, MUSTER_INT32, 2, NULL);
}

static muster_status call_reduce(muster_group *g)
{
    return muster_reduce(g, send, NULL, 2, MUSTER_INT32, MUSTER_MAX, 2, NULL);
}

static muster_status call_all_reduce(muster_group *g)
{
    return muster_all_reduce(g, send, receive, 2, MUSTER_INT32, MUSTER_SUM, NULL);
}

static muster_status call_gather(muster_group *g)
{
    return muster_gather(g, send, receive, 2, MUSTER_INT32, 1, NULL);
}

static muster_status call_scatter(muster_group *g)
{
    return muster_scatter(g, NULL, receive, 2, MUSTER_INT32, 0, NULL);
}

static muster_status call_all_gather(muster_group *g)
{
    return muster_all_gather(g, send, receive, 2, MUSTER_INT32, NULL);
}

static muster_status call_reduce_scatter(muster_group *g)
{
    return muster_reduce_scatter(g, send, receive, 2, MUSTER_INT32, MUSTER_MIN, NULL);
}

static muster_status call_all_to_all(muster_group *g)
{
    return muster_all_to_all(g, send, receive, 2, MUSTER_INT32, NULL);
}

static const struct {
    const char *name;
    muster_status (*call)(muster_group *);
    muster_call expected;
} calls[] = {
    {"barrier", call_barrier, {.operation = MUSTER_OPERATION_BARRIER, .root = -1}},
    {"broadcast",
     call_broadcast,
     {.operation = MUSTER_OPERATION_BROADCAST,
      .root = 2,
      .count = 2,
      .send = receive,
      .receive = receive}},
    {"reduce",
     call_reduce,
     {.operation = MUSTER_OPERATION_REDUCE,
      .root = 2,
      .count = 2,
      .send = send,
      .redop = MUSTER_MAX}},
    {"all_reduce",
     call_all_reduce,
     {.operation = MUSTER_OPERATION_ALL_REDUCE,
      .root = -1,
      .count = 2,
      .send = send,
      .receive = receive,
      .redop = MUSTER_SUM}},
    {"gather",
     call_gather,
     {.operation = MUSTER_OPERATION_GATHER,
      .root = 1,
      .count = 2,
      .send = send,
      .receive = receive}},
    {"scatter",
     call_scatter,
     {.operation = MUSTER_OPERATION_SCATTER, .root = 0, .count = 2, .receive = receive}},
    {"all_gather",
     call_all_gather,
     {.operation = MUSTER_OPERATION_ALL_GATHER,
      .root = -1,
      .count = 2,
      .send = send,
      .receive = receive}},
    {"reduce_scatter",
     call_reduce_scatter,
     {.operation = MUSTER_OPERATION_REDUCE_SCATTER,
      .root = -1,
      .count = 2,
      .send = send,
      .receive = receive,
      .redop = MUSTER_MIN}},
    {"all_to_all",
     call_all_to_all,
     {.operation = MUSTER_OPERATION_ALL_TO_ALL,
      .root = -1,
      .count = 2,
      .send = send,
      .receive = receive}},
};
enum { NUM_CALLS = sizeof(calls) / sizeof(*calls) };

static void given(void)
{
    muster_group *group = make_group();
    for (int i = 0; i < NUM_CALLS; i++) {
        const muster_call *expected = &calls[i].expected, *call = &seen.call;
        is_int(calls[i].call(group), MUSTER_OK, "%s", calls[i].name);
        is_int(seen.runs, i + 1, "runs whole");
        ok(call->operation == expected->operation && call->count == expected->count &&
               call->root == expected->root && call->send == expected->send &&
               call->receive == expected->receive && call->redop == expected->redop &&
               call->uniform,
           "with its arguments");
        ok(call->label_size > 0 && call->label_size <= MUSTER_LABEL_MAX && call->timeout_ms > 0 &&
               call->timeout_ms <= TIMEOUT_MS + 20,
           "a label and a time-out");
    }
    muster_group_free(group);
}

/* The label tells calls apart that differ in anything that must be alike. */
static void labels(void)
{
    unsigned char labels[4][MUSTER_LABEL_MAX];
    for (int i = 0; i < 4; i++) {
        muster_group *group = make_group();
        muster_broadcast(group, receive, i == 1 ? 1 : 2, i == 2 ? MUSTER_FLOAT32 : MUSTER_INT32,
                         i == 3, NULL);
        memcpy(labels[i], seen.label, sizeof(seen.label));
        muster_group_free(group);
    }
    for (int i = 1; i < 4; i++)
        ok(memcmp(labels[0], labels[i], sizeof(labels[0])) != 0, "labels differ: %d", i);
}

static void by_messages(void)
{
    static const size_t counts[RANKS] = {1, 2, 3};
    muster_group *group = make_group();
    is_int(muster_all_gather_v(group, send, receive, counts, MUSTER_INT32, NULL),
           MUSTER_ERR_UNSUPPORTED, "what it has not for unlike blocks goes by messages");
    ok(seen.runs == 1 && seen.call.operation == MUSTER_OPERATION_BARRIER && seen.posts == 1,
       "behind a barrier");
    muster_group_free(group);
    group = make_group();
    seen.refuses = true;
    is_int(call_all_reduce(group), MUSTER_ERR_UNSUPPORTED, "so does what the backend can't do");
    ok(seen.runs == 1 && seen.call.operation == MUSTER_OPERATION_BARRIER && seen.posts == 1,
       "behind a barrier too");
    muster_group_free(group);
}

/* ---- failures ---- */

static const struct {
    muster_status status;
    const char *sentence;
    int other;
    const char *words;
} failures[] = {
    {MUSTER_ERR_TIMEOUT, "late", -1, "timed out after 2000 ms in all_reduce #1 of 2 int32, sum"},
    {MUSTER_ERR_NO_MEMORY, "no room for it", -1, "no room for it"},
    {MUSTER_ERR_MISMATCH, "labels differ", 2,
     "the ranks disagree: rank 1 calls all_reduce #1 of 2 int32, sum, but rank 2 "},
    {MUSTER_ERR_MISMATCH, "labels differ", -1,
     "the ranks disagree in all_reduce #1 of 2 int32, sum: others have made other calls"},
};
enum { NUM_FAILURES = sizeof(failures) / sizeof(*failures) };

static void fails(size_t i)
{
    unsigned char other[MUSTER_LABEL_MAX];
    muster_group *group = make_group();
    call_barrier(group);
    memcpy(other, seen.label, sizeof(other));
    muster_group_free(group);
    group = make_group();
    seen.other_label = other;
    seen.status = failures[i].status;
    seen.sentence = failures[i].sentence;
    seen.other = failures[i].other;
    is_int(call_all_reduce(group), failures[i].status, "%s", failures[i].sentence);
    has_str(muster_last_error(), failures[i].words, "in words");
    if (failures[i].other >= 0)
        has_str(muster_last_error(), "calls barrier #1", "on both sides");
    else
        ok(true, "nobody else is named");
    int runs = seen.runs;
    is_int(call_all_reduce(group), failures[i].status, "the group has failed");
    is_int(seen.runs, runs, "and runs no more");
    muster_group_free(group);
}

/* A rank that did not wait for others finds what they called later, and quotes its own call of
 * then.
 */
static void earlier(void)
{
    unsigned char other[MUSTER_LABEL_MAX];
    muster_group *group = make_group();
    call_broadcast(group);
    memcpy(other, seen.label, sizeof(other));
    muster_group_free(group);
    group = make_group();
    call_gather(group);
    seen.other_label = other;
    seen.other = 2;
    seen.status = MUSTER_ERR_MISMATCH;
    seen.sentence = "labels differ";
    is_int(call_all_reduce(group), MUSTER_ERR_MISMATCH, "labels of an earlier operation differ");
    has_str(muster_last_error(),
            "the ranks disagree: rank 1 called gather #1 of 2 int32, root 1, but rank 2 ",
            "this rank's is quoted");
    has_str(muster_last_error(), ") called broadcast #1 of 2 int32, root 2; every", "and theirs");
    muster_group_free(group);
}

/* A rank that has found nothing itself says what another has found. */
static void told(void)
{
    muster_group *group = make_group();
    seen.status = MUSTER_ERR_MISMATCH;
    seen.sentence = "others disagree";
    seen.other = -1;
    char cause[64];
    snprintf(cause, sizeof(cause), "%d 2 the ranks disagree: rank 2 knows more",
             MUSTER_ERR_MISMATCH);
    muster_store_set(group->store, muster_str("g/failure"), muster_str(cause));
    is_int(call_all_reduce(group), MUSTER_ERR_MISMATCH, "others disagree");
    has_str(muster_last_error(), "the ranks disagree: rank 2 knows more", "and one knows more");
    muster_group_free(group);
}

/* ---- what it costs ---- */

/* Nothing is moved here: this is what the core takes for a call. */
static void costs(void)
{
    muster_group *group = make_group();
    int64_t best = INT64_MAX;
    for (int round = 0; round < 5; round++) {
        int64_t began = deadline_now_ns();
        for (int i = 0; i < MANY; i++)
            call_all_reduce(group);
        int64_t took = (deadline_now_ns() - began) / MANY;
        best = took < best ? took : best;
    }
    diag("%lld ns a call", (long long)best);
    ok(best < 10000, "a call takes no switch of threads");
    muster_group_free(group);
}

int main(void)
{
    plan(4 * NUM_CALLS + 3 + 4 + 5 * NUM_FAILURES + 5 + 1);
    given();
    labels();
    by_messages();
    for (size_t i = 0; i < NUM_FAILURES; i++)
        fails(i);
    earlier();
    told();
    costs();
    return done();
}
