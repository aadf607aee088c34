/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations come behind what a stream had to do: the caller's, the device's default one, and the
 * group's own of high priority. Each case fills a buffer at the end of long work on the stream and
 * calls without waiting; what the operation must not see is in the buffer before.
 */
#include "config.h"

#include "gpu/common.h"
#include "gpu_memory.h"
#include "standin.h"

#include <stdlib.h>

enum { TURNS = 7, POINTS = 13 };

/* Memory for long work on a stream. */
typedef struct ballast {
    size_t size;
    int copies;
    char *from, *to;
} ballast;

/* Buffers of so many numbers, and what goes into them and comes out. */
typedef struct numbers {
    size_t count, bytes;
    int32_t *wrong, *right, *got;  /* host */
    int32_t *source, *there, *sum; /* device */
} numbers;

static ballast ballast_new(void)
{
    ballast made = {.size = common_few() ? 1 << 16 : 256 << 20, .copies = common_few() ? 4 : 100};
    made.from = gpu_alloc(GPU_DEVICE, made.size);
    made.to = gpu_alloc(GPU_DEVICE, made.size);
    return made;
}

static numbers numbers_new(void)
{
    numbers made = {.count = common_few() ? 1000 : 1 << 20};
    made.bytes = made.count * sizeof(int32_t);
    made.wrong = gpu_alloc(GPU_HOST, made.bytes);
    made.right = gpu_alloc(GPU_HOST, made.bytes);
    made.got = gpu_alloc(GPU_HOST, made.bytes);
    made.source = gpu_alloc(GPU_DEVICE, made.bytes);
    made.there = gpu_alloc(GPU_DEVICE, made.bytes);
    made.sum = gpu_alloc(GPU_DEVICE, made.bytes);
    for (size_t i = 0; i < made.count; i++) {
        made.wrong[i] = -1;
        made.right[i] = (int32_t)(i % 1000);
    }
    gpu_put(made.source, made.right, made.bytes);
    return made;
}

static void numbers_free(numbers *n)
{
    gpu_free(GPU_HOST, n->wrong);
    gpu_free(GPU_HOST, n->right);
    gpu_free(GPU_HOST, n->got);
    gpu_free(GPU_DEVICE, n->source);
    gpu_free(GPU_DEVICE, n->there);
    gpu_free(GPU_DEVICE, n->sum);
}

/* The right numbers come into the buffer when the stream has got through the ballast. */
static void fill_later(numbers *n, const ballast *b, void *stream)
{
    gpu_put(n->there, n->wrong, n->bytes);
    for (int i = 0; i < b->copies; i++)
        gpu_copy_later(stream, b->to, b->from, b->size);
    gpu_copy_later(stream, n->there, n->source, n->bytes);
}

static bool are_times(numbers *n, int times)
{
    gpu_get(n->got, n->sum, n->bytes);
    for (size_t i = 0; i < n->count; i++)
        if (n->got[i] != n->right[i] * times)
            return false;
    return true;
}

static bool sums_behind(muster_group *group, numbers *n, const ballast *b, void *stream)
{
    fill_later(n, b, stream);
    return muster_all_reduce(group, n->there, n->sum, n->count, MUSTER_INT32, MUSTER_SUM, NULL) ==
               MUSTER_OK &&
           are_times(n, muster_group_size(group));
}

/* Several with handles, each taking what the one before made, waited for from the last. */
static bool sums_in_turn(muster_group *group, numbers *n, const ballast *b, void *stream)
{
    muster_work *works[TURNS] = {NULL};
    int good = 0, times = 1;
    fill_later(n, b, stream);
    for (int i = 0; i < TURNS; i++, times *= muster_group_size(group))
        good +=
            muster_all_reduce(group, i % 2 == 0 ? n->there : n->sum, i % 2 == 0 ? n->sum : n->there,
                              n->count, MUSTER_INT32, MUSTER_SUM, &works[i]) == MUSTER_OK;
    for (int i = TURNS - 1; i >= 0; i--) {
        good += works[i] != NULL && muster_work_wait(works[i], MUSTER_TIMEOUT_DEFAULT) == MUSTER_OK;
        muster_work_free(works[i]);
    }
    return good == 2 * TURNS && are_times(n, times);
}

static void callers_stream(muster_group *group, numbers *n, const ballast *b)
{
    void *own = muster_group_stream(group), *stream = gpu_stream();
    ok(own != NULL, "the group has a stream of its own");
    is_status(muster_group_set_stream(group, stream), MUSTER_OK, "a stream of the caller");
    ok(muster_group_stream(group) == stream, "is taken");
    ok(sums_behind(group, n, b, stream), "a call comes behind what it had to do");
    ok(sums_in_turn(group, n, b, stream), "so do %d with handles, in their order", (int)TURNS);
    is_status(muster_group_set_stream(group, NULL), MUSTER_OK, "the own stream again");
    ok(muster_group_stream(group) == own, "is the one before");
    gpu_stream_free(stream);
}

/* The priority of a stream; 0 is the least, lower ones come first. */
static int priority_of(void *stream)
{
    int (*get)(void *, int *) = NULL;
    int priority = 0;
    *(void **)&get = standin_function("cudaStreamGetPriority");
    if (get == NULL || get(stream, &priority) != 0)
        return 1;
    return priority;
}

static void high_priority(numbers *n, const ballast *b)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    muster_options *options = NULL;
    is_status(muster_options_new(&options), MUSTER_OK, "options");
    is_status(muster_options_set(options, "nccl.high_priority_stream", "1"), MUSTER_OK,
              "a stream of high priority");
    args.group_name = "high";
    args.backend = "nccl";
    args.backend_options = options;
    args.timeout_ms = patient(COMMON_TIMEOUT_MS);
    muster_group *group = group_of(&args);
    muster_options_free(options);
    int priority = priority_of(muster_group_stream(group));
    if (priority == 1)
        skip(1, "this CUDA does not say a stream's priority");
    else
        ok(priority < 0, "it has one: %d", priority);
    ok(sums_behind(group, n, b, NULL), "it comes behind the default stream too");
    common_leave(group);
}

static void ordered(int rank, int size)
{
    (void)size;
    gpu_take(rank);
    ballast b = ballast_new();
    numbers n = numbers_new();
    muster_group *group = common_group("nccl");
    callers_stream(group, &n, &b);
    ok(sums_behind(group, &n, &b, NULL), "a call comes behind the default stream");
    ok(sums_in_turn(group, &n, &b, NULL), "so do those with handles");
    common_leave(group);
    high_priority(&n, &b);
    numbers_free(&n);
    gpu_free(GPU_DEVICE, b.from);
    gpu_free(GPU_DEVICE, b.to);
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "each1", .size = 1, .points = POINTS, .body = ordered, .seconds = 20},
        {.name = "each2", .size = 2, .points = POINTS, .body = ordered, .seconds = 20},
        {.name = "each3", .size = 3, .points = POINTS, .body = ordered, .seconds = 20},
        {.name = "each4", .size = 4, .points = POINTS, .body = ordered, .seconds = 20},
        {.name = "each8", .size = 8, .points = POINTS, .body = ordered, .seconds = 20},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
