/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf groups: the time to make a world and both kinds of sub-groups.
 */
#include "config.h"

#include "perf.h"
#include "agree.h"
#include "stopwatch.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* What is measured in a round, and the largest of all ranks in the end. */
enum { WORLD_SECONDS, PART_SECONDS, WORLD_OPERATIONS, PART_OPERATIONS, NUM_VALUES };

/* The divisor next to the square root, from above: 4 of 8, 3 of 6, 5 of 5. */
static size_t groups_usual_size(int ranks)
{
    int size = 1;
    while (size * size < ranks || ranks % size != 0)
        size++;
    return (size_t)size;
}

static bool groups_measure(muster_group *world, size_t size, double *values)
{
    muster_group *regular = NULL, *orthogonal = NULL;
    double start = stopwatch_seconds();
    if (muster_create_sub_group(world, size, NULL, &regular, &orthogonal) != MUSTER_OK)
        return perf_failed(world);
    values[PART_SECONDS] = stopwatch_seconds() - start;
    values[WORLD_OPERATIONS] = (double)perf_fact(world, "store_operations");
    /* One call made both, so each of them tells what the call took. */
    values[PART_OPERATIONS] = (double)perf_fact(regular, "store_operations");
    muster_group_free(orthogonal);
    muster_group_free(regular);
    return true;
}

static bool groups_round(const perf_options *options, muster_group *base, long long round,
                         size_t size, double *values)
{
    char name[64];
    muster_group *world = NULL;
    snprintf(name, sizeof(name), "round%lld", round);
    if (muster_barrier(base, NULL) != MUSTER_OK)
        return perf_failed(base);
    double start = stopwatch_seconds();
    if (job_options_open(&options->job, name, &world) != MUSTER_OK)
        return perf_failed(base);
    values[WORLD_SECONDS] = stopwatch_seconds() - start;
    bool good = groups_measure(world, size, values) && perf_largest(base, values, NUM_VALUES);
    muster_group_free(world);
    return good;
}

static json_t *groups_numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static void groups_print_json(const perf_options *options, muster_group *base, size_t size,
                              double *const *rounds, const double *last)
{
    size_t count = (size_t)options->rounds;
    json_t *world_rounds = groups_numbers(rounds[WORLD_SECONDS], count);
    json_t *part_rounds = groups_numbers(rounds[PART_SECONDS], count);
    json_t *all =
        json_pack("{s:s, s:i, s:I, s:I, s:s, s:f, s:f, s:I, s:I, s:o, s:o}", "measured", "groups",
                  "ranks", muster_group_size(base), "hosts", (json_int_t)perf_fact(base, "hosts"),
                  "group_size", (json_int_t)size, "backend", muster_group_backend(base),
                  "world_seconds", perf_median(rounds[WORLD_SECONDS], count), "sub_groups_seconds",
                  perf_median(rounds[PART_SECONDS], count), "world_store_operations",
                  (json_int_t)last[WORLD_OPERATIONS], "sub_groups_store_operations",
                  (json_int_t)last[PART_OPERATIONS], "world_rounds", world_rounds,
                  "sub_groups_rounds", part_rounds);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

static void groups_print(const perf_options *options, muster_group *base, size_t size,
                         double *const *rounds, const double *last)
{
    size_t count = (size_t)options->rounds;
    size_t ranks = (size_t)muster_group_size(base);
    perf_print_title(options, base);
    printf("  %-44s %12s %18s\n", "", "milliseconds", "store operations");
    printf("  %-44s %12.2f %18.0f\n", "world", 1000 * perf_median(rounds[WORLD_SECONDS], count),
           last[WORLD_OPERATIONS]);
    char name[128];
    snprintf(name, sizeof(name), "%zu regular of %zu and %zu orthogonal of %zu", ranks / size, size,
             size, ranks / size);
    printf("  %-44s %12.2f %18.0f\n", name, 1000 * perf_median(rounds[PART_SECONDS], count),
           last[PART_OPERATIONS]);
    puts("  Time of the slowest rank; store operations of the rank with most.");
}

static bool groups_all_rounds(const perf_options *options, muster_group *base, size_t size,
                              double *const *rounds, double *values)
{
    for (long long i = 0; i < options->rounds; i++) {
        if (!groups_round(options, base, i, size, values))
            return false;
        rounds[WORLD_SECONDS][i] = values[WORLD_SECONDS];
        rounds[PART_SECONDS][i] = values[PART_SECONDS];
    }
    return true;
}

bool perf_groups(const perf_options *options, muster_group *base)
{
    size_t ranks = (size_t)muster_group_size(base);
    size_t size = options->group_size > 0 ? (size_t)options->group_size
                                          : groups_usual_size(muster_group_size(base));
    char why[128] = "";
    if (ranks % size != 0)
        snprintf(why, sizeof(why), "--group-size %zu does not divide the %zu ranks of the job",
                 size, ranks);
    if (!agree(base, why))
        return false;
    double values[NUM_VALUES] = {0};
    double world[PERF_MOST_ROUNDS], parts[PERF_MOST_ROUNDS];
    double *rounds[] = {world, parts};
    if (!groups_all_rounds(options, base, size, rounds, values))
        return false;
    if (muster_group_rank(base) != 0)
        return true;
    if (options->job.json)
        groups_print_json(options, base, size, rounds, values);
    else
        groups_print(options, base, size, rounds, values);
    return true;
}
