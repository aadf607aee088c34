/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf groups: the time to make a world and both kinds of sub-groups, with muster and with
 * torch.
 */
#include "config.h"

#include "perf.h"
#include "peer.h"
#include "agree.h"
#include "stopwatch.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* What is measured in a round, and the largest of all ranks in the end. */
enum { WORLD_SECONDS, PART_SECONDS, WORLD_OPERATIONS, PART_OPERATIONS, NUM_VALUES };

/* Of muster, and of torch where it was asked for. */
typedef struct groups_times {
    double first; /* of the ranks' first world, with what a process does once */
    double world[PERF_MOST_ROUNDS], parts[PERF_MOST_ROUNDS];
    double world_median, parts_median;
} groups_times;

typedef struct groups_found {
    size_t size; /* of a regular sub-group */
    groups_times muster, torch;
    double values[NUM_VALUES]; /* of the last round */
    perf_peers peers;
} groups_found;

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

static bool groups_round(const perf_options *options, muster_group *base, const char *name,
                         size_t size, double *values)
{
    muster_group *world = NULL;
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

/* The same with torch, while muster's ranks wait. */
static bool groups_torch(groups_found *found, muster_group *base, const char *name, double *world,
                         double *parts)
{
    char order[128], lack[SWEEP_LACK] = "";
    double numbers[2] = {0};
    snprintf(order, sizeof(order), "groups %s %zu\n", name, found->size);
    if (!perf_peers_ask(&found->peers, base, SWEEP_TORCH, order, numbers, lack))
        return false;
    *world = numbers[0];
    *parts = numbers[1];
    char why[SWEEP_LACK + 32] = "";
    if (numbers[0] < 0)
        snprintf(why, sizeof(why), "--peer torch: %s", lack);
    return agree(base, why);
}

/* The round before the first: the base, which has been made, is muster's first world. */
static bool groups_first(const perf_options *options, groups_found *found, muster_group *base)
{
    double parts;
    found->muster.first = options->opening_seconds;
    return perf_largest(base, &found->muster.first, 1) &&
           (!options->sweep.torch ||
            groups_torch(found, base, "first", &found->torch.first, &parts));
}

static bool groups_rounds(const perf_options *options, groups_found *found, muster_group *base)
{
    for (long long i = 0; i < options->rounds; i++) {
        char name[64];
        snprintf(name, sizeof(name), "round%lld", i);
        if (!groups_round(options, base, name, found->size, found->values))
            return false;
        found->muster.world[i] = found->values[WORLD_SECONDS];
        found->muster.parts[i] = found->values[PART_SECONDS];
        if (options->sweep.torch &&
            !groups_torch(found, base, name, &found->torch.world[i], &found->torch.parts[i]))
            return false;
    }
    return true;
}

/* ---- Output -------------------------------------------------------------------------------- */

static json_t *groups_numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

/* Their names begin with prefix. */
static void groups_times_json(json_t *all, const char *prefix, const groups_times *times,
                              size_t count)
{
    const struct {
        const char *name;
        json_t *value;
    } facts[] = {{"first_world_seconds", json_real(times->first)},
                 {"world_seconds", json_real(times->world_median)},
                 {"sub_groups_seconds", json_real(times->parts_median)},
                 {"world_rounds", groups_numbers(times->world, count)},
                 {"sub_groups_rounds", groups_numbers(times->parts, count)}};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s", prefix, facts[i].name);
        json_object_set_new(all, name, facts[i].value);
    }
}

static void groups_print_json(const perf_options *options, muster_group *base,
                              const groups_found *found)
{
    json_t *all =
        json_pack("{s:s, s:i, s:I, s:I, s:s, s:I, s:I}", "measured", "groups", "ranks",
                  muster_group_size(base), "hosts", (json_int_t)perf_fact(base, "hosts"),
                  "group_size", (json_int_t)found->size, "backend", muster_group_backend(base),
                  "world_store_operations", (json_int_t)found->values[WORLD_OPERATIONS],
                  "sub_groups_store_operations", (json_int_t)found->values[PART_OPERATIONS]);
    groups_times_json(all, "", &found->muster, (size_t)options->rounds);
    if (options->sweep.torch)
        groups_times_json(all, "torch_", &found->torch, (size_t)options->rounds);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

/* A line of the table; operations below 0 are not known. */
static void groups_print_line(const char *name, double seconds, double operations)
{
    printf("  %-44s %12.2f", name, 1000 * seconds);
    if (operations >= 0)
        printf(" %18.0f", operations);
    putchar('\n');
}

static void groups_print_torch(const char *name, double muster, double torch)
{
    printf("  %-44s %12.2f %18.3f\n", name, 1000 * torch, muster / torch);
}

static void groups_print(const perf_options *options, muster_group *base, const groups_found *found)
{
    size_t ranks = (size_t)muster_group_size(base), size = found->size;
    const groups_times *muster = &found->muster, *torch = &found->torch;
    char name[128];
    snprintf(name, sizeof(name), "%zu regular of %zu and %zu orthogonal of %zu", ranks / size, size,
             size, ranks / size);
    perf_print_title(options, base);
    printf("  %-44s %12s %18s\n", "", "milliseconds", "store operations");
    groups_print_line("first world", muster->first, -1);
    groups_print_line("world", muster->world_median, found->values[WORLD_OPERATIONS]);
    groups_print_line(name, muster->parts_median, found->values[PART_OPERATIONS]);
    if (options->sweep.torch) {
        printf("  %-44s %12s %18s\n", "with torch", "", "muster's share");
        groups_print_torch("first world", muster->first, torch->first);
        groups_print_torch("world", muster->world_median, torch->world_median);
        groups_print_torch(name, muster->parts_median, torch->parts_median);
    }
    puts("  Time of the slowest rank; store operations of the rank with most. The first\n"
         "  world is the one that holds the ranks together, made once.");
}

static void groups_tell(const perf_options *options, muster_group *base, groups_found *found)
{
    size_t count = (size_t)options->rounds;
    groups_times *both[] = {&found->muster, &found->torch};
    for (size_t i = 0; i < 2; i++) {
        both[i]->world_median = perf_median(both[i]->world, count);
        both[i]->parts_median = perf_median(both[i]->parts, count);
    }
    if (options->job.json)
        groups_print_json(options, base, found);
    else
        groups_print(options, base, found);
}

static bool groups_run(const perf_options *options, muster_group *base, groups_found *found)
{
    bool good = perf_peers_start(&found->peers, options, base, -1) &&
                groups_first(options, found, base) && groups_rounds(options, found, base);
    perf_peers_end(&found->peers);
    if (good && muster_group_rank(base) == 0)
        groups_tell(options, base, found);
    return good;
}

bool perf_groups(const perf_options *options, muster_group *base)
{
    size_t ranks = (size_t)muster_group_size(base);
    size_t size = options->group_size > 0 ? (size_t)options->group_size
                                          : groups_usual_size(muster_group_size(base));
    groups_found *found = calloc(1, sizeof(*found));
    char why[128] = "";
    if (found == NULL)
        snprintf(why, sizeof(why), "there is not enough memory for the times");
    else if (ranks % size != 0)
        snprintf(why, sizeof(why), "--group-size %zu does not divide the %zu ranks of the job",
                 size, ranks);
    bool good = agree(base, why);
    if (good) {
        found->size = size;
        good = groups_run(options, base, found);
    }
    free(found);
    return good;
}
