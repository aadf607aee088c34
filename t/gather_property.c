/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Both gathers with random ragged lists, against what each rank computes by itself. The seed is
 * printed; MUSTER_TEST_SEED sets it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 30000, ROUNDS = 34 };

static uint64_t seed_of_test(void)
{
    const char *text = getenv("MUSTER_TEST_SEED");
    return text != NULL ? strtoull(text, NULL, 0) : 20240607;
}

static uint64_t draw(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* Of 0 to most, small ones as often as large ones. */
static uint64_t draw_size(uint64_t *state, uint64_t most)
{
    uint64_t bits = 1;
    while (bits < 64 && most >> bits > 0)
        bits++;
    return draw(state) % (most + 1) >> draw(state) % bits;
}

static int64_t draw_value(uint64_t *state, int bits)
{
    uint64_t raw = draw(state) >> bits;
    return raw & 1 ? (int64_t)(raw >> 1) : -(int64_t)(raw >> 1) - 1;
}

static struct ragged *draw_lists(uint64_t *state, int size)
{
    struct ragged *all = ragged_new();
    int bits = (int)(draw(state) % 64);
    uint64_t most_lists = draw(state) % 4 == 0 ? 1 : 300, most_length = draw_size(state, 3000);
    for (int r = 0; r < size; r++) {
        ragged_next_rank(all);
        uint64_t lists = draw(state) % 4 == 0 ? 0 : draw_size(state, most_lists);
        for (uint64_t i = 0; i < lists; i++) {
            size_t length = draw(state) % 4 == 0 ? 0 : (size_t)draw_size(state, most_length);
            int64_t *ids = ragged_add(all, length);
            for (size_t j = 0; j < length; j++)
                ids[j] = draw_value(state, bits);
        }
    }
    return all;
}

static bool gathers_tokens(muster_group *world, const struct ragged *all, int root)
{
    int rank = muster_group_rank(world);
    muster_token_lists mine = ragged_lists(all, rank);
    muster_tokens *got = NULL;
    bool right = (root < 0 ? muster_all_gather_tokens(world, &mine, &got)
                           : muster_gather_tokens(world, &mine, root, &got)) == MUSTER_OK;
    right = right && (root >= 0 && root != rank ? got == NULL : ragged_same_tokens(all, got));
    muster_tokens_free(got);
    return right;
}

static bool gathers_objects(muster_group *world, struct ragged *all, int root)
{
    int rank = muster_group_rank(world);
    muster_object_list mine = ragged_objects(all, rank);
    muster_objects *got = NULL;
    bool right = (root < 0 ? muster_all_gather_objects(world, &mine, &got)
                           : muster_gather_objects(world, &mine, root, &got)) == MUSTER_OK;
    right = right && (root >= 0 && root != rank ? got == NULL : ragged_same_objects(all, got));
    muster_objects_free(got);
    return right;
}

static void rounds(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    uint64_t seed = seed_of_test();
    if (rank == 0)
        diag("MUSTER_TEST_SEED=%" PRIu64, seed);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + (uint64_t)(size * ROUNDS + round) * UINT64_C(0x2545f4914f6cdd1d);
        int root = (int)(draw(&state) % (uint64_t)(size + 1)) - 1;
        struct ragged *all = draw_lists(&state, size);
        bool right = gathers_tokens(world, all, root);
        right = gathers_objects(world, all, root) && right;
        ok(right, "round %d: %zu lists of %zu tokens, root %d", round, ragged_num_lists(all),
           ragged_num_tokens(all), root);
        ragged_free(all);
    }
    muster_group_free(world);
}

/* user case 37: 0, 1, 7 and 1000 lists of 0 to 5000 tokens; the wire carries little more than the
 * data */
static void very_ragged(int rank, int size)
{
    static const int counts[] = {7, 0, 1000, 1};
    uint64_t state = seed_of_test(), before, received, sent;
    muster_group *world = shapes_world(TIMEOUT_MS);
    struct ragged *all = ragged_new();
    for (int r = 0; r < size; r++) {
        ragged_next_rank(all);
        for (int i = 0; i < counts[r % 4]; i++) {
            size_t length = (size_t)(draw(&state) % 5001);
            int64_t *ids = ragged_add(all, length);
            for (size_t j = 0; j < length; j++)
                ids[j] = (int64_t)(draw(&state) % 200000) - 1;
        }
    }
    muster_group_traffic(world, &sent, &before);
    ok(gathers_tokens(world, all, -1), "%zu lists of %zu tokens on %d ranks", ragged_num_lists(all),
       ragged_num_tokens(all), size);
    muster_group_traffic(world, &sent, &received);
    muster_token_lists mine = ragged_lists(all, rank);
    size_t own = 0;
    for (size_t i = 0; i < mine.num_lists; i++)
        own += mine.lengths[i];
    uint64_t data = (ragged_num_tokens(all) - own) * sizeof(int32_t);
    uint64_t lists = ragged_num_lists(all) - mine.num_lists;
    /* What is announced first takes three messages of 256 bytes from each rank. */
    ok(received - before <= data + 64 * lists + 768 * (uint64_t)(size - 1),
       "are little more than themselves on the wire");
    ragged_free(all);
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "1 rank", .size = 1, .points = ROUNDS, .body = rounds},
        {.name = "2 ranks", .size = 2, .points = ROUNDS, .body = rounds},
        {.name = "3 ranks", .size = 3, .points = ROUNDS, .body = rounds},
        {.name = "4 ranks", .size = 4, .points = ROUNDS, .body = rounds},
        {.name = "5 ranks", .size = 5, .points = ROUNDS, .body = rounds},
        {.name = "6 ranks", .size = 6, .points = ROUNDS, .body = rounds},
        {.name = "very ragged, 1 rank", .size = 1, .points = 2, .body = very_ragged},
        {.name = "very ragged, 2 ranks", .size = 2, .points = 2, .body = very_ragged},
        {.name = "very ragged, 3 ranks", .size = 3, .points = 2, .body = very_ragged},
        {.name = "very ragged, 4 ranks", .size = 4, .points = 2, .body = very_ragged},
        {.name = "very ragged, 5 ranks", .size = 5, .points = 2, .body = very_ragged},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
