/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups with devices: those made of others, what goes by messages where there is nothing but the
 * device's communicator, and how they fail. On the stand-in for hardware.
 */
#include "config.h"

#include "gpu_memory.h"
#include "grouptest.h"
#include "standin.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, BOTH = 2 };

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

static muster_status sum_there(muster_group *group, int32_t *there, int32_t *sum)
{
    int32_t one = 1;
    gpu_put(there, &one, sizeof(one));
    muster_status status =
        muster_all_reduce(group, there, there, 1, MUSTER_INT32, MUSTER_SUM, NULL);
    if (status == MUSTER_OK)
        gpu_get(sum, there, sizeof(*sum));
    return status;
}

/* It carries host memory and device memory. */
static bool works(muster_group *group)
{
    int32_t sum = 0, *there = gpu_alloc(GPU_DEVICE, sizeof(sum));
    muster_status status = sum_there(group, there, &sum);
    if (status != MUSTER_OK)
        diag("%s: %s", muster_group_name(group), muster_last_error());
    gpu_free(GPU_DEVICE, there);
    return status == MUSTER_OK && sum == muster_group_size(group) && group_works(group);
}

static bool says(muster_group *group, const char *words)
{
    char *text = NULL;
    bool said =
        muster_group_describe(group, false, &text) == MUSTER_OK && strstr(text, words) != NULL;
    if (!said)
        diag("%s", text);
    muster_free(text);
    return said;
}

/* ---- groups of groups ---- */

static void sub_groups(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    for (int b = 0; b < BOTH; b++) {
        muster_group *world = group_on(asked[b], asked[b], T), *regular, *orthogonal, *some;
        is_status(muster_create_sub_group(world, 2, NULL, &regular, &orthogonal), MUSTER_OK,
                  "%s: regular and orthogonal groups", asked[b]);
        ok(works(regular) && works(orthogonal) && works(world), "work beside their world");
        ok(says(regular, "split from the parent") && says(orthogonal, "split from the parent"),
           "they are split from it");
        muster_group_free(orthogonal);
        muster_group_free(regular);
        is_status(muster_group_split(world, rank % 2, -rank, NULL, &some), MUSTER_OK,
                  "a split in another order");
        ok(works(some) && says(some, "made anew"), "can't be one of the device's communicator");
        muster_group_free(some);
        muster_status status =
            muster_group_split(world, rank < 3 ? 5 : MUSTER_NO_COLOR, 0, NULL, &some);
        ok(status == (rank < 3 ? MUSTER_OK : MUSTER_OK), "a split without some ranks");
        ok(rank == 3 || (works(some) && says(some, "made anew")), "neither");
        if (rank < 3)
            muster_group_free(some);
        const int middle[] = {2, 1};
        some = NULL;
        if (rank == 1 || rank == 2)
            status = muster_new_group(world, middle, 2, NULL, &some);
        ok(rank == 0 || rank == 3 || (status == MUSTER_OK && works(some)), "members alone");
        muster_group_free(some);
        is_status(muster_create_sub_group(world, 4, "gloo", &regular, &orthogonal), MUSTER_OK,
                  "another backend");
        ok(strcmp(muster_group_backend(regular), "gloo") == 0 && works(regular),
           "with memory staged");
        muster_group_free(regular);
        muster_group_free(orthogonal);
        leave(world);
    }
}

/* A backend that nobody asked for at the beginning. */
static void late(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *world = group_on("world", "gloo", T), *regular = NULL, *orthogonal = NULL;
    is_status(muster_create_sub_group(world, 2, "nccl", &regular, &orthogonal),
              MUSTER_ERR_UNAVAILABLE, "it was not looked at");
    has_str(muster_last_error(), "nothing asked for it when the first group was made",
            "which is said");
    leave(world);
}

/* ---- what goes by messages ---- */

static bool gathers_tokens(muster_group *group)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    const int64_t tokens[] = {rank, -1, INT64_MAX - rank};
    const size_t lengths[] = {0, 1, 2};
    const muster_token_lists mine = {rank == 1 ? 0 : 3, lengths, tokens};
    muster_tokens *all = NULL;
    if (muster_all_gather_tokens(group, &mine, &all) != MUSTER_OK)
        return false;
    bool right = all->num_lists == (size_t)(size - 1) * 3 && all->num_tokens == all->num_lists &&
                 all->tokens[0] == 0 && all->tokens[all->num_tokens - 1] == INT64_MAX - (size - 1);
    muster_tokens_free(all);
    return right;
}

static bool gathers_objects(muster_group *group)
{
    enum { BIG = 3 << 20 };
    int rank = muster_group_rank(group), size = muster_group_size(group);
    char *bytes = malloc(BIG);
    memset(bytes, 'a' + rank, BIG);
    const muster_blob objects[] = {{bytes, rank == 1 ? BIG : 3}, {"", 0}};
    const muster_object_list mine = {2, objects};
    muster_objects *all = NULL;
    bool right = muster_gather_objects(group, &mine, 1, &all) == MUSTER_OK;
    if (right && rank == 1)
        right = all->num_objects == (size_t)size * 2 && all->objects[2].size == BIG &&
                ((const char *)all->objects[2].data)[BIG - 1] == 'b' && all->objects[3].size == 0;
    if (rank == 1 && right)
        muster_objects_free(all);
    free(bytes);
    return right;
}

static void messages(int rank, int size)
{
    gpu_take(rank);
    muster_group *group = group_on("alone", "nccl", T);
    int32_t mine = rank, got = -1;
    is_status(muster_barrier(group, NULL), MUSTER_OK, "a barrier");
    ok(gathers_tokens(group), "lists of tokens");
    ok(gathers_objects(group), "objects");
    muster_status status = MUSTER_OK;
    if (rank == 0)
        status = muster_send(group, &mine, 1, MUSTER_INT32, 1, NULL);
    if (rank == 1)
        status = muster_recv(group, &got, 1, MUSTER_INT32, 0, NULL);
    ok(status == MUSTER_OK && (rank != 1 || got == 0), "a message");
    int32_t bits = 1 << rank;
    status = muster_all_reduce(group, &bits, &bits, 1, MUSTER_INT32, MUSTER_BOR, NULL);
    is_int(status == MUSTER_OK ? bits : -1, (1 << size) - 1, "a reduction that NCCL lacks");
    uint64_t sent = 0, received = 0;
    muster_group_traffic(group, &sent, &received);
    ok(sent > 0 && received > 0, "traffic is counted");
    leave(group);
}

/* MUSTER_CHECK=1: ranks whose calls differ, and ranks whose memory does. */
static void compared(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    int32_t here = 1, *there = gpu_alloc(GPU_DEVICE, 4);
    for (int b = 0; b < BOTH; b++) {
        muster_group *group = group_on(asked[b], asked[b], T);
        ok(works(group), "%s: calls that agree", asked[b]);
        int32_t *buffer = rank == 1 ? &here : there;
        is_status(muster_all_reduce(group, buffer, buffer, 1, MUSTER_INT32, MUSTER_SUM, NULL),
                  MUSTER_ERR_MISMATCH, "memory of two kinds");
        has_str(muster_last_error(), ", in device memory", "says where it is");
        leave(group);
        group = group_on("other", asked[b], T);
        is_status(rank == 1 ? muster_barrier(group, NULL)
                            : muster_broadcast(group, there, 1, MUSTER_INT32, 0, NULL),
                  MUSTER_ERR_MISMATCH, "another call");
        leave(group);
    }
    gpu_free(GPU_DEVICE, there);
}

/* ---- failures ---- */

/* One rank is killed while the others wait for it. */
static void killed(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *group = group_on("alone", "nccl", T), *left = NULL;
    int32_t sum, *there = gpu_alloc(GPU_DEVICE, 4);
    ok(works(group), "all are there");
    ranks_barrier();
    if (rank == 2)
        raise(SIGKILL);
    int64_t began = now_ms();
    is_status(rank == 0 ? sum_there(group, there, &sum) : muster_barrier(group, NULL),
              MUSTER_ERR_PEER_LOST, "a rank has died");
    has_str(muster_last_error(), "rank 2", "which one is said");
    ok(in_time(began, 4000), "soon");
    began = now_ms();
    const int dead[] = {2};
    is_status(muster_group_shrink(group, dead, 1, NULL, &left), MUSTER_OK, "those that are left");
    ok(works(left), "work on");
    muster_group_free(left);
    muster_group_free(group);
    ok(in_time(began, 8000), "and end");
    ranks_barrier_among(2);
}

/* One does not come. */
static void missing(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *group = group_on("alone", "nccl", 1500);
    int32_t sum, *there = gpu_alloc(GPU_DEVICE, 4);
    ok(works(group), "all are there");
    muster_status status = MUSTER_ERR_TIMEOUT;
    if (rank != 1)
        status = sum_there(group, there, &sum);
    is_status(status, MUSTER_ERR_TIMEOUT, "one does not come");
    ok(rank == 1 || strstr(muster_last_error(), "waiting for rank 1") != NULL, "it is named: %s",
       rank == 1 ? "" : muster_last_error());
    ranks_barrier();
    status = muster_barrier(group, NULL);
    ok(status != MUSTER_OK, "and finds the group failed");
    int64_t began = now_ms();
    muster_group_free(group);
    ok(in_time(began, 5000), "which is freed soon");
    ranks_barrier();
}

/* One breaks the group off while the others wait. */
static void broken_off(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    for (int b = 0; b < BOTH; b++) {
        muster_group *group = group_on(asked[b], asked[b], T);
        int32_t sum, *there = gpu_alloc(GPU_DEVICE, 4);
        muster_status status = MUSTER_ERR_FAILED;
        ok(works(group), "%s: all are there", asked[b]);
        ranks_barrier();
        int64_t began = now_ms();
        if (rank == 1)
            muster_group_abort(group);
        else
            status = sum_there(group, there, &sum);
        is_status(status, MUSTER_ERR_FAILED, "one breaks the group off");
        ok(rank == 1 || strstr(muster_last_error(), "rank 1 has broken off") != NULL, "and why: %s",
           rank == 1 ? "" : muster_last_error());
        ok(in_time(began, 4000), "soon");
        muster_group_free(group);
        ranks_barrier();
    }
}

/* What breaks the device's side breaks the host's too. */
static void device_fails(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    muster_group *group = group_on("world", "cpu:gloo,cuda:nccl", T);
    int32_t sum, *there = gpu_alloc(GPU_DEVICE, 4);
    ok(works(group), "all is well");
    ranks_barrier();
    if (rank == 1)
        setenv("MUSTER_STANDIN_FAULTS", "operation:1+:1", 1);
    muster_status status = sum_there(group, there, &sum);
    ok(status != MUSTER_OK, "an operation fails on a device: %s", "");
    ok(muster_barrier(group, NULL) != MUSTER_OK, "then the host's side has failed too");
    int64_t began = now_ms();
    muster_group_free(group);
    ok(in_time(began, 5000), "which is freed soon");
    ranks_barrier();
}

int main(int argc, char **argv)
{
    needs_gloo();
    standin_use("2.28");
    static const char *const checks[] = {"MUSTER_CHECK=1", NULL};
    static const struct ranks_case cases[] = {
        {.name = "sub_groups", .size = 4, .points = BOTH * 10, .body = sub_groups, .silent = true},
        {.name = "late", .size = 2, .points = 2, .body = late, .silent = true},
        {.name = "messages", .size = 3, .points = 6, .body = messages, .silent = true},
        {.name = "compared",
         .size = 2,
         .points = BOTH * 4,
         .body = compared,
         .silent = true,
         .environment = checks},
        {.name = "killed",
         .size = 3,
         .points = 7,
         .body = killed,
         .host_store = true,
         .deaths = {{.rank = 2, .signal = SIGKILL}}},
        {.name = "missing", .size = 3, .points = 5, .body = missing, .host_store = true},
        {.name = "broken_off", .size = 3, .points = BOTH * 4, .body = broken_off},
        {.name = "device_fails", .size = 2, .points = 4, .body = device_fails},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
