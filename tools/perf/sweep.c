/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf OPERATION: a line of the table for each size, type, reduction and root.
 */
#include "config.h"

#include "peer.h"
#include "sweep.h"
#include "agree.h"
#include "command_line.h"
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of most vector units and cache lines. */
enum { BUFFER_ALIGNMENT = 64 };

typedef struct sweep {
    const perf_options *options;
    muster_group *world;
    unsigned char *first, *second;
    perf_peers peers;
    sweep_call call;
    json_t *lines;
    double bus_sum; /* of all bandwidths in the table */
    int bus_count;
    double wrong;
} sweep;

/* ---- Times --------------------------------------------------------------------------------- */

/* Of one call, on the slowest rank. */
static bool sweep_time(sweep *all, double *seconds)
{
    const sweep_options *how = &all->options->sweep;
    for (long long i = 0; i < how->warmups; i++)
        if (all->call.operation->call(&all->call, NULL) != MUSTER_OK)
            return perf_failed(all->world);
    if (muster_barrier(all->world, NULL) != MUSTER_OK)
        return perf_failed(all->world);
    double start = stopwatch_seconds();
    for (long long i = 0; i < how->iterations; i++)
        if (all->call.operation->call(&all->call, NULL) != MUSTER_OK)
            return perf_failed(all->world);
    *seconds = (stopwatch_seconds() - start) / (double)how->iterations;
    return perf_largest(all->world, seconds, 1);
}

/* A call on fresh buffers; *wrong is the elements that are wrong on all ranks. */
static bool sweep_check(sweep *all, const sweep_data *data, double *wrong)
{
    sweep_data_fill(data, &all->call);
    if (all->call.operation->call(&all->call, NULL) != MUSTER_OK)
        return perf_failed(all->world);
    *wrong = (double)sweep_data_wrong(data, &all->call);
    return muster_all_reduce(all->world, wrong, wrong, 1, MUSTER_FLOAT64, MUSTER_SUM, NULL) ==
               MUSTER_OK ||
           perf_failed(all->world);
}

/* One round of muster, out of place or in place; data is there in the first round alone. */
static bool sweep_round(sweep *all, const sweep_data *data, bool inside, sweep_line *line,
                        double *seconds)
{
    const sweep_operation *operation = all->call.operation;
    if (!(inside ? operation->inside : operation->outside))
        return true;
    sweep_call_place(&all->call, inside, all->first, all->second);
    return sweep_time(all, seconds) &&
           (data == NULL || sweep_check(all, data, &line->wrong[inside]));
}

/* The same call of a peer, while muster's ranks wait. */
static bool sweep_peer(sweep *all, int side, double *seconds, char lack[SWEEP_LACK])
{
    const sweep_call *one = &all->call;
    const sweep_options *how = &all->options->sweep;
    char order[256];
    double numbers[2] = {-1, 0};
    if (!(side == SWEEP_MPI ? how->mpi : how->torch))
        return true;
    snprintf(order, sizeof(order), "%s %s %s %d %zu %lld %lld\n", one->operation->name,
             muster_type_name(one->type),
             one->operation->reduces ? muster_reduction_name(one->kind) : "none", one->root,
             one->base, how->iterations, how->warmups);
    if (!perf_peers_ask(&all->peers, all->world, side, order, numbers, lack))
        return false;
    *seconds = numbers[0];
    return true;
}

enum { COLUMNS = 2 + SWEEP_NUM_SIDES }; /* out of place, in place, and what the peers took */

/* One round of muster, and then of each peer. */
static bool sweep_all_sides(sweep *all, const sweep_data *data, sweep_line *line, double *times,
                            long long round)
{
    long long rounds = all->options->rounds;
    for (int inside = 0; inside < 2; inside++)
        if (!sweep_round(all, data, inside != 0, line, &times[inside * rounds + round]))
            return false;
    for (int side = SWEEP_MPI; side < SWEEP_NUM_SIDES; side++)
        if (!sweep_peer(all, side, &times[(2 + side) * rounds + round], line->lacks[side]))
            return false;
    return true;
}

static void sweep_medians(const sweep *all, double *times, sweep_line *line)
{
    size_t rounds = (size_t)all->options->rounds;
    for (int column = 0; column < COLUMNS; column++) {
        double median = perf_median(times + (size_t)column * rounds, rounds);
        if (column < 2)
            line->seconds[column] = median;
        else
            line->against[column - 2] = median;
    }
    /* Peers do it as most programs would. */
    bool inside = all->call.operation->inside && !all->call.operation->sends_blocks &&
                  !all->call.operation->receives_blocks;
    line->against[SWEEP_MUSTER] = line->seconds[inside];
}

static void sweep_tell(sweep *all, const sweep_line *line)
{
    double factor = sweep_bus_factor(&all->call);
    for (int inside = 0; inside < 2; inside++) {
        if (line->wrong[inside] > 0)
            all->wrong += line->wrong[inside];
        if (line->seconds[inside] < 0 || factor <= 0)
            continue;
        all->bus_sum += factor * sweep_bandwidth(&all->call, line->seconds[inside]);
        all->bus_count++;
    }
    if (muster_group_rank(all->world) != 0)
        return;
    if (!all->options->job.json)
        sweep_print_line(all->options, &all->call, line);
    json_array_append_new(all->lines, sweep_json_line(&all->call, line));
}

/* ---- Lines --------------------------------------------------------------------------------- */

static bool sweep_measure(sweep *all, const sweep_data *data, double *times)
{
    sweep_line line = {.wrong = {-1, -1}};
    for (long long i = 0; i < COLUMNS * all->options->rounds; i++)
        times[i] = -1;
    for (long long round = 0; round < all->options->rounds; round++)
        if (!sweep_all_sides(all, round == 0 ? data : NULL, &line, times, round))
            return false;
    sweep_medians(all, times, &line);
    sweep_tell(all, &line);
    return true;
}

static bool sweep_size(sweep *all, const sweep_data *data, long long bytes)
{
    double *times = calloc((size_t)(COLUMNS * all->options->rounds), sizeof(*times));
    sweep_call_size(&all->call, bytes);
    bool good = agree(all->world, times == NULL ? "there is not enough memory for the times" : "");
    good = good && sweep_measure(all, data, times);
    free(times);
    return good;
}

static long long sweep_next(const sweep_options *how, long long bytes)
{
    return how->factor > 0 ? bytes * how->factor : bytes + how->step;
}

static bool sweep_sizes(sweep *all)
{
    const sweep_options *how = &all->options->sweep;
    bool sized = all->call.operation->bus != SWEEP_NONE;
    sweep_data *data = NULL;
    if (how->check != 0)
        data = sweep_data_new(&all->call);
    bool good = agree(all->world, how->check != 0 && data == NULL
                                      ? "there is not enough memory for what is checked"
                                      : "");
    long long bytes = sized ? how->least : how->most;
    for (; good && bytes <= how->most; bytes = sweep_next(how, bytes)) {
        good = sweep_size(all, data, bytes);
        if (how->factor > 0 && (bytes == 0 || bytes > how->most / how->factor))
            break;
    }
    sweep_data_free(data);
    return good;
}

/* Whether muster has this reduction of this type; it refuses the others before anything moves. */
static bool sweep_has(const sweep *all)
{
    return !all->call.operation->reduces ||
           muster_all_reduce(all->world, NULL, NULL, 0, all->call.type, all->call.redop, NULL) ==
               MUSTER_OK;
}

static bool sweep_roots(sweep *all)
{
    const sweep_options *how = &all->options->sweep;
    bool every = how->root < 0 && all->call.operation->rooted;
    int from = how->root < 0 ? 0 : how->root;
    int to = every ? all->call.size : from + 1;
    for (all->call.root = from; all->call.root < to; all->call.root++)
        if (!sweep_sizes(all))
            return false;
    return true;
}

static bool sweep_reduction(sweep *all, int kind, bool chosen)
{
    bool made = kind == MUSTER_PREMUL_SUM && all->call.operation->reduces;
    all->call.kind = all->call.redop = (muster_reduction)kind;
    if (made && muster_reduction_premul_sum(all->world, 2.0, &all->call.redop) != MUSTER_OK)
        return perf_failed(all->world);
    bool good = true;
    if (sweep_has(all))
        good = sweep_roots(all);
    else if (chosen)
        good = agree(all->world, muster_last_error());
    if (made)
        muster_reduction_free(all->world, all->call.redop);
    return good;
}

static bool sweep_reductions(sweep *all, bool one_type)
{
    int chosen = all->options->sweep.redop;
    bool every = chosen == MUSTER_NUM_REDUCTIONS && all->call.operation->reduces;
    if (!every)
        return sweep_reduction(all, chosen == MUSTER_NUM_REDUCTIONS ? MUSTER_SUM : chosen,
                               one_type);
    for (int kind = 0; kind < MUSTER_NUM_REDUCTIONS; kind++)
        if (!sweep_reduction(all, kind, false))
            return false;
    return true;
}

static bool sweep_types(sweep *all)
{
    int chosen = all->options->sweep.type;
    bool typed = all->call.operation->bus != SWEEP_NONE;
    bool every = chosen == MUSTER_NUM_TYPES && typed;
    if (!typed)
        chosen = MUSTER_INT8; /* of which there are none */
    for (int type = every ? 0 : chosen; type < (every ? MUSTER_NUM_TYPES : chosen + 1); type++) {
        all->call.type = (muster_type)type;
        if (!sweep_reductions(all, !every))
            return false;
    }
    return true;
}

/* ---- The whole ----------------------------------------------------------------------------- */

/* Room for the last size in any type, the longest blocks, and one element of each at least. */
static bool sweep_allocate(sweep *all)
{
    const sweep_operation *operation = all->call.operation;
    size_t size = (size_t)all->call.size;
    size_t blocks = operation->sends_blocks || operation->receives_blocks ? size : 1;
    size_t block = (size_t)all->options->sweep.most / blocks + sizeof(uint64_t);
    size_t room = (block + (operation->varies ? block / 2 : 0)) * blocks;
    room = room / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT + BUFFER_ALIGNMENT;
    all->call.counts = calloc(size, sizeof(*all->call.counts));
    all->first = aligned_alloc(BUFFER_ALIGNMENT, room);
    all->second = aligned_alloc(BUFFER_ALIGNMENT, room);
    if (all->call.counts == NULL || all->first == NULL || all->second == NULL)
        return false;
    /* Without a check nothing else writes to them before they are sent. */
    memset(all->first, 0, room);
    memset(all->second, 0, room);
    return true;
}

static bool sweep_run(sweep *all)
{
    char why[600] = "";
    int root = all->options->sweep.root;
    if (root >= all->call.size)
        snprintf(why, sizeof(why), "--root %d is none of the %d ranks", root, all->call.size);
    else if (!sweep_allocate(all))
        snprintf(why, sizeof(why), "there is not enough memory for two buffers of %lld bytes",
                 all->options->sweep.most);
    if (!agree(all->world, why) || !perf_peers_start(&all->peers, all->options, all->world, -1))
        return false;
    if (muster_group_rank(all->world) == 0 && !all->options->job.json)
        sweep_print_head(all->options, all->world, &all->call);
    return sweep_types(all);
}

static void sweep_end(const sweep *all)
{
    double bus = all->bus_count > 0 ? all->bus_sum / all->bus_count : 0;
    if (all->options->job.json)
        sweep_print_json(all->options, all->world, all->call.operation->name, (long long)all->wrong,
                         bus, all->lines);
    else
        sweep_print_end(all->options, (long long)all->wrong, bus, all->lines);
}

bool perf_sweep(const perf_options *options, muster_group *world)
{
    sweep all = {.options = options, .world = world, .lines = json_array()};
    all.call = (sweep_call){.operation = sweep_find(options->what),
                            .world = world,
                            .rank = muster_group_rank(world),
                            .size = muster_group_size(world)};
    bool good = sweep_run(&all);
    if (good && all.call.rank == 0)
        sweep_end(&all);
    if (good && all.wrong > 0)
        good = all.call.rank != 0;
    perf_peers_end(&all.peers);
    json_decref(all.lines);
    free(all.first);
    free(all.second);
    free(all.call.counts);
    return good;
}
