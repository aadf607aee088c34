/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf gather_tokens: time, bytes on the wire and memory of muster_all_gather_tokens.
 */
#include "config.h"

#include "lists.h"
#include "peer.h"
#include "agree.h"
#include "command_line.h"
#include "stopwatch.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest of all ranks, but for the wire, which is the sum. */
typedef struct gather_found {
    double seconds[PERF_MOST_ROUNDS];
    double torch[PERF_MOST_ROUNDS];  /* the same lists as a padded matrix */
    double moving[PERF_MOST_ROUNDS]; /* of that, in torch's calls */
    double median, torch_median, moving_median;
    double growth; /* of resident memory; -1 where unknown */
    double wire;
    double payload;
    double result;
    int width;
    perf_peers peers;
} gather_found;

static double gather_result_size(const muster_tokens *all)
{
    return (double)(all->num_tokens + all->num_lists + 1 + all->num_ranks + 1) * 8;
}

static bool gather_is_right(const muster_tokens *all, const prompts *list)
{
    size_t offsets = (list->count + 1) * sizeof(*list->offsets);
    return all->num_lists == list->count && all->num_tokens == list->num_tokens &&
           memcmp(all->list_offsets, list->offsets, offsets) == 0 &&
           (list->num_tokens == 0 ||
            memcmp(all->tokens, list->tokens, list->num_tokens * sizeof(*list->tokens)) == 0);
}

/* One gather between barriers; its result is freed. */
static bool gather_once(muster_group *world, const prompts *list, double *seconds, double *result)
{
    int rank = muster_group_rank(world), size = muster_group_size(world);
    size_t from = prompts_share(list->count, rank, size);
    size_t to = prompts_share(list->count, rank + 1, size);
    muster_token_lists mine = {to - from, list->lengths + from, list->tokens + list->offsets[from]};
    muster_tokens *all = NULL;
    if (muster_barrier(world, NULL) != MUSTER_OK)
        return perf_failed(world);
    double start = stopwatch_seconds();
    if (muster_all_gather_tokens(world, &mine, &all) != MUSTER_OK)
        return perf_failed(world);
    *seconds = stopwatch_seconds() - start;
    *result = gather_result_size(all);
    bool right = gather_is_right(all, list);
    muster_tokens_free(all);
    if (!right)
        command_line_say("rank %d: the ranks do not have the same file", rank);
    return right;
}

static uint64_t gather_received(const muster_group *world)
{
    uint64_t sent, received = 0;
    (void)muster_group_traffic(world, &sent, &received);
    return received;
}

/* The first gather, of which memory and wire are taken; the barrier before it moves no payload but
 * some headers, which are measured alone and taken off. */
static bool gather_first(muster_group *world, const prompts *list, gather_found *found)
{
    double unused;
    uint64_t at_start = gather_received(world);
    if (muster_barrier(world, NULL) != MUSTER_OK)
        return perf_failed(world);
    uint64_t before = gather_received(world);
    perf_memory_reset();
    double resident = perf_memory_now();
    if (!gather_once(world, list, &unused, &found->result))
        return false;
    double most = perf_memory_most();
    found->growth = resident < 0 || most < 0 ? -1 : most - resident;
    uint64_t received = gather_received(world) - before - (before - at_start);
    uint64_t sum = 0;
    if (muster_all_reduce(world, &received, &sum, 1, MUSTER_UINT64, MUSTER_SUM, NULL) != MUSTER_OK)
        return perf_failed(world);
    found->wire = (double)sum;
    return perf_largest(world, &found->growth, 1);
}

/* The same with torch, while muster's ranks wait. What its ranks receive they compare with the
 * lists, as muster's do. */
static bool gather_torch(muster_group *world, const prompts *list, gather_found *found,
                         double numbers[2])
{
    int rank = muster_group_rank(world), size = muster_group_size(world);
    char order[128], lack[SWEEP_LACK] = "", why[SWEEP_LACK + 32] = "";
    snprintf(order, sizeof(order), "gather_tokens %zu %zu\n",
             prompts_share(list->count, rank, size), prompts_share(list->count, rank + 1, size));
    if (!perf_peers_ask(&found->peers, world, SWEEP_TORCH, order, numbers, lack))
        return false;
    if (numbers[0] < 0)
        snprintf(why, sizeof(why), "--peer torch: %s", lack);
    return agree(world, why);
}

static bool gather_rounds(const perf_options *options, muster_group *world, const prompts *list,
                          gather_found *found)
{
    double unused, torch[2];
    if (options->sweep.torch && !gather_torch(world, list, found, torch))
        return false;
    for (long long i = 0; i < options->rounds; i++) {
        if (!gather_once(world, list, &found->seconds[i], &unused))
            return false;
        if (!options->sweep.torch)
            continue;
        if (!gather_torch(world, list, found, torch))
            return false;
        found->torch[i] = torch[0];
        found->moving[i] = torch[1];
    }
    return perf_largest(world, found->seconds, (size_t)options->rounds);
}

static bool gather_measure(const perf_options *options, muster_group *world, const prompts *list,
                           gather_found *found)
{
    found->width = lists_width(list);
    found->payload =
        (double)list->num_tokens * found->width * (double)(muster_group_size(world) - 1);
    if (!gather_first(world, list, found))
        return false;
    FILE *data = options->sweep.torch ? lists_file(list) : NULL;
    bool wanting = options->sweep.torch && data == NULL;
    bool good = agree(world, wanting ? "--peer torch: the lists can't be written to a file" : "") &&
                perf_peers_start(&found->peers, options, world, data == NULL ? -1 : fileno(data)) &&
                gather_rounds(options, world, list, found);
    perf_peers_end(&found->peers);
    if (data != NULL)
        fclose(data);
    return good;
}

static double gather_ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static json_t *gather_numbers(const double *values, long long count)
{
    json_t *list = json_array();
    for (long long i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static void gather_print_json(const perf_options *options, muster_group *world, const prompts *list,
                              const gather_found *found)
{
    json_t *all =
        json_pack("{s:s, s:i, s:I, s:s, s:I, s:I, s:i, s:f, s:I, s:I, s:I, s:I, s:o}", "measured",
                  options->what, "ranks", muster_group_size(world), "hosts",
                  (json_int_t)perf_fact(world, "hosts"), "backend", muster_group_backend(world),
                  "lists", (json_int_t)list->count, "tokens", (json_int_t)list->num_tokens,
                  "bytes_per_token", found->width, "seconds", found->median, "payload_bytes",
                  (json_int_t)found->payload, "wire_bytes", (json_int_t)found->wire, "result_bytes",
                  (json_int_t)found->result, "memory_growth_bytes", (json_int_t)found->growth,
                  "rounds", gather_numbers(found->seconds, options->rounds));
    if (options->sweep.torch) {
        json_object_set_new(all, "torch_seconds", json_real(found->torch_median));
        json_object_set_new(all, "torch_moving_seconds", json_real(found->moving_median));
        json_object_set_new(all, "torch_rounds", gather_numbers(found->torch, options->rounds));
    }
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

static void gather_print_torch(const gather_found *found)
{
    printf("  %-28s %14.3f ms, muster's share %.4f\n", "torch's time, padded",
           1000 * found->torch_median, gather_ratio(found->median, found->torch_median));
    printf("  %-28s %14.3f ms, muster's share %.4f\n", "of that, between ranks",
           1000 * found->moving_median, gather_ratio(found->median, found->moving_median));
}

static void gather_print(const perf_options *options, muster_group *world, const prompts *list,
                         const gather_found *found)
{
    double pairs = (double)list->count * (double)(muster_group_size(world) - 1);
    perf_print_title(options, world);
    printf("  %-28s %14zu lists\n", "", list->count);
    printf("  %-28s %14zu token ids of %d byte%s\n", "", list->num_tokens, found->width,
           found->width == 1 ? "" : "s");
    printf("  %-28s %14.3f ms\n", "time of the slowest rank", 1000 * found->median);
    if (options->sweep.torch)
        gather_print_torch(found);
    printf("  %-28s %14.0f bytes\n", "payload to all ranks", found->payload);
    printf("  %-28s %14.0f bytes, %.4f of the payload\n", "on the wire", found->wire,
           gather_ratio(found->wire, found->payload));
    printf("  %-28s %14.2f bytes\n", "more than payload, per list",
           gather_ratio(found->wire - found->payload, pairs));
    printf("  %-28s %14.0f bytes\n", "result on each rank", found->result);
    if (found->growth >= 0)
        printf("  %-28s %14.0f bytes, %.2f of the result\n", "resident memory grew by",
               found->growth, gather_ratio(found->growth, found->result));
}

static void gather_tell(const perf_options *options, muster_group *world, const prompts *list,
                        gather_found *found)
{
    size_t count = (size_t)options->rounds;
    found->median = perf_median(found->seconds, count);
    found->torch_median = perf_median(found->torch, count);
    found->moving_median = perf_median(found->moving, count);
    if (options->job.json)
        gather_print_json(options, world, list, found);
    else
        gather_print(options, world, list, found);
}

bool perf_gather(const perf_options *options, muster_group *world)
{
    prompts list;
    gather_found *found = calloc(1, sizeof(*found));
    char why[1024] = "";
    bool good = lists_make(options, &list, why, sizeof(why));
    if (good && found == NULL)
        snprintf(why, sizeof(why), "there is not enough memory for the times");
    good = agree(world, why) && gather_measure(options, world, &list, found);
    if (good && muster_group_rank(world) == 0)
        gather_tell(options, world, &list, found);
    prompts_free(&list);
    free(found);
    return good;
}
