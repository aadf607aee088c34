/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering lists of token ids: what comes out, in worlds of 1 to 8 ranks and their sub-groups. The
 * backend is the Gloo of the distribution (seed 9.3.15).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 30000, WIDE_TOKENS = 400 };

/* To every rank, then to each one alone. */
static bool gathers(muster_group *group, const struct ragged *all)
{
    muster_token_lists mine = ragged_lists(all, muster_group_rank(group));
    muster_tokens *got = NULL;
    bool right = muster_all_gather_tokens(group, &mine, &got) == MUSTER_OK;
    right = right && ragged_same_tokens(all, got);
    muster_tokens_free(got);
    for (int root = 0; root < muster_group_size(group); root++) {
        static muster_tokens stale;
        got = &stale;
        if (muster_gather_tokens(group, &mine, root, &got) != MUSTER_OK) {
            diag("%s", muster_last_error());
            return false;
        }
        if (muster_group_rank(group) != root) {
            right = right && got == NULL;
            continue;
        }
        right = right && ragged_same_tokens(all, got);
        muster_tokens_free(got);
    }
    return right;
}

static void all_shapes(muster_group *group, const char *where)
{
    for (int i = 0; i < NUM_SHAPES; i++) {
        struct ragged *all = shapes_of_group(&shapes[i], group);
        ok(gathers(group, all), "%s in %s", shapes[i].name, where);
        ragged_free(all);
    }
}

/* user cases 37, 38; seed 9.3.11: the model has the bounds of each rank's lists */
static void shapes_everywhere(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *world = shapes_world(TIMEOUT_MS);
    shapes_in_all_groups(world, all_shapes);
    muster_group_free(world);
}

/* The bytes that this rank sends to gather so many lists of this length, which hold zeros and this
 * value; -1 if they do not come through. */
static int64_t bytes_of(muster_group *world, size_t num_lists, size_t length, int64_t value)
{
    uint64_t before = 0, after = 0, received = 0;
    size_t total = num_lists * length;
    size_t *lengths = calloc(num_lists, sizeof(*lengths));
    int64_t *tokens = calloc(total + 1, sizeof(*tokens));
    for (size_t i = 0; i < num_lists; i++)
        lengths[i] = length;
    for (size_t i = 0; i < total; i++)
        tokens[i] = i % 2 == 0 ? value : 0;
    muster_token_lists mine = {num_lists, lengths, tokens};
    muster_tokens *got = NULL;
    muster_group_traffic(world, &before, &received);
    bool right = muster_all_gather_tokens(world, &mine, &got) == MUSTER_OK;
    muster_group_traffic(world, &after, &received);
    const int64_t *back = right ? got->tokens + (size_t)muster_group_rank(world) * total : NULL;
    right = right && got->num_tokens == 2 * total &&
            got->list_offsets[2 * num_lists] == 2 * total &&
            memcmp(back, tokens, total * sizeof(*tokens)) == 0;
    muster_tokens_free(got);
    free(tokens);
    free(lengths);
    return right ? (int64_t)(after - before) : -1;
}

/* seed 9.3.9: any int64 comes through, in the narrowest width that all values fit */
static void widths(int rank, int size)
{
    static const struct {
        int64_t value;
        int width;
    } rows[] = {
        {INT8_MIN, 1},  {INT8_MAX + 1, 2},           {INT8_MIN - 1, 2},           {INT16_MAX, 2},
        {INT16_MIN, 2}, {INT16_MAX + 1, 4},          {INT16_MIN - 1, 4},          {INT32_MAX, 4},
        {INT32_MIN, 4}, {INT32_MAX + INT64_C(1), 8}, {INT32_MIN - INT64_C(1), 8}, {INT64_MAX, 8},
        {INT64_MIN, 8},
    };
    static const struct {
        size_t length;
        int width;
    } lists[] = {{UINT8_MAX, 1}, {UINT8_MAX + 1, 2}, {UINT16_MAX, 2}, {UINT16_MAX + 1, 4}};
    muster_group *world = shapes_world(TIMEOUT_MS);
    int64_t narrow = bytes_of(world, 1, WIDE_TOKENS, INT8_MAX);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        is_int(bytes_of(world, 1, WIDE_TOKENS, rows[i].value) - narrow,
               WIDE_TOKENS * (rows[i].width - 1), "%" PRId64 " travels in %d bytes", rows[i].value,
               rows[i].width);
    /* One list, so that what is added for a longer one is its tokens, and the width of its length.
     */
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        is_int(bytes_of(world, 3, lists[i].length, 1) - bytes_of(world, 3, 200, 1),
               3 * ((int64_t)lists[i].length - 200) + 3 * (lists[i].width - 1),
               "a length of %zu travels in %d bytes", lists[i].length, lists[i].width);
    is_int(bytes_of(world, 1, WIDE_TOKENS, rank == size - 1 ? INT64_MIN : 0) - narrow,
           WIDE_TOKENS * 7, "one rank's value decides for all");
    muster_group_free(world);
}

/* seed 9.3.4: a group of one does as any other: a copy of its own, every value kept */
static void copies(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *world = shapes_world(TIMEOUT_MS);
    int64_t tokens[] = {1, -1, 3};
    size_t lengths[] = {3};
    muster_token_lists mine = {1, lengths, tokens};
    muster_tokens *got = NULL, *again = NULL;
    is_int(muster_all_gather_tokens(world, &mine, &got), MUSTER_OK, "a rank gathers by itself");
    is_int(muster_gather_tokens(world, &mine, 0, &again), MUSTER_OK, "and again, to a root");
    tokens[1] = 7;
    lengths[0] = 9;
    ok(got->tokens != tokens && got->tokens[1] == -1 && got->list_offsets[1] == 3,
       "what it has is not what it gave");
    ok(again->tokens != got->tokens && again->tokens[1] == -1, "nor what it had before");
    muster_tokens_free(got);
    is_int(again->tokens[2], 3, "the second lives when the first is freed");
    muster_tokens_free(again);
    muster_tokens_free(NULL);
    muster_group_free(world);
}

static void *gather_on_a_thread(void *group)
{
    struct ragged *all = shapes_of_group(&shapes[0], group);
    bool right = true;
    for (int i = 0; right && i < 50; i++)
        right = gathers(group, all);
    ragged_free(all);
    return right ? group : NULL;
}

/* Two threads in a group of one, which has no thread of its own, and one in a group of all. */
static void threads(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS), *one = NULL;
    muster_new_group(world, &rank, 1, NULL, &one);
    muster_group *groups[] = {one, one, world};
    pthread_t started[3];
    void *right[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&started[i], NULL, gather_on_a_thread, groups[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(started[i], &right[i]);
    ok(right[0] != NULL && right[1] != NULL, "a group of one serves two threads at once");
    ok(right[2] != NULL, "while one of %d ranks goes on", size);
    muster_group_free(one);
    muster_group_free(world);
}

static bool maps_a_device(void)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        found = found || strstr(line, "libcuda") != NULL || strstr(line, "/dev/nvidia") != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* seed 9.3.6: no group of a certain name must exist; seed 9.3.7, 9.4.11: the memory is the host's
 */
static void apart(int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = "apart";
    args.backend = "gloo";
    args.timeout_ms = TIMEOUT_MS;
    muster_group *group = NULL;
    is_int(muster_init_process_group(&group, &args), MUSTER_OK, "a group that is no world");
    struct ragged *all = shapes_of_group(&shapes[0], group);
    ok(gathers(group, all), "rank %s gathers in it", rank < size ? "any" : "no");
    muster_object_list objects = ragged_objects(all, rank);
    muster_objects *got = NULL;
    is_int(muster_all_gather_objects(group, &objects, &got), MUSTER_OK, "objects too");
    ok(ragged_same_objects(all, got), "all of them");
    ok(!maps_a_device(), "and no device is touched");
    muster_objects_free(got);
    ragged_free(all);
    muster_group_free(group);
}

static void pads(int rank, int size)
{
    (void)rank, (void)size;
    static const size_t rank_offsets[] = {0, 3}, offsets[] = {0, 2, 2, 5};
    static const int64_t ids[] = {-1, 5, 6, -1, 7};
    static const int64_t matrix[] = {-1, 5, -9, -9, -9, -9, 6, -1, 7};
    muster_tokens tokens = {1, 3, 5, rank_offsets, offsets, ids};
    muster_padded_tokens *padded = NULL;
    is_int(muster_tokens_padded(&tokens, -9, &padded), MUSTER_OK, "lists become a matrix");
    ok(padded->num_lists == 3 && padded->width == 3, "as wide as the longest");
    ok(padded->lengths[0] == 2 && padded->lengths[1] == 0 && padded->lengths[2] == 3,
       "with their lengths");
    ok(memcmp(padded->matrix, matrix, sizeof(matrix)) == 0, "and the pad that was asked for");
    muster_padded_tokens_free(padded);
    is_int(muster_tokens_padded(&tokens, INT64_MIN, &padded), MUSTER_OK, "any pad will do");
    is_int(padded->matrix[2] == INT64_MIN && padded->matrix[8] == 7, 1, "it is only a pad");
    muster_padded_tokens_free(padded);

    tokens = (muster_tokens){1, 0, 0, rank_offsets, offsets, ids};
    is_int(muster_tokens_padded(&tokens, 0, &padded), MUSTER_OK, "no lists");
    ok(padded->num_lists == 0 && padded->width == 0, "make no rows");
    muster_padded_tokens_free(padded);
    static const size_t zeros[] = {0, 0, 0};
    tokens = (muster_tokens){1, 2, 0, rank_offsets, zeros, ids};
    is_int(muster_tokens_padded(&tokens, 0, &padded), MUSTER_OK, "empty lists");
    ok(padded->num_lists == 2 && padded->width == 0 && padded->lengths[1] == 0,
       "make rows without columns");
    muster_padded_tokens_free(padded);
    muster_padded_tokens_free(NULL);
}

static void pads_badly(int rank, int size)
{
    (void)rank, (void)size;
    static const size_t rank_offsets[] = {0, 3}, offsets[] = {0, 1, 1, 1};
    static const int64_t ids[] = {1};
    muster_tokens tokens = {1, 3, 1, rank_offsets, offsets, ids};
    muster_padded_tokens *padded = (muster_padded_tokens *)&tokens;
    is_int(muster_tokens_padded(NULL, 0, &padded), MUSTER_ERR_ARGUMENT, "no tokens");
    has_str(muster_last_error(), "tokens is NULL", "are named");
    is_int(muster_tokens_padded(&tokens, 0, NULL), MUSTER_ERR_ARGUMENT, "no place");
    has_str(muster_last_error(), "padded is NULL", "is named");
    /* seed 9.3.12: sizes are never multiplied unchecked */
    const size_t wide[] = {0, SIZE_MAX / 16, SIZE_MAX / 16, SIZE_MAX / 16};
    tokens.list_offsets = wide;
    is_int(muster_tokens_padded(&tokens, 0, &padded), MUSTER_ERR_NO_MEMORY, "too large a matrix");
    has_str(muster_last_error(), "3 lists", "is an error that says how large");
    const size_t backwards[] = {0, 1, 0, 0};
    tokens.list_offsets = backwards;
    is_int(muster_tokens_padded(&tokens, 0, &padded), MUSTER_ERR_NO_MEMORY, "offsets that go back");
    ok(padded == (muster_padded_tokens *)&tokens, "nothing is handed over after an error");
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "1 rank", .size = 1, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "2 ranks", .size = 2, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "3 ranks", .size = 3, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "4 ranks", .size = 4, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "5 ranks", .size = 5, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "6 ranks", .size = 6, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "7 ranks", .size = 7, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "8 ranks", .size = 8, .points = 4 * NUM_SHAPES, .body = shapes_everywhere},
        {.name = "widths", .size = 2, .points = 18, .body = widths},
        {.name = "copies", .size = 1, .points = 5, .body = copies},
        {.name = "threads", .size = 2, .points = 2, .body = threads},
        {.name = "apart", .size = 3, .points = 5, .body = apart, .silent = true},
        {.name = "padded", .size = 1, .points = 10, .body = pads},
        {.name = "padded badly", .size = 1, .points = 8, .body = pads_badly},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
