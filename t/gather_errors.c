/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers to which one rank can't contribute: all ranks return the same error, which names that
 * rank, and the next gather works (seed 9.3.14, 9.4.7).
 */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "peak.h"
#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 20000, SENTENCE = 1024, MIB = 1 << 20 };

/* ---- what can be wrong ---- */

enum wrong { NO_LISTS, NO_PLACE, NO_LENGTHS, NO_TOKENS, LONG, LONG_SUM, BAD_ROOT, WRONGS };

static const struct {
    const char *name;
    const char *tokens_words;
    const char *objects_words;
} wrongs[WRONGS] = {
    [NO_LISTS] = {"what it brings is NULL", "its lists are NULL", "its objects are NULL"},
    [NO_PLACE] = {"the place for the result is NULL", "the place for the result is NULL",
                  "the place for the result is NULL"},
    [NO_LENGTHS] = {"the array is NULL", "lengths is NULL", "the array is NULL"},
    [NO_TOKENS] = {"what the array has is NULL", "it has 3 tokens, but tokens is NULL",
                   "object 1 of 3 bytes is NULL"},
    /* seed 9.3.12: sizes are checked before a byte moves */
    [LONG] = {"one is too long", "list 0 of length", "object 0 of"},
    [LONG_SUM] = {"all together are too long", "list 1 of length", "object 1 of"},
    [BAD_ROOT] = {"the root is none", "root 99 is not in 0 to", "root 99 is not in 0 to"},
};

/* root -1: to all ranks. wrong WRONGS: nothing is. */
static muster_status try_tokens(muster_group *group, int root, enum wrong wrong, void **got)
{
    size_t lengths[2] = {1, 2};
    const int64_t ids[3] = {-1, 5, 6};
    muster_token_lists mine = {2, lengths, ids};
    if (wrong == NO_LENGTHS)
        mine.lengths = NULL;
    if (wrong == NO_TOKENS)
        mine.tokens = NULL;
    if (wrong == LONG)
        lengths[0] = SIZE_MAX;
    if (wrong == LONG_SUM)
        lengths[0] = lengths[1] = SIZE_MAX / 20;
    if (wrong == BAD_ROOT)
        root = 99;
    muster_tokens **place = wrong == NO_PLACE ? NULL : (muster_tokens **)got;
    const muster_token_lists *lists = wrong == NO_LISTS ? NULL : &mine;
    return root < 0 ? muster_all_gather_tokens(group, lists, place)
                    : muster_gather_tokens(group, lists, root, place);
}

static muster_status try_objects(muster_group *group, int root, enum wrong wrong, void **got)
{
    muster_blob objects[2] = {{"", 0}, {"abc", 3}};
    muster_object_list mine = {2, objects};
    if (wrong == NO_LENGTHS)
        mine.objects = NULL;
    if (wrong == NO_TOKENS)
        objects[1].data = NULL;
    if (wrong == LONG)
        objects[0].size = SIZE_MAX;
    if (wrong == LONG_SUM)
        objects[0].size = objects[1].size = SIZE_MAX / 20;
    if (wrong == BAD_ROOT)
        root = 99;
    muster_objects **place = wrong == NO_PLACE ? NULL : (muster_objects **)got;
    const muster_object_list *list = wrong == NO_LISTS ? NULL : &mine;
    return root < 0 ? muster_all_gather_objects(group, list, place)
                    : muster_gather_objects(group, list, root, place);
}

/* ---- what all ranks then say ---- */

static const char *cause(const char *sentence)
{
    const char *mark = strstr(sentence, "gather_");
    return mark != NULL ? mark : sentence;
}

/* Behind the group and the rank itself, the sentence is the same on all ranks of the group. */
static bool all_say_the_same(muster_group *group, const char *part)
{
    static char words[8][SENTENCE];
    char mine[SENTENCE] = "";
    size_t size = (size_t)muster_group_size(group);
    strncpy(mine, cause(muster_last_error()), sizeof(mine) - 1);
    if (muster_all_gather(group, mine, words, sizeof(mine), MUSTER_UINT8, NULL) != MUSTER_OK)
        return false;
    bool same = strstr(mine, part) != NULL;
    for (size_t r = 0; r < size; r++)
        same = same && strcmp(words[r], mine) == 0;
    if (!same)
        diag("this rank says: %s", muster_last_error());
    return same;
}

static bool gathers_right(muster_group *group)
{
    struct ragged *all = shapes_of_group(&shapes[1], group);
    muster_token_lists mine = ragged_lists(all, muster_group_rank(group));
    muster_object_list objects = ragged_objects(all, muster_group_rank(group));
    muster_tokens *tokens = NULL;
    muster_objects *got = NULL;
    bool right = muster_all_gather_tokens(group, &mine, &tokens) == MUSTER_OK &&
                 ragged_same_tokens(all, tokens) &&
                 muster_all_gather_objects(group, &objects, &got) == MUSTER_OK &&
                 ragged_same_objects(all, got);
    muster_tokens_free(tokens);
    muster_objects_free(got);
    ragged_free(all);
    return right;
}

/* One rank is wrong in a way; to all ranks, to itself and to another. */
static bool one_is_wrong(muster_group *group, bool tokens, enum wrong wrong, int who)
{
    int rank = muster_group_rank(group), size = muster_group_size(group);
    char name[32];
    snprintf(name, sizeof(name), "rank %d", who);
    const char *words = tokens ? wrongs[wrong].tokens_words : wrongs[wrong].objects_words;
    const int roots[] = {-1, who, (who + 1) % size};
    bool right = true;
    for (int i = wrong == BAD_ROOT; i < 3; i++) {
        void *got = &right;
        enum wrong mine = rank == who ? wrong : WRONGS;
        muster_status status = tokens ? try_tokens(group, roots[i], mine, &got)
                                      : try_objects(group, roots[i], mine, &got);
        if (status != MUSTER_ERR_ARGUMENT)
            diag("got %s", muster_status_name(status));
        right = right && status == MUSTER_ERR_ARGUMENT && got == &right;
        right = all_say_the_same(group, words) && right;
        right = right && strstr(cause(muster_last_error()), name) != NULL;
    }
    return gathers_right(group) && right;
}

static void wrong_everywhere(muster_group *group, const char *where)
{
    int last = muster_group_size(group) - 1;
    for (int i = 0; i < WRONGS; i++) {
        ok(one_is_wrong(group, true, i, i % 2 == 0 ? last : 0), "%s, of tokens in %s",
           wrongs[i].name, where);
        ok(one_is_wrong(group, false, i, i % 2 == 0 ? 0 : last), "%s, of objects in %s",
           wrongs[i].name, where);
    }
}

static void arguments(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *world = shapes_world(TIMEOUT_MS);
    shapes_in_all_groups(world, wrong_everywhere);
    muster_group_free(world);
}

/* Two are wrong in different ways: the lower one is named on both and on all others. */
static void two_wrong(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    void *got = NULL;
    enum wrong mine = rank == 1 ? NO_LISTS : rank == size - 1 ? LONG : WRONGS;
    is_int(try_tokens(world, -1, mine, &got), MUSTER_ERR_ARGUMENT, "two ranks are wrong");
    ok(all_say_the_same(world, "its lists are NULL"), "the first is named by all");
    ok(gathers_right(world), "and the next gather works");
    muster_group_free(world);
}

/* ---- roots ---- */

static void roots(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    void *got = NULL;
    is_int(try_tokens(world, rank == size - 1 ? 1 : 0, WRONGS, &got), MUSTER_ERR_MISMATCH,
           "one rank names another root");
    ok(all_say_the_same(world, "rank 0 gathers to rank 0, but rank 2"), "which all ranks say");
    is_int(try_objects(world, rank == 1 ? 0 : -1, WRONGS, &got), MUSTER_ERR_MISMATCH,
           "one rank gathers to a root and the others to all");
    ok(all_say_the_same(world, "rank 0 gathers to all ranks, but rank 1"), "which all ranks say");
    ok(got == NULL && gathers_right(world), "and the next gather works");
    static const int bad[] = {-1, -2, INT32_MIN, INT32_MAX, 3};
    muster_token_lists none = {0, NULL, NULL};
    muster_tokens *tokens = NULL;
    bool refused = true;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        refused = refused &&
                  muster_gather_tokens(world, &none, bad[i], &tokens) == MUSTER_ERR_ARGUMENT &&
                  strstr(muster_last_error(), "is not in 0 to 2") != NULL;
    ok(refused, "what is no rank is no root");
    muster_group_free(world);
}

/* ---- no group ---- */

/* seed 9.3.5, 9.4.4: not a member is an error of its own */
static void no_group(int rank, int size)
{
    (void)rank, (void)size;
    void *got = &size;
    is_int(try_tokens(NULL, -1, WRONGS, &got), MUSTER_ERR_NOT_MEMBER, "tokens of no group");
    has_str(muster_last_error(), "muster_all_gather_tokens: ", "the call is named");
    has_str(muster_last_error(), "not a member", "with the cause");
    is_int(try_tokens(NULL, 0, WRONGS, &got), MUSTER_ERR_NOT_MEMBER, "to a root");
    has_str(muster_last_error(), "muster_gather_tokens: ", "is named too");
    is_int(try_objects(NULL, -1, WRONGS, &got), MUSTER_ERR_NOT_MEMBER, "objects of no group");
    has_str(muster_last_error(), "muster_all_gather_objects: ", "are named");
    is_int(try_objects(NULL, 0, WRONGS, &got), MUSTER_ERR_NOT_MEMBER, "to a root");
    has_str(muster_last_error(), "muster_gather_objects: ", "likewise");
    ok(got == &size, "and nothing is handed over");
}

/* A real one: the ranks that a sub-group leaves out. */
static void not_member(int rank, int size)
{
    (void)size;
    static const int members[] = {0, 2};
    muster_group *world = shapes_world(TIMEOUT_MS), *group = NULL;
    void *got = NULL;
    muster_status made = muster_new_group(world, members, 2, NULL, &group);
    is_int(made, rank == 1 ? MUSTER_ERR_NOT_MEMBER : MUSTER_OK, "a group leaves one out");
    is_int(try_tokens(group, -1, WRONGS, &got), made, "who then can't gather in it");
    muster_tokens_free(got);
    muster_group_free(group);
    muster_group_free(world);
}

/* ---- no memory ---- */

/* More than the limits of one rank allow, or anybody's machine has. */
static void memory(int rank, int size)
{
    enum { HUGE_TOKENS = 16 * MIB };
    muster_group *world = shapes_world(TIMEOUT_MS);
    size_t length = rank == 0 ? HUGE_TOKENS : 1;
    int64_t *ids = calloc(length, sizeof(*ids));
    ids[0] = INT64_MAX;
    muster_token_lists lists = {1, &length, ids};
    muster_tokens *tokens = NULL;
    muster_blob object = {ids, length * sizeof(*ids)};
    muster_object_list objects = {1, &object};
    muster_objects *got = NULL;
    struct rlimit before, limit;
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = peak_virtual() + 100 * MIB;
    if (!PEAK_IS_REAL)
        skip(6, "a sanitizer takes all addresses");
    else {
        if (rank == size - 1)
            setrlimit(RLIMIT_AS, &limit);
        is_int(muster_all_gather_tokens(world, &lists, &tokens), MUSTER_ERR_NO_MEMORY,
               "one rank has no memory for the tokens");
        ok(all_say_the_same(world, "rank 2"), "and all say so");
        is_int(muster_all_gather_objects(world, &objects, &got), MUSTER_ERR_NO_MEMORY,
               "nor for the objects");
        ok(all_say_the_same(world, "rank 2"), "and all say so");
        is_int(muster_gather_tokens(world, &lists, 0, &tokens), MUSTER_OK,
               "to another root it can contribute");
        muster_tokens_free(tokens);
        setrlimit(RLIMIT_AS, &before);
        ok(gathers_right(world), "and the next gather works");
    }
    object.size = SIZE_MAX / 32;
    objects.num_objects = rank == 1;
    is_int(muster_all_gather_objects(world, &objects, &got), MUSTER_ERR_NO_MEMORY,
           "what no machine can hold");
    ok(all_say_the_same(world, "no memory for"), "is an error before a byte moves");
    object.size = SIZE_MAX / 16;
    objects.num_objects = 1;
    is_int(muster_all_gather_objects(world, &objects, &got), MUSTER_ERR_NO_MEMORY,
           "what no number can count");
    ok(all_say_the_same(world, "more than memory can hold"), "likewise");
    ok(gathers_right(world), "and the next gather works");
    free(ids);
    muster_group_free(world);
}

/* user case 40: what is more than an int, and together more than 32 bits, is counted right. No rank
 * has the memory, so no byte moves, and the objects need not be there. */
static void counts(int rank, int size)
{
    if (!PEAK_IS_REAL)
        ranks_skip_case("a sanitizer takes all addresses");
    const size_t gib2 = (size_t)1 << 31, sizes[] = {gib2 - 1, gib2, gib2 + 1};
    if (gib2 > SIZE_MAX / 32)
        ranks_skip_case("needs addresses of 64 bits");
    muster_group *world = shapes_world(TIMEOUT_MS);
    struct rlimit before, limit;
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = peak_virtual() + 1024 * (rlim_t)MIB;
    setrlimit(RLIMIT_AS, &limit);
    char expected[64];
    muster_objects *got = NULL;
    for (int who = 0; who < size; who++) {
        muster_blob object = {expected, sizes[who]};
        muster_object_list mine = {rank == who, &object};
        snprintf(expected, sizeof(expected), "no memory for %zu bytes", sizes[who] + 4);
        is_int(muster_all_gather_objects(world, &mine, &got), MUSTER_ERR_NO_MEMORY,
               "%zu bytes on one rank and nothing elsewhere", sizes[who]);
        ok(all_say_the_same(world, expected), "are counted right");
    }
    muster_blob object = {expected, sizes[rank]};
    muster_object_list mine = {1, &object};
    snprintf(expected, sizeof(expected), "no memory for %zu bytes", 3 * (gib2 + 4));
    is_int(muster_all_gather_objects(world, &mine, &got), MUSTER_ERR_NO_MEMORY, "all three");
    ok(all_say_the_same(world, expected), "are counted right");
    setrlimit(RLIMIT_AS, &before);
    ok(gathers_right(world), "and the next gather works");
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const char *const null_from_malloc[] = {"ASAN_OPTIONS=allocator_may_return_null=1",
                                                   "TSAN_OPTIONS=allocator_may_return_null=1",
                                                   NULL};
    static const struct ranks_case cases[] = {
        {.name = "arguments, 1 rank", .size = 1, .points = 8 * WRONGS, .body = arguments},
        {.name = "arguments, 3 ranks", .size = 3, .points = 8 * WRONGS, .body = arguments},
        {.name = "arguments, 4 ranks", .size = 4, .points = 8 * WRONGS, .body = arguments},
        {.name = "two wrong", .size = 4, .points = 3, .body = two_wrong, .silent = true},
        {.name = "roots", .size = 3, .points = 6, .body = roots},
        {.name = "no group", .size = 1, .points = 10, .body = no_group},
        {.name = "not a member", .size = 3, .points = 2, .body = not_member},
        {.name = "counts", .size = 3, .points = 9, .body = counts},
        {.name = "memory",
         .size = 3,
         .points = 11,
         .body = memory,
         .environment = null_from_malloc},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
