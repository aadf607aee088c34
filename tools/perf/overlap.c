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
#include <string.h>
#include <time.h>

/* What is timed in each round. A device that computes is stood in for by a sleep as long: it needs
 * none of the CPUs that the all_reduce needs. What follows is worked out of that: one after the
 * other, and what was saved of the shorter of the two; 1 is all of it. */
enum {
    ALONE,
    COMPUTING,
    BOTH,
    DEVICE,
    BOTH_DEVICE,
    KINDS,
    AFTER = KINDS,
    AFTER_DEVICE,
    HIDDEN,
    HIDDEN_DEVICE,
    COLUMNS
};

/* How many of its last computations say how fast it computes. */
enum { PACES = 3 };

typedef struct spread {
    double median, least, most;
} spread;

typedef struct overlap {
    muster_group *world;
    unsigned char *send, *receive;
    size_t count;
    muster_type type;
    muster_reduction redop;
    long long steps;          /* of computing */
    double paces[PACES];      /* steps in a second, of late */
    size_t num_paces;         /* so far */
    double device_time;       /* seconds */
    volatile double sum;      /* of what was computed, so that it is not left out */
    double *columns[COLUMNS]; /* in each round */
    double *sorted;           /* one of them */
    spread spreads[COLUMNS];
} overlap;

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

/* As long as the all_reduce just was, on all ranks the same number of steps. One pace that other
 * work has spoilt must not count for the next. */
static void overlap_match(overlap *all, double alone)
{
    double paces[PACES];
    memcpy(paces, all->paces, sizeof(paces));
    all->device_time = alone;
    all->steps = (long long)(perf_median(paces, PACES) * alone) + 1;
}

static bool overlap_compute_once(overlap *all, double *seconds)
{
    if (!overlap_once(all, COMPUTING, seconds))
        return false;
    all->paces[all->num_paces++ % PACES] = (double)all->steps / (*seconds > 1e-9 ? *seconds : 1e-9);
    return true;
}

/* The first all_reduce touches the memory, and a CPU may have to wake up to its pace. */
static bool overlap_warm_up(overlap *all)
{
    double alone, computing;
    all->steps = 20 * 1000 * 1000;
    bool good = overlap_once(all, ALONE, &alone);
    for (int i = 0; good && i < PACES; i++)
        good = overlap_compute_once(all, &computing);
    return good;
}

/* Machines have other work at one time than at another: what is to take as long as each other is
 * made so in each round. */
static bool overlap_round(overlap *all, long long round)
{
    double seconds[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        bool good = kind == COMPUTING ? overlap_compute_once(all, &seconds[kind])
                                      : overlap_once(all, kind, &seconds[kind]);
        if (!good)
            return false;
        if (kind == ALONE)
            overlap_match(all, seconds[kind]);
        all->columns[kind][round] = seconds[kind];
    }
    for (int device = 0; device < 2; device++) {
        double alone = seconds[ALONE], other = seconds[device ? DEVICE : COMPUTING];
        double shorter = alone < other ? alone : other;
        double saved = alone + other - seconds[device ? BOTH_DEVICE : BOTH];
        all->columns[AFTER + device][round] = alone + other;
        all->columns[HIDDEN + device][round] = shorter > 0 ? saved / shorter : 0;
    }
    return true;
}

static bool overlap_measure(overlap *all, long long rounds)
{
    size_t count = (size_t)rounds;
    if (!overlap_warm_up(all))
        return false;
    for (long long round = 0; round < rounds; round++)
        if (!overlap_round(all, round))
            return false;
    for (int column = 0; column < COLUMNS; column++) {
        memcpy(all->sorted, all->columns[column], count * sizeof(double));
        double median = perf_median(all->sorted, count);
        all->spreads[column] = (spread){median, all->sorted[0], all->sorted[count - 1]};
    }
    return true;
}

/* Of two of which one is much longer than the other, the shorter is hidden or not by chance. */
static bool overlap_comparable(const overlap *all, int work)
{
    double a = all->spreads[ALONE].median, b = all->spreads[work].median;
    return a <= 1.25 * b && b <= 1.25 * a;
}

/* ---- Output -------------------------------------------------------------------------------- */

static void overlap_print_spread(const char *what, const spread *one, double factor, int decimals)
{
    printf("  %-40s %11.*f %11.*f %11.*f\n", what, decimals, factor * one->median, decimals,
           factor * one->least, decimals, factor * one->most);
}

static void overlap_print_half(const overlap *all, const char *what, int device)
{
    int work = device ? DEVICE : COMPUTING;
    overlap_print_spread(what, &all->spreads[work], 1000, 3);
    overlap_print_spread("  one after the other", &all->spreads[AFTER + device], 1000, 3);
    overlap_print_spread("  at the same time", &all->spreads[device ? BOTH_DEVICE : BOTH], 1000, 3);
    if (overlap_comparable(all, work))
        overlap_print_spread("  of the shorter one is hidden, %", &all->spreads[HIDDEN + device],
                             100, 0);
    else
        printf("    the two differ by more than a quarter: what is hidden is not said\n");
}

static void overlap_print(const perf_options *options, overlap *all)
{
    char head[64];
    perf_print_title(options, all->world);
    snprintf(head, sizeof(head), "all_reduce of %zu bytes",
             all->count * muster_type_size(all->type));
    printf("  %-40s %11s %11s %11s\n", head, "median", "least", "most");
    overlap_print_spread("all_reduce alone, ms", &all->spreads[ALONE], 1000, 3);
    overlap_print_half(all, "computing on the CPU, alone, ms", 0);
    overlap_print_half(all, "waiting for a device, alone, ms", 1);
}

static json_t *overlap_json_rounds(const double *values, long long rounds)
{
    json_t *list = json_array();
    for (long long round = 0; round < rounds; round++)
        json_array_append_new(list, json_real(values[round]));
    return list;
}

static json_t *overlap_json(const overlap *all, int device, long long rounds)
{
    int work = device ? DEVICE : COMPUTING, both = device ? BOTH_DEVICE : BOTH;
    int hidden = HIDDEN + device;
    return json_pack("{s:f, s:f, s:o, s:o, s:o, s:o}", "alone_seconds", all->spreads[work].median,
                     "both_seconds", all->spreads[both].median, "hidden",
                     overlap_comparable(all, work) ? json_real(all->spreads[hidden].median)
                                                   : json_null(),
                     "alone_rounds", overlap_json_rounds(all->columns[work], rounds), "both_rounds",
                     overlap_json_rounds(all->columns[both], rounds), "hidden_rounds",
                     overlap_json_rounds(all->columns[hidden], rounds));
}

static void overlap_print_json(const perf_options *options, overlap *all)
{
    long long rounds = options->rounds;
    json_t *found = json_pack(
        "{s:s, s:i, s:I, s:s, s:I, s:I, s:f, s:o, s:o, s:o}", "measured", "overlap", "ranks",
        muster_group_size(all->world), "hosts", (json_int_t)perf_fact(all->world, "hosts"),
        "backend", muster_group_backend(all->world), "size",
        (json_int_t)(all->count * muster_type_size(all->type)), "rounds", (json_int_t)rounds,
        "all_reduce_seconds", all->spreads[ALONE].median, "all_reduce_rounds",
        overlap_json_rounds(all->columns[ALONE], rounds), "computing", overlap_json(all, 0, rounds),
        "device", overlap_json(all, 1, rounds));
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
    all->sorted = calloc((size_t)rounds, sizeof(double));
    bool good = all->send != NULL && all->receive != NULL && all->sorted != NULL;
    for (int column = 0; column < COLUMNS; column++) {
        all->columns[column] = calloc((size_t)rounds, sizeof(double));
        good = good && all->columns[column] != NULL;
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
        free(all.columns[column]);
    free(all.sorted);
    free(all.send);
    free(all.receive);
    return good;
}
