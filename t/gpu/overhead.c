/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a call through muster costs more than the same call of NCCL: an all_reduce that is waited
 * for, in rounds that take turns, of which the middle one counts.
 */
#include "config.h"

#include "gpu/common.h"
#include "gpu_memory.h"
#include "standin_nccl.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_ROUNDS = 21, FEW_ROUNDS = 3, FEW_CALLS = 3, SIZES = 4, MOST_US = 5000000 };

static const struct {
    const char *words;
    size_t bytes;
    int calls; /* in a round */
} sizes[SIZES] = {
    {"8 B", 8, 200}, {"64 KiB", 64 << 10, 200}, {"1 MiB", 1 << 20, 100}, {"64 MiB", 64 << 20, 20}};

/* The two ways of one call. */
typedef struct ways {
    muster_group *group;
    nccl_comm *comm;
    cuda_stream stream;
    float *send, *receive;
    size_t count;
} ways;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static bool call_bare(const ways *w)
{
    const standin_api *api = standin_api_get();
    return api->ncclAllReduce(w->send, w->receive, w->count, NCCL_FLOAT32, NCCL_SUM, w->comm,
                              w->stream) == NCCL_SUCCESS &&
           api->cudaStreamSynchronize(w->stream) == CUDA_OK;
}

static bool call_muster(const ways *w)
{
    muster_status status = muster_all_reduce(w->group, w->send, w->receive, w->count,
                                             MUSTER_FLOAT32, MUSTER_SUM, NULL);
    if (status != MUSTER_OK)
        diag("%s", muster_last_error());
    return status == MUSTER_OK;
}

/* Microseconds a call; negative where one failed. */
static double one_round(const ways *w, bool (*call)(const ways *), int calls)
{
    bool good = call(w);
    ranks_barrier();
    double began = now_us();
    for (int i = 0; good && i < calls; i++)
        good = call(w);
    return good ? (now_us() - began) / calls : -1;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *times, int count)
{
    qsort(times, (size_t)count, sizeof(*times), compare_numbers);
    return times[0] < 0 ? -1 : times[count / 2];
}

/* As many as a few seconds have room for; the first rank's word counts. */
static int32_t rounds_in_time(const ways *w, int calls)
{
    double once = one_round(w, call_muster, 1) + one_round(w, call_bare, 1);
    int32_t rounds = common_few() ? FEW_ROUNDS : MOST_ROUNDS;
    if (once > 0 && once * calls * rounds > MOST_US)
        rounds = (int32_t)(MOST_US / (once * calls));
    rounds = rounds < FEW_ROUNDS ? FEW_ROUNDS : rounds;
    if (muster_broadcast(w->group, &rounds, 1, MUSTER_INT32, 0, NULL) != MUSTER_OK)
        return FEW_ROUNDS;
    return rounds;
}

static void measure(ways *w, int which, int rank)
{
    double bare[MOST_ROUNDS], ours[MOST_ROUNDS];
    int calls = common_few() ? FEW_CALLS : sizes[which].calls;
    w->count = sizes[which].bytes / sizeof(float);
    int rounds = rounds_in_time(w, calls);
    for (int i = 0; i < rounds; i++) {
        if (i % 2 == 0)
            bare[i] = one_round(w, call_bare, calls);
        ours[i] = one_round(w, call_muster, calls);
        if (i % 2 == 1)
            bare[i] = one_round(w, call_bare, calls);
    }
    double theirs = middle(bare, rounds), through = middle(ours, rounds);
    bool good = ok(theirs > 0 && through > 0, "%s both ways", sizes[which].words);
    if (good && rank == 0)
        common_row("all_reduce of %-7s %10.1f us bare %10.1f us by muster %+9.1f us %+7.1f %%",
                   sizes[which].words, theirs, through, through - theirs,
                   100 * (through - theirs) / theirs);
}

/* As a program does that uses NCCL alone. */
static nccl_comm *open_bare(int rank, int size)
{
    nccl_comm *comm = NULL;
    nccl_unique_id id = standin_share_id(rank);
    nccl_result result = standin_api_get()->ncclCommInitRank(&comm, size, id, rank);
    if (result != NCCL_SUCCESS)
        diag("ncclCommInitRank: %s", standin_api_get()->ncclGetErrorString(result));
    return result == NCCL_SUCCESS ? comm : NULL;
}

static bool ways_open(ways *w, int rank, int size)
{
    const standin_api *api = standin_api_get();
    size_t most = sizes[SIZES - 1].bytes;
    gpu_take(rank);
    w->group = common_group("nccl");
    w->comm = open_bare(rank, size);
    w->send = gpu_alloc(GPU_DEVICE, most);
    w->receive = gpu_alloc(GPU_DEVICE, most);
    return w->comm != NULL && api->cudaMemset(w->send, 0, most) == CUDA_OK &&
           api->cudaStreamCreateWithFlags(&w->stream, CUDA_STREAM_NON_BLOCKING) == CUDA_OK;
}

static void measure_all(ways *w, int rank)
{
    for (int i = 0; i < SIZES; i++) {
        if (common_few() && i >= 2)
            skip(1, "%s is left out", sizes[i].words);
        else
            measure(w, i, rank);
    }
    ok(standin_close(w->comm), "NCCL's communicator ends");
}

static void overhead(int rank, int size)
{
    ways w = {NULL};
    if (rank == 0)
        common_row("%d rank%s, float32, summed; each call is waited for", size,
                   size == 1 ? "" : "s");
    if (ok(ways_open(&w, rank, size), "a group, and a communicator beside it"))
        measure_all(&w, rank);
    else
        skip(SIZES + 1, "there is nothing to measure");
    standin_api_get()->cudaStreamDestroy(w.stream);
    gpu_free(GPU_DEVICE, w.send);
    gpu_free(GPU_DEVICE, w.receive);
    common_leave(w.group);
}

int main(int argc, char **argv)
{
#define CASE(title, ranks)                                                                         \
    {                                                                                              \
        .name = title, .size = ranks, .points = SIZES + 2, .body = overhead, .seconds = 40         \
    }
    static const struct ranks_case cases[] = {
        CASE("each1", 1), CASE("each2", 2), CASE("each3", 3), CASE("each4", 4), CASE("each8", 8),
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
