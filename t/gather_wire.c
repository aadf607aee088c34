/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the gathers cost on real prompts, and where one prompt is much longer than the others: bytes
 * on the wire against those of the data, and memory against the result.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peak.h"
#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 30000, TURNS = 20, MIB = 1 << 20 };

/* A token id of the prompts takes four bytes. */
enum { WIRE_WIDTH = 4 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- the real prompts ---- */

/* Adds the numbers of "token_ids":[...] as a list. */
static void add_ids(struct ragged *all, const char *line)
{
    static int64_t ids[8192];
    size_t count = 0;
    const char *at = strstr(line, "\"token_ids\":[");
    if (at == NULL)
        bail_out("a line has no token_ids: %.60s", line);
    at = strchr(at, '[');
    while (*at != ']' && count < sizeof(ids) / sizeof(*ids)) {
        char *end;
        ids[count++] = strtoll(at + 1, &end, 10);
        at = end;
    }
    memcpy(ragged_add(all, count), ids, count * sizeof(*ids));
}

static void add_text(struct ragged *all, const char *line)
{
    size_t length = strlen(line);
    int64_t *bytes = ragged_add(all, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (unsigned char)line[i];
}

/* Each rank has its share of the lines, in the order of the file. */
static struct ragged *read_prompts(int size, void (*add)(struct ragged *all, const char *line))
{
    enum { NUM_PROMPTS = 1319 };
    static char line[65536];
    struct ragged *all = ragged_new();
    FILE *file = fopen(PROMPTS, "re");
    if (file == NULL)
        bail_out("%s is missing", PROMPTS);
    for (int r = 0; r < size; r++) {
        ragged_next_rank(all);
        for (int i = r * NUM_PROMPTS / size; i < (r + 1) * NUM_PROMPTS / size; i++) {
            if (fgets(line, sizeof(line), file) == NULL)
                bail_out("%s ends before line %d", PROMPTS, i + 1);
            add(all, line);
        }
    }
    fclose(file);
    return all;
}

/* One of 100,000 among 1,000 of 20, which lie on all ranks alike. */
static struct ragged *one_long(int size)
{
    struct ragged *all = ragged_new();
    for (int r = 0; r < size; r++) {
        ragged_next_rank(all);
        for (int i = r * 1001 / size; i < (r + 1) * 1001 / size; i++) {
            size_t length = i == 500 ? 100000 : 20;
            int64_t *ids = ragged_add(all, length);
            for (size_t j = 0; j < length; j++)
                ids[j] = 65536 + (int64_t)(j + (size_t)i) % 80000;
        }
    }
    return all;
}

/* ---- bytes on the wire ---- */

/* What this rank must receive: all but its own. */
struct theirs {
    size_t prompts;
    size_t payload;
};

static struct theirs of_others(const struct ragged *all, int rank, size_t width)
{
    muster_token_lists mine = ragged_lists(all, rank);
    size_t own = 0;
    for (size_t i = 0; i < mine.num_lists; i++)
        own += mine.lengths[i];
    return (struct theirs){ragged_num_lists(all) - mine.num_lists,
                           (ragged_num_tokens(all) - own) * width};
}

/* seed 9.3.8, 9.4.5; user case 37 allows more. Only the received bytes are looked at: what one rank
 * receives others have sent. */
static void within_bound(muster_group *world, uint64_t before, struct theirs theirs,
                         const char *what)
{
    uint64_t sent, received;
    muster_group_traffic(world, &sent, &received);
    received -= before;
    double bound = 1.05 * (double)theirs.payload + 16 * (double)theirs.prompts;
    ok((double)received <= bound && received >= theirs.payload,
       "%s: no more bytes than 1.05 times the data and 16 a prompt", what);
    if (muster_group_rank(world) == 0)
        diag("%s: rank 0 received %llu bytes for %zu of data in %zu prompts (bound %.0f)", what,
             (unsigned long long)received, theirs.payload, theirs.prompts, bound);
}

static uint64_t received_before(muster_group *world)
{
    uint64_t sent, received;
    muster_group_traffic(world, &sent, &received);
    return received;
}

static void tokens_on_the_wire(muster_group *world, const struct ragged *all, const char *what)
{
    int rank = muster_group_rank(world);
    muster_token_lists mine = ragged_lists(all, rank);
    struct theirs theirs = of_others(all, rank, WIRE_WIDTH);
    muster_tokens *got = NULL;
    uint64_t before = received_before(world);
    is_int(muster_all_gather_tokens(world, &mine, &got), MUSTER_OK, "%s: gathered", what);
    within_bound(world, before, theirs, what);
    ok(ragged_same_tokens(all, got), "%s: the same on all ranks", what);
    muster_tokens_free(got);
    before = received_before(world);
    is_int(muster_gather_tokens(world, &mine, 0, &got), MUSTER_OK, "and to rank 0 alone");
    if (rank == 0)
        within_bound(world, before, theirs, "to rank 0");
    else
        ok(received_before(world) - before < 8192 && got == NULL,
           "to rank 0: no more bytes than 1.05 times the data and 16 a prompt");
    muster_tokens_free(got);
}

static void wire(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    struct ragged *all = read_prompts(size, add_ids);
    tokens_on_the_wire(world, all, "real prompts");
    ragged_free(all);
    all = one_long(size);
    tokens_on_the_wire(world, all, "one long prompt");
    ragged_free(all);
    all = read_prompts(size, add_text);
    muster_object_list mine = ragged_objects(all, rank);
    muster_objects *got = NULL;
    uint64_t before = received_before(world);
    is_int(muster_all_gather_objects(world, &mine, &got), MUSTER_OK, "objects are gathered");
    within_bound(world, before, of_others(all, rank, 1), "prompts as objects");
    ok(ragged_same_objects(all, got), "and are the same on all ranks");
    muster_objects_free(got);
    ragged_free(all);
    muster_group_free(world);
}

/* ---- time ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void speed(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    struct ragged *all = read_prompts(size, add_ids);
    muster_token_lists mine = ragged_lists(all, rank);
    double times[TURNS];
    bool right = true;
    for (int i = 0; i < TURNS; i++) {
        muster_tokens *got = NULL;
        ranks_barrier();
        double start = seconds();
        right = muster_all_gather_tokens(world, &mine, &got) == MUSTER_OK && right;
        times[i] = seconds() - start;
        muster_tokens_free(got);
    }
    qsort(times, TURNS, sizeof(*times), by_size);
    ok(right, "the real prompts, %d times", TURNS);
    if (rank == 0)
        diag("real prompts on %d ranks: median %.2f ms, best %.2f ms", size,
             times[TURNS / 2] * 1000, times[0] * 1000);
    ragged_free(all);
    muster_group_free(world);
}

/* ---- memory ---- */

static void memory_of(muster_group *world, int64_t value, const char *what)
{
    size_t ranks = (size_t)muster_group_size(world), length = 2 * MIB / ranks, num_lists = 1024;
    size_t *lengths = calloc(num_lists, sizeof(*lengths));
    int64_t *ids = calloc(length, sizeof(*ids));
    for (size_t i = 0; i < num_lists; i++)
        lengths[i] = length / num_lists;
    for (size_t i = 0; i < length; i++)
        ids[i] = value - (int64_t)(i % 100);
    muster_token_lists mine = {num_lists, lengths, ids};
    muster_tokens *got = NULL;
    size_t before = peak_reset();
    muster_status status = muster_all_gather_tokens(world, &mine, &got);
    size_t grown = peak_resident() - before;
    ok(status == MUSTER_OK && got->num_tokens == 2 * MIB &&
           got->tokens[2 * MIB - 1] == ids[length - 1],
       "%s are gathered", what);
    size_t result = 2 * MIB * sizeof(*ids);
    if (PEAK_IS_REAL)
        ok((double)grown <= 2.5 * (double)result, "memory grows by 2.5 times the result at most");
    else
        skip(1, "a sanitizer takes memory of its own");
    if (muster_group_rank(world) == 0)
        diag("%s: resident memory grew by %.2f times the result of %zu MiB", what,
             (double)grown / (double)result, result / MIB);
    muster_tokens_free(got);
    free(ids);
    free(lengths);
}

static void memory(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *world = shapes_world(TIMEOUT_MS);
    memory_of(world, 151643, "tokens of four bytes");
    memory_of(world, INT64_MAX, "tokens of eight bytes");
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "wire, 4 ranks", .size = 4, .points = 13, .body = wire},
        {.name = "wire, 2 ranks", .size = 2, .points = 13, .body = wire},
        {.name = "speed", .size = 4, .points = 1, .body = speed},
        {.name = "memory", .size = 4, .points = 4, .body = memory},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
