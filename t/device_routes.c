/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is routed by where buffers are: large ones in pieces, ranks whose memory differs, mixed
 * buffers, streams, handles, and what a group says of itself. On the stand-in for hardware.
 */
#include "config.h"

#include "gpu_memory.h"
#include "grouptest.h"
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 30000, PIECE = 1 << 20, LARGE = 3 * PIECE + 77 }; /* elements; pieces are 4 MiB */

static muster_group *group_on(const char *backend)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = backend;
    args.backend = backend;
    args.timeout_ms = T;
    return group_of(&args);
}

static void leave(muster_group *group)
{
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* ---- large buffers ---- */

static void fill(int32_t *numbers, size_t count, int seed)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = (int32_t)(i * 7 + (size_t)seed * 1000);
}

static bool is_filled(const int32_t *numbers, size_t count, int seed, int times)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != (int32_t)(i * 7 + (size_t)seed * 1000) * times)
            return false;
    return true;
}

/* One large buffer somewhere, and a copy of it in host memory. */
typedef struct large {
    gpu_place where;
    int32_t *there;
    int32_t *here;
} large;

static large large_new(gpu_place where)
{
    large made = {where, gpu_alloc(where, LARGE * sizeof(int32_t)),
                  malloc(LARGE * sizeof(int32_t))};
    if (made.here == NULL)
        bail_out("no memory");
    return made;
}

static void large_set(large *l, int seed)
{
    fill(l->here, LARGE, seed);
    gpu_put(l->there, l->here, LARGE * sizeof(int32_t));
}

static bool large_is(large *l, int seed, int times)
{
    gpu_get(l->here, l->there, LARGE * sizeof(int32_t));
    return is_filled(l->here, LARGE, seed, times);
}

static void large_free(large *l)
{
    gpu_free(l->where, l->there);
    free(l->here);
}

static bool sums_large(muster_group *group, large *l)
{
    int size = muster_group_size(group);
    large_set(l, 5);
    return muster_all_reduce(group, l->there, l->there, LARGE, MUSTER_INT32, MUSTER_SUM, NULL) ==
               MUSTER_OK &&
           large_is(l, 5, size);
}

static bool broadcasts_large(muster_group *group, large *l)
{
    int rank = muster_group_rank(group);
    large_set(l, rank);
    return muster_broadcast(group, l->there, LARGE, MUSTER_INT32, 1, NULL) == MUSTER_OK &&
           large_is(l, 1, 1);
}

/* From each even rank to the next one, alone and in a batch with a short one. */
static bool sends_large(muster_group *group, large *l)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    bool odd = rank % 2 == 1;
    muster_status status = MUSTER_OK;
    if (!odd && rank + 1 == size)
        return true;
    large_set(l, rank);
    if (odd)
        status = muster_recv(group, l->there, LARGE, MUSTER_INT32, rank - 1, NULL);
    else
        status = muster_send(group, l->there, LARGE, MUSTER_INT32, rank + 1, NULL);
    bool right = status == MUSTER_OK && large_is(l, odd ? rank - 1 : rank, 1);
    muster_transfer both[2] = {
        {.direction = odd ? MUSTER_RECEIVES : MUSTER_SENDS,
         .peer = odd ? rank - 1 : rank + 1,
         .type = MUSTER_INT32,
         .count = LARGE - 1,
         .send = l->there},
    };
    both[1] = both[0];
    both[1].count = 1;
    both[1].send = l->there + LARGE - 1;
    large_set(l, rank + 50);
    return right && muster_batch_send_recv(group, both, 2, NULL) == MUSTER_OK &&
           large_is(l, (odd ? rank - 1 : rank) + 50, 1);
}

static void make_large_points(muster_group *group, gpu_place where, const char *words)
{
    large l = large_new(where);
    ok(sums_large(group, &l), "all_reduce of large buffers, %s", words);
    ok(broadcasts_large(group, &l), "broadcast, %s", words);
    ok(sends_large(group, &l), "send and receive, %s", words);
    if (!sums_large(group, &l))
        diag("%s", muster_last_error());
    large_free(&l);
}

static void pieces(int rank, int size)
{
    static const char *const asked[] = {"gloo", "nccl", "cpu:gloo,cuda:nccl"};
    (void)size;
    gpu_take(rank);
    for (int b = 0; b < 3; b++) {
        muster_group *group = group_on(asked[b]);
        for (gpu_place where = 0; where < GPU_PLACES; where++) {
            char words[64];
            snprintf(words, sizeof(words), "%s, %s", asked[b], gpu_place_names[where]);
            make_large_points(group, where, words);
        }
        leave(group);
    }
}

/* Over gloo each rank may have its buffers somewhere else, and some ranks no device at all. */
static void ranks_differ(int rank, int size)
{
    (void)size;
    if (rank != 2)
        gpu_take(rank);
    muster_group *group = group_on("gloo");
    make_large_points(group, rank == 2 ? GPU_HOST : (gpu_place)(rank % GPU_PLACES),
                      "where one rank has no device");
    leave(group);
    gpu_take(rank);
    group = group_on("gloo");
    make_large_points(group, (gpu_place)(rank % GPU_PLACES), "where memory differs by rank");
    leave(group);
}

/* ---- mixed buffers ---- */

static void mixed(int rank, int size)
{
    (void)size;
    int32_t here[4] = {0};
    gpu_take(rank);
    int32_t *there = gpu_alloc(GPU_DEVICE, sizeof(here));
    int32_t *managed = gpu_alloc(GPU_MANAGED, sizeof(here));
    static const char *const asked[] = {"gloo", "nccl", "cpu:gloo,cuda:nccl"};
    for (int b = 0; b < 3; b++) {
        char words[96];
        muster_group *group = group_on(asked[b]);
        is_status(muster_all_reduce(group, here, there, 2, MUSTER_INT32, MUSTER_SUM, NULL),
                  MUSTER_ERR_ARGUMENT, "%s: send here, receive there", asked[b]);
        snprintf(words, sizeof(words), "send is in host memory, but receive in memory of device %d",
                 rank);
        has_str(muster_last_error(), words, "says which is where");
        is_status(muster_all_gather(group, there, here, 1, MUSTER_INT32, NULL), MUSTER_ERR_ARGUMENT,
                  "%s: send there, receive here", asked[b]);
        const muster_transfer two[] = {{.direction = MUSTER_SENDS,
                                        .peer = (rank + 1) % size,
                                        .count = 1,
                                        .type = MUSTER_INT32,
                                        .send = there},
                                       {.direction = MUSTER_RECEIVES,
                                        .peer = (rank + size - 1) % size,
                                        .count = 1,
                                        .type = MUSTER_INT32,
                                        .receive = here}};
        is_status(muster_batch_send_recv(group, two, 2, NULL), MUSTER_ERR_ARGUMENT, "%s: a batch",
                  asked[b]);
        has_str(muster_last_error(), "but the buffer of transfers[1] in host memory",
                "says which of it");
        int32_t ones[2] = {1, 1}, sums[2] = {0, 0};
        gpu_put(managed, ones, sizeof(ones));
        muster_status status =
            muster_all_reduce(group, managed, sums, 2, MUSTER_INT32, MUSTER_SUM, NULL);
        ok(status == MUSTER_OK && sums[0] == size && sums[1] == size,
           "%s: managed memory goes with host memory", asked[b]);
        gpu_put(there, ones, sizeof(ones));
        status = muster_all_reduce(group, there, managed, 2, MUSTER_INT32, MUSTER_SUM, NULL);
        gpu_get(sums, managed, sizeof(sums));
        ok(status == MUSTER_OK && sums[0] == size && sums[1] == size, "%s: and with device memory",
           asked[b]);
        ok(group_works(group), "%s: the group goes on", asked[b]);
        leave(group);
    }
    gpu_free(GPU_DEVICE, there);
    gpu_free(GPU_MANAGED, managed);
}

/* Memory of a device that is not the group's. */
static void other_device(int rank, int size)
{
    gpu_take(size + rank);
    int32_t *other = gpu_alloc(GPU_DEVICE, 64), got[2] = {0}, ones[2] = {1, 1};
    gpu_take(rank);
    muster_group *group = group_on("nccl");
    is_status(muster_all_reduce(group, other, other, 2, MUSTER_INT32, MUSTER_SUM, NULL),
              MUSTER_ERR_ARGUMENT, "memory of another device");
    char words[96];
    snprintf(words, sizeof(words), "is in memory of device %d, but the group's device is %d",
             size + rank, rank);
    has_str(muster_last_error(), words, "says which");
    leave(group);
    group = group_on("gloo");
    gpu_put(other, ones, sizeof(ones));
    muster_status status =
        muster_all_reduce(group, other, other, 2, MUSTER_INT32, MUSTER_SUM, NULL);
    gpu_get(got, other, sizeof(got));
    ok(status == MUSTER_OK && got[1] == size, "which gloo carries");
    leave(group);
}

/* ---- streams and handles ---- */

/* What is on the stream is done before the operation; its result is there when the handle says so,
 * and operations begin in their order. */
static void streams(int rank, int size)
{
    static const char *const asked[] = {"gloo", "nccl"};
    enum { N = 1000, TURNS = 8 };
    int32_t *mine = gpu_alloc(GPU_HOST, N * sizeof(int32_t)), *sums = malloc(N * sizeof(int32_t));
    gpu_take(rank);
    for (int b = 0; b < 2; b++) {
        muster_group *group = group_on(asked[b]);
        int32_t *there = gpu_alloc(GPU_DEVICE, N * sizeof(int32_t));
        muster_work *works[TURNS];
        int ordinal = -2, good = 0;
        is_status(muster_group_device(group, &ordinal), MUSTER_OK, "the group's device");
        is_int(ordinal, b == 0 ? -1 : rank, "is it");
        ok((muster_group_stream(group) != NULL) == (b == 1), "it has a stream with its device");
        void *own = muster_group_stream(group), *stream = gpu_stream();
        is_status(muster_group_set_stream(group, stream), MUSTER_OK, "a stream of the caller");
        ok(muster_group_stream(group) == stream, "is taken");
        fill(mine, N, rank * 0);
        gpu_copy_later(stream, there, mine, N * sizeof(int32_t));
        for (int i = 0; i < TURNS; i++)
            good += muster_all_reduce(group, there, there, N, MUSTER_INT32, MUSTER_SUM,
                                      &works[i]) == MUSTER_OK;
        for (int i = TURNS - 1; i >= 0; i--) {
            good += muster_work_wait(works[i], MUSTER_TIMEOUT_DEFAULT) == MUSTER_OK;
            muster_work_free(works[i]);
        }
        gpu_get(sums, there, N * sizeof(int32_t));
        int times = 1;
        for (int i = 0; i < TURNS; i++)
            times *= size;
        ok(good == 2 * TURNS && is_filled(sums, N, 0, times), "%s: %d operations behind a copy",
           asked[b], (int)TURNS);
        muster_group_set_stream(group, NULL);
        ok(muster_group_stream(group) == own, "the own stream again");
        leave(group);
        gpu_free(GPU_DEVICE, there);
        gpu_stream_free(stream);
    }
    free(mine);
    free(sums);
}

static void no_group(int rank, int size)
{
    (void)rank, (void)size;
    int ordinal = 7;
    is_status(muster_group_device(NULL, &ordinal), MUSTER_ERR_NOT_MEMBER, "the device of no group");
    is_status(muster_group_set_stream(NULL, NULL), MUSTER_ERR_NOT_MEMBER, "its stream to be set");
    ok(ordinal == 7 && muster_group_stream(NULL) == NULL, "and to be had");
    gpu_take(rank);
    muster_group *group = group_on("nccl");
    is_status(muster_group_device(group, NULL), MUSTER_ERR_ARGUMENT, "no place for the device");
    leave(group);
}

/* ---- what a group says ---- */

static void describes(int rank, int size)
{
    (void)size;
    static const struct {
        const char *asked;
        const char *facts[5];
    } groups[] = {
        {"auto",
         {"\"backend\":\"cpu:local,cuda:nccl\"", "\"host_memory\":\"local\"",
          "\"device_memory\":\"nccl\"", "\"device_uuid\":\"GPU-", "\"device_transport\":\"NCCL"}},
        {"nccl",
         {"\"backend\":\"nccl\"", "\"host_memory\":\"staged through the device, by nccl\"",
          "\"device_memory\":\"nccl\"", "\"transport\":\"NCCL", "\"why\":\"asked for\""}},
        {"gloo",
         {"\"backend\":\"gloo\"", "\"host_memory\":\"local\"",
          "\"device_memory\":\"staged through the host, by local\"",
          "\"within_this_host\":\"local: shared memory", "\"why\""}},
    };
    gpu_take(rank);
    for (size_t i = 0; i < 3; i++) {
        muster_group *group = group_on(groups[i].asked);
        char *text = NULL;
        is_status(muster_group_describe(group, true, &text), MUSTER_OK, "%s", groups[i].asked);
        for (int f = 0; f < 5; f++)
            has_str(text, groups[i].facts[f], "says so");
        muster_free(text);
        leave(group);
    }
}

static char warned[1024];

static void take_line(void *user, muster_log_level level, const char *line)
{
    (void)user;
    if (level == MUSTER_LOG_WARNING)
        snprintf(warned, sizeof(warned), "%s", line);
}

/* Options of a backend that was not taken. */
static void unused_options(int rank, int size)
{
    static const struct {
        const char *options, *warning;
    } rows[] = {
        {"nccl.max_ctas=8", "option 'nccl.max_ctas' (options text) is without effect: "
                            "the group runs on local (auto: "},
        {"nccl.max_ctas?=8", ""},
        {"local.single_copy=on", ""},
    };
    (void)rank, (void)size;
    gpu_take(0);
    muster_set_log(take_line, NULL, MUSTER_LOG_WARNING);
    for (size_t i = 0; i < 3; i++) {
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        muster_group *group = NULL;
        char *text = NULL;
        warned[0] = '\0';
        args.options = rows[i].options;
        args.timeout_ms = T;
        is_status(muster_init_process_group(&group, &args), MUSTER_OK, "%s", rows[i].options);
        if (*rows[i].warning != '\0')
            has_str(warned, rows[i].warning, "there is a warning");
        else
            is_str(warned, "", "there is no warning");
        muster_group_describe(group, false, &text);
        ok(text != NULL && (strstr(text, "; without effect here)") != NULL) ==
                               (strncmp(rows[i].options, "nccl", 4) == 0),
           "and the group says so");
        muster_free(text);
        leave(group);
    }
    muster_set_log(NULL, NULL, MUSTER_LOG_NONE);
}

/* Ranks that share a GPU. */
static void shared_device(int rank, int size)
{
    (void)size;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    gpu_take(0);
    muster_group *group = group_on("auto"), *none = NULL;
    is_str(muster_group_backend(group), "local", "two ranks on one GPU go by local");
    char *text = NULL;
    muster_group_describe(group, false, &text);
    has_str(text, "have the same GPU, GPU-", "and say why");
    muster_free(text);
    int32_t *there = gpu_alloc(GPU_DEVICE, 8), number = 1;
    gpu_put(there, &number, sizeof(number));
    muster_status status =
        muster_all_reduce(group, there, there, 1, MUSTER_INT32, MUSTER_SUM, NULL);
    gpu_get(&number, there, sizeof(number));
    ok(status == MUSTER_OK && number == size, "with device memory staged");
    args.group_name = "none";
    args.backend = "nccl";
    args.timeout_ms = T;
    is_status(muster_init_process_group(&none, &args), MUSTER_ERR_UNAVAILABLE,
              "asked for it is an error");
    has_str(muster_last_error(), "have the same GPU, GPU-", "that says the same");
    leave(group);
    gpu_free(GPU_DEVICE, there);
    (void)rank;
}

int main(int argc, char **argv)
{
    needs_gloo();
    standin_use("2.28");
    static const struct ranks_case cases[] = {
        {.name = "pieces", .size = 3, .points = 27, .body = pieces, .silent = true},
        {.name = "ranks_differ", .size = 4, .points = 6, .body = ranks_differ, .silent = true},
        {.name = "mixed", .size = 2, .points = 24, .body = mixed, .silent = true},
        {.name = "other_device", .size = 2, .points = 3, .body = other_device, .silent = true},
        {.name = "streams", .size = 2, .points = 14, .body = streams, .silent = true},
        {.name = "no_group", .size = 1, .points = 4, .body = no_group, .silent = true},
        {.name = "describes", .size = 2, .points = 18, .body = describes, .silent = true},
        {.name = "unused_options", .size = 2, .points = 9, .body = unused_options, .silent = true},
        {.name = "shared_device", .size = 2, .points = 5, .body = shared_device, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
