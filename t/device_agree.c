/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups with devices whose ranks are out of step: what is muster's own is never taken for what is
 * the caller's, nor the other way round, MUSTER_CHECK finds what differs, and a rank that has
 * nothing to move may give NULL. On the stand-in for hardware.
 */
#include "config.h"

#include "gpu_memory.h"
#include "grouptest.h"
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, SHORT = 1500, BOTH = 2, ROOM = 64 };

static const char *const asked[BOTH] = {"nccl", "cpu:gloo,cuda:nccl"};

static muster_group *group_on(const char *name, const char *backend, int64_t timeout_ms)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = name;
    args.backend = backend;
    args.timeout_ms = (int64_t)((double)timeout_ms * ranks_time_factor());
    return group_of(&args);
}

static void leave(muster_group *group)
{
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

static void set(int32_t *there, int32_t value)
{
    int32_t here[ROOM];
    for (int i = 0; i < ROOM; i++)
        here[i] = value;
    gpu_put(there, here, sizeof(here));
}

static int32_t get(const int32_t *there)
{
    int32_t here[ROOM];
    gpu_get(here, there, sizeof(here));
    return here[0];
}

/* Device memory is summed up, and messages find every rank in its place. */
static bool works(muster_group *group, int32_t *there)
{
    set(there, 1);
    return muster_all_reduce(group, there, there, 1, MUSTER_INT32, MUSTER_SUM, NULL) == MUSTER_OK &&
           get(there) == muster_group_size(group) && group_works(group);
}

/* ---- two channels ---- */

/* A receive waits while a barrier passes, which has messages of its own. */
static void passing(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < BOTH; b++) {
        muster_group *group = group_on(asked[b], asked[b], T);
        muster_work *work = NULL;
        muster_status status = MUSTER_OK;
        set(there, rank == 1 ? 77 : 0);
        if (rank == 0)
            status = muster_recv(group, there, 4, MUSTER_INT32, 1, &work);
        is_status(status, MUSTER_OK, "%s: a receive begins", asked[b]);
        is_status(muster_barrier(group, NULL), MUSTER_OK, "a barrier passes it");
        status = rank == 1 ? muster_send(group, there, 4, MUSTER_INT32, 0, NULL)
                           : muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT);
        is_status(status, MUSTER_OK, "then it is served");
        is_int(get(there), 77, "with what was sent");
        ok(works(group, there), "and the group works");
        muster_work_free(work);
        leave(group);
    }
    gpu_free(GPU_DEVICE, there);
}

/* Without MUSTER_CHECK: memory of two kinds goes two ways, on which nothing else is met. That it
 * was of two kinds is found when the time is over. */
static void two_kinds(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    int32_t here[ROOM] = {0}, *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < BOTH; b++) {
        muster_group *group = group_on(asked[b], asked[b], SHORT);
        int32_t *buffer = rank == 1 ? here : there;
        is_status(muster_all_reduce(group, buffer, buffer, 4, MUSTER_INT32, MUSTER_SUM, NULL),
                  MUSTER_ERR_MISMATCH, "%s: memory of two kinds", asked[b]);
        has_str(muster_last_error(), "sum, in device memory", "which is said");
        is_status(muster_all_reduce(group, there, there, 4, MUSTER_INT32, MUSTER_SUM, NULL),
                  MUSTER_ERR_MISMATCH, "and nothing after it");
        leave(group);
    }
    gpu_free(GPU_DEVICE, there);
}

/* A ring of single messages waits in a circle, and the sentence says who for whom and what would
 * do. */
static void ring(int rank, int size)
{
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    int32_t *to = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < BOTH; b++) {
        muster_group *group = group_on(asked[b], asked[b], SHORT);
        muster_work *work = NULL;
        muster_recv(group, to, 4, MUSTER_INT32, (rank + size - 1) % size, &work);
        is_status(muster_send(group, there, 4, MUSTER_INT32, (rank + 1) % size, NULL),
                  MUSTER_ERR_TIMEOUT, "%s: a ring of single messages", asked[b]);
        has_str(muster_last_error(), "#1 of 4 int32, in device memory, waiting for rank ",
                "who is waited for is said");
        has_str(muster_last_error(), "muster_batch_send_recv", "and what would do");
        muster_work_free(work);
        leave(group);
    }
    gpu_free(GPU_DEVICE, to);
    gpu_free(GPU_DEVICE, there);
}

/* A receive of more than is sent: without MUSTER_CHECK its peer is all that is known. */
static void short_message(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < BOTH; b++) {
        muster_group *group = group_on(asked[b], asked[b], SHORT);
        if (rank == 0) {
            muster_send(group, there, 4, MUSTER_INT32, 1, NULL);
            sleep_ms((int)(SHORT * ranks_time_factor() / 2)); /* so that rank 1 gives up first */
        }
        muster_status status = rank == 0 ? muster_barrier(group, NULL)
                                         : muster_recv(group, there, 8, MUSTER_INT32, 0, NULL);
        is_status(status, MUSTER_ERR_TIMEOUT, "%s: more is expected than was sent", asked[b]);
        if (rank == 1)
            has_str(muster_last_error(), "recv #1 of 8 int32, in device memory, waiting for rank 0",
                    "of whom is said");
        else
            ok(true, "all learn of it");
        leave(group);
    }
    gpu_free(GPU_DEVICE, there);
}

/* A group on NCCL alone opens two communicators, and one beside Gloo a single one. */
static void opened(int rank, int size)
{
    static const char *const third[BOTH] = {"ncclCommInitRankConfig:3+:1",
                                            "ncclCommInitRankConfig:2+:1"};
    static const char *const last[BOTH] = {"ncclCommInitRankConfig:2+:1",
                                           "ncclCommInitRankConfig:1+:1"};
    (void)size;
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < BOTH; b++) {
        setenv("MUSTER_STANDIN_FAULTS", third[b], 1);
        muster_group *group = group_on(asked[b], asked[b], T), *none = NULL;
        ok(works(group, there), "%s: %d and no more", asked[b], BOTH - b);
        setenv("MUSTER_STANDIN_FAULTS", last[b], 1);
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        args.group_name = "none";
        args.backend = asked[b];
        args.timeout_ms = T;
        ok(muster_init_process_group(&none, &args) != MUSTER_OK && none == NULL, "and no less");
        unsetenv("MUSTER_STANDIN_FAULTS");
        leave(group);
    }
    gpu_free(GPU_DEVICE, there);
}

/* ---- with MUSTER_CHECK ---- */

typedef struct pair_case {
    const char *name;
    size_t sent, received;
    muster_type type; /* of the receiver; the sender has int32 */
    bool host;        /* the sender's buffer is in host memory */
    bool right[BOTH];
    const char *words;
} pair_case;

static const pair_case pairs[] = {
    {"as many", 4, 4, MUSTER_INT32, false, {true, true}, NULL},
    {"none", 0, 0, MUSTER_INT32, false, {true, true}, NULL},
    {"less than expected", 4, 8, MUSTER_INT32, false, {false, false}, "send #1 of 4 int32"},
    {"more than expected", 8, 4, MUSTER_INT32, false, {false, false}, "send #1 of 8 int32"},
    {"none where some are expected", 0, 4, MUSTER_INT32, false, {false, false}, "send #1 of 0"},
    {"some where none are expected", 4, 0, MUSTER_INT32, false, {false, false}, "send #1 of 4"},
    {"another type", 4, 4, MUSTER_FLOAT32, false, {false, false}, "recv #1 of 4 float"},
    {"memory of another kind", 4, 4, MUSTER_INT32, true, {true, false}, "one kind of memory"},
};
enum { PAIRS = sizeof(pairs) / sizeof(*pairs) };

static void pair(const pair_case *c, int rank, int b, int32_t *there)
{
    int32_t here[ROOM] = {0};
    muster_group *group = group_on(c->name, asked[b], T);
    int64_t began = now_ms();
    muster_status status =
        rank == 0 ? muster_send(group, c->host ? here : there, c->sent, MUSTER_INT32, 1, NULL)
                  : muster_recv(group, there, c->received, c->type, 0, NULL);
    if (rank == 1)
        is_status(status, c->right[b] ? MUSTER_OK : MUSTER_ERR_MISMATCH, "%s: %s", asked[b],
                  c->name);
    else
        ok(status == MUSTER_OK || !c->right[b], "%s: %s is sent", asked[b], c->name);
    if (rank == 1 && !c->right[b])
        has_str(muster_last_error(), c->words, "what differs is said");
    else
        ok(true, "nothing to say");
    ok(c->right[b] ? works(group, there) : muster_barrier(group, NULL) == MUSTER_ERR_MISMATCH,
       "all learn of it");
    ok(in_time(began, 4000), "soon");
    leave(group);
}

static void compared_pairs(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < BOTH; b++)
        for (int i = 0; i < PAIRS; i++)
            pair(&pairs[i], rank, b, there);
    gpu_free(GPU_DEVICE, there);
}

/* ---- NULL where a rank has nothing ---- */

/* Blocks of rank r have r elements: rank 0 has none. */
static void ragged(muster_group *group, const char *name, int32_t *there, int32_t *to)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    size_t counts[8];
    for (int r = 0; r < size; r++)
        counts[r] = (size_t)r;
    set(there, 5);
    void *mine = rank == 0 ? NULL : there, *got = rank == 0 ? NULL : to;
    is_status(muster_all_gather_v(group, mine, to, counts, MUSTER_INT32, NULL), MUSTER_OK,
              "%s: all_gather_v of nothing", name);
    is_status(muster_reduce_scatter_v(group, there, got, counts, MUSTER_INT32, MUSTER_SUM, NULL),
              MUSTER_OK, "reduce_scatter_v to nothing");
    set(to, 0);
    is_status(muster_gather_v(group, mine, counts[rank], rank == 1 ? to : NULL,
                              rank == 1 ? counts : NULL, MUSTER_INT32, 1, NULL),
              MUSTER_OK, "gather_v of nothing");
    ok(rank != 1 || get(to) == 5, "and of what others have");
    set(to, 0);
    is_status(muster_scatter_v(group, rank == 1 ? there : NULL, rank == 1 ? counts : NULL, got,
                               counts[rank], MUSTER_INT32, 1, NULL),
              MUSTER_OK, "scatter_v to nothing");
    ok(rank == 0 || get(to) == 5, "and to others");
}

/* Rank 0 takes no part in an all_to_all_v of the others. */
static void all_to_all(muster_group *group, int32_t *there, int32_t *to)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    size_t counts[8];
    for (int r = 0; r < size; r++)
        counts[r] = rank == 0 || r == 0 ? 0 : 2;
    set(to, 0);
    is_status(muster_all_to_all_v(group, rank == 0 ? NULL : there, counts, rank == 0 ? NULL : to,
                                  counts, MUSTER_INT32, NULL),
              MUSTER_OK, "all_to_all_v with one that has nothing");
    ok(rank == 0 || get(to) == 5, "and others that have");
}

/* Counts of 0 everywhere: one rank gives NULL and the others do not. */
static void nothing(muster_group *group, int32_t *there)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    void *buffer = rank == 0 ? NULL : there;
    is_status(muster_all_reduce(group, buffer, buffer, 0, MUSTER_INT32, MUSTER_SUM, NULL),
              MUSTER_OK, "all_reduce of 0");
    is_status(muster_broadcast(group, buffer, 0, MUSTER_INT32, 1, NULL), MUSTER_OK,
              "broadcast of 0");
    is_status(muster_all_to_all(group, buffer, buffer, 0, MUSTER_INT32, NULL), MUSTER_OK,
              "all_to_all of 0");
    muster_transfer both[2] = {{.direction = MUSTER_SENDS,
                                .peer = (rank + 1) % size,
                                .type = MUSTER_INT32,
                                .send = buffer},
                               {.direction = MUSTER_RECEIVES,
                                .peer = (rank + size - 1) % size,
                                .type = MUSTER_INT32,
                                .receive = buffer}};
    is_status(muster_batch_send_recv(group, both, 2, NULL), MUSTER_OK, "a ring of 0");
}

static void without(int rank, int size)
{
    static const char *const names[] = {"nccl", "cpu:gloo,cuda:nccl", "gloo"};
    (void)size;
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    int32_t *to = gpu_alloc(GPU_DEVICE, ROOM * sizeof(int32_t));
    for (int b = 0; b < 3; b++) {
        muster_group *group = group_on(names[b], names[b], T);
        ragged(group, names[b], there, to);
        all_to_all(group, there, to);
        nothing(group, there);
        ok(works(group, there), "and the group works");
        leave(group);
    }
    gpu_free(GPU_DEVICE, to);
    gpu_free(GPU_DEVICE, there);
}

int main(int argc, char **argv)
{
    needs_gloo();
    standin_use("2.28");
    static const char *const on[] = {"MUSTER_CHECK=1", NULL};
    static const struct ranks_case cases[] = {
        {.name = "passing", .size = 2, .points = BOTH * 5, .body = passing, .silent = true},
        {.name = "two_kinds", .size = 2, .points = BOTH * 3, .body = two_kinds, .host_store = true},
        {.name = "ring", .size = 3, .points = BOTH * 3, .body = ring, .host_store = true},
        {.name = "short_message",
         .size = 2,
         .points = BOTH * 2,
         .body = short_message,
         .host_store = true},
        {.name = "opened", .size = 2, .points = BOTH * 2, .body = opened, .host_store = true},
        {.name = "compared_pairs",
         .size = 2,
         .points = BOTH * PAIRS * 4,
         .body = compared_pairs,
         .host_store = true,
         .environment = on},
        {.name = "without", .size = 3, .points = 3 * 13, .body = without, .silent = true},
        {.name = "without, compared",
         .size = 3,
         .points = 3 * 13,
         .body = without,
         .silent = true,
         .environment = on},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
