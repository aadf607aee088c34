/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf overlap: what a rank gains that computes while an all_reduce runs.
 */
#include "config.h"

#include "perf.h"
#include "agree.h"
#include "command_line.h"
#include "stopwatch.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What is timed in each round. A device that computes is stood in for by a sleep as long: it needs
 * none of the CPUs that the all_reduce needs. */
enum { ALONE, COMPUTING, BOTH, DEVICE, BOTH_DEVICE, KINDS };

typedef struct overlap {
    muster_group *world;
    unsigned char *send, *receive;
    size_t count;
    muster_type type;
    muster_reduction redop;
    long long steps;            /* of computing */
    double device_time;         /* seconds */
    volatile double sum;        /* of what was computed, so that it is not left out */
    double *seconds[KINDS + 2]; /* in each round; the last two are shares that were hidden */
    double medians[KINDS + 2];
} overlap;

/* What was saved of the shorter of two in each round; 1 is all of it. */
enum { HIDDEN = KINDS, HIDDEN_DEVICE, COLUMNS };

/* Arithmetic that waits for itself and needs no memory. */
static void overlap_compute(overlap *all)
{
    double x = 0.5;
    for (long long i = 0; i < all->steps; i++)
        x = sqrt(x * 1.0000001 + 0.25);
    all->sum += x;
}

static void overlap_wait_for_device(const overlap *all)
{
    struct timespec left = {(time_t)all->device_time, (long)(fmod(all->device_time, 1) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static void overlap_work(overlap *all, int kind)
{
    if (kind == COMPUTING || kind == BOTH)
        overlap_compute(all);
    else
        overlap_wait_for_device(all);
}

static bool overlap_start(overlap *all, muster_work **work)
{
    return muster_all_reduce(all->world, all->send, all->receive, all->count, all->type, all->redop,
                             work) == MUSTER_OK;
}

static bool overlap_both(overlap *all, int kind)
{
    muster_work *work = NULL;
    if (!overlap_start(all, &work))
        return false;
    overlap_work(all, kind);
    bool good = muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT) == MUSTER_OK;
    muster_work_free(work);
    return good;
}

static bool overlap_once(overlap *all, int kind, double *seconds)
{
    bool good = muster_barrier(all->world, NULL) == MUSTER_OK;
    double start = stopwatch_seconds();
    if (kind == COMPUTING || kind == DEVICE)
        overlap_work(all, kind);
    else
        good = good && (kind == ALONE ? overlap_start(all, NULL) : overlap_both(all, kind));
    *seconds = stopwatch_seconds() - start;
    return (good || perf_failed(all->world)) && perf_largest(all->world, seconds, 1);
}

/* So many steps that computing takes as long as the all_reduce, on all ranks the same number. */
static bool overlap_calibrate(overlap *all)
{
    const long long trial = 20 * 1000 * 1000;
    double alone, computing;
    all->steps = trial;
    /* The first touches the memory. */
    if (!overlap_once(all, ALONE, &alone) || !overlap_once(all, ALONE, &alone) ||
        !overlap_once(all, COMPUTING, &computing))
        return false;
    all->steps = (long long)((double)trial * alone / (computing > 0 ? computing : 1)) + 1;
    all->device_time = alone;
    return true;
}

static double overlap_share(const overlap *all, long long round, int work, int both)
{
    double alone = all->seconds[ALONE][round], other = all->seconds[work][round];
    double shorter = alone < other ? alone : other;
    return shorter > 0 ? (alone + other - all->seconds[both][round]) / shorter : 0;
}

static bool overlap_measure(overlap *all, long long rounds)
{
    if (!overlap_calibrate(all))
        return false;
    for (long long round = 0; round < rounds; round++)
        for (int kind = 0; kind < KINDS; kind++)
            if (!overlap_once(all, kind, &all->seconds[kind][round]))
                return false;
    for (long long round = 0; round < rounds; round++) {
        all->seconds[HIDDEN][round] = overlap_share(all, round, COMPUTING, BOTH);
        all->seconds[HIDDEN_DEVICE][round] = overlap_share(all, round, DEVICE, BOTH_DEVICE);
    }
    for (int column = 0; column < COLUMNS; column++)
        all->medians[column] = perf_median(all->seconds[column], (size_t)rounds);
    return true;
}

/* ---- Output -------------------------------------------------------------------------------- */

static void overlap_print(const perf_options *options, overlap *all)
{
    const double *m = all->medians;
    perf_print_title(options, all->world);
    printf("  %-40s %12zu bytes\n", "all_reduce of", all->count * muster_type_size(all->type));
    printf("  %-40s %12.3f ms\n", "alone", 1000 * m[ALONE]);
    printf("  %-40s %12s %15s\n", "meanwhile", "the CPU", "a device");
    printf("  %-40s %12.3f %15.3f ms\n", "computes, alone", 1000 * m[COMPUTING], 1000 * m[DEVICE]);
    printf("  %-40s %12.3f %15.3f ms\n", "one after the other", 1000 * (m[ALONE] + m[COMPUTING]),
           1000 * (m[ALONE] + m[DEVICE]));
    printf("  %-40s %12.3f %15.3f ms\n", "at the same time", 1000 * m[BOTH], 1000 * m[BOTH_DEVICE]);
    printf("  %-40s %12.0f %15.0f %%\n", "of the shorter one is hidden", 100 * m[HIDDEN],
           100 * m[HIDDEN_DEVICE]);
}

static json_t *overlap_json(const overlap *all, int work, int both, int hidden)
{
    return json_pack("{s:f, s:f, s:f}", "alone_seconds", all->medians[work], "both_seconds",
                     all->medians[both], "hidden", all->medians[hidden]);
}

static void overlap_print_json(const perf_options *options, overlap *all)
{
    json_t *found = json_pack(
        "{s:s, s:i, s:I, s:s, s:I, s:I, s:f, s:o, s:o}", "measured", "overlap", "ranks",
        muster_group_size(all->world), "hosts", (json_int_t)perf_fact(all->world, "hosts"),
        "backend", muster_group_backend(all->world), "size",
        (json_int_t)(all->count * muster_type_size(all->type)), "rounds",
        (json_int_t)options->rounds, "all_reduce_seconds", all->medians[ALONE], "computing",
        overlap_json(all, COMPUTING, BOTH, HIDDEN), "device",
        overlap_json(all, DEVICE, BOTH_DEVICE, HIDDEN_DEVICE));
    json_dumpf(found, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(found);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static bool overlap_allocate(overlap *all, long long rounds)
{
    size_t bytes = all->count * muster_type_size(all->type);
    all->send = calloc(bytes + 1, 1);
    all->receive = calloc(bytes + 1, 1);
    bool good = all->send != NULL && all->receive != NULL;
    for (int column = 0; column < COLUMNS; column++) {
        all->seconds[column] = calloc((size_t)rounds, sizeof(double));
        good = good && all->seconds[column] != NULL;
    }
    return good;
}

bool perf_overlap(const perf_options *options, muster_group *world)
{
    const sweep_options *how = &options->sweep;
    bool every_type = how->type == MUSTER_NUM_TYPES, every = how->redop >= MUSTER_PREMUL_SUM;
    if (every_type || every)
        return agree(world, "overlap takes one type and one reduction, and no premul_sum");
    overlap all = {.world = world,
                   .type = (muster_type)how->type,
                   .redop = (muster_reduction)how->redop,
                   .count = (size_t)how->most / muster_type_size((muster_type)how->type)};
    bool good = overlap_allocate(&all, options->rounds);
    good = agree(world, good ? "" : "there is not enough memory for two buffers of that size") &&
           overlap_measure(&all, options->rounds);
    if (good && muster_group_rank(world) == 0) {
        if (options->job.json)
            overlap_print_json(options, &all);
        else
            overlap_print(options, &all);
    }
    for (int column = 0; column < COLUMNS; column++)
        free(all.seconds[column]);
    free(all.send);
    free(all.receive);
    return good;
}
