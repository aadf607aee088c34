/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathering objects: what comes out, in worlds of 1 to 8 ranks and their sub-groups, and what one
 * large object costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peak.h"
#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 30000, MIB = 1 << 20, BIG = 64 * MIB };

/* To every rank (seed 9.4.1), then to each one alone. */
static bool gathers(muster_group *group, struct ragged *all)
{
    muster_object_list mine = ragged_objects(all, muster_group_rank(group));
    muster_objects *got = NULL;
    bool right = muster_all_gather_objects(group, &mine, &got) == MUSTER_OK;
    right = right && ragged_same_objects(all, got);
    muster_objects_free(got);
    for (int root = 0; root < muster_group_size(group); root++) {
        static muster_objects stale;
        got = &stale;
        if (muster_gather_objects(group, &mine, root, &got) != MUSTER_OK) {
            diag("%s", muster_last_error());
            return false;
        }
        if (muster_group_rank(group) != root) {
            right = right && got == NULL;
            continue;
        }
        right = right && ragged_same_objects(all, got);
        muster_objects_free(got);
    }
    return right;
}

/* The model has the offsets of each rank (seed 9.4.6), in rank order and stable within a rank (seed
 * 9.4.10); one of the shapes is text that is no list (seed 9.4.2) and would be a program to some
 * (seed 9.4.8). */
static void all_shapes(muster_group *group, const char *where)
{
    for (int i = 0; i < NUM_SHAPES; i++) {
        struct ragged *all = shapes_of_group(&shapes[i], group);
        ok(gathers(group, all), "%s in %s", shapes[i].name, where);
        ragged_free(all);
    }
}

/* user cases 37, 38 */
static void shapes_everywhere(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *world = shapes_world(TIMEOUT_MS);
    shapes_in_all_groups(world, all_shapes);
    muster_group_free(world);
}

/* seed 9.4.3: what comes out is new in every group, also in one of one rank */
static void copies(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *world = shapes_world(TIMEOUT_MS);
    char text[] = "one";
    muster_blob object = muster_str(text);
    muster_object_list mine = {1, &object};
    muster_objects *got = NULL, *again = NULL;
    is_int(muster_all_gather_objects(world, &mine, &got), MUSTER_OK, "a rank gathers by itself");
    is_int(muster_gather_objects(world, &mine, 0, &again), MUSTER_OK, "and again, to a root");
    text[0] = 'X';
    object.size = 1;
    ok(got->objects[0].data != text && got->objects[0].size == 3 &&
           memcmp(got->objects[0].data, "one", 3) == 0,
       "what it has is not what it gave");
    muster_objects_free(got);
    ok(memcmp(again->objects[0].data, "one", 3) == 0, "nor what it had before");
    muster_objects_free(again);
    muster_objects_free(NULL);
    muster_group_free(world);
}

/* Objects that are the same bytes of the caller; sizes at the borders of what they travel in. */
static void sizes(int rank, int size)
{
    static const size_t borders[] = {0, 1, 255, 256, 65535, 65536, 0};
    enum { NUM = sizeof(borders) / sizeof(*borders) };
    muster_group *world = shapes_world(TIMEOUT_MS);
    unsigned char *bytes = malloc(65536);
    for (size_t i = 0; i < 65536; i++)
        bytes[i] = (unsigned char)(i * 31 >> 3);
    for (size_t most = 1; most <= NUM; most++) {
        muster_blob objects[NUM];
        for (size_t i = 0; i < most; i++)
            objects[i] = (muster_blob){borders[i] > 0 ? bytes : NULL, borders[i]};
        muster_object_list mine = {rank == 0 ? 0 : most, rank == 0 ? NULL : objects};
        muster_objects *got = NULL;
        bool right = muster_all_gather_objects(world, &mine, &got) == MUSTER_OK &&
                     got->num_objects == most * (size_t)(size - 1) && got->rank_offsets[1] == 0;
        for (size_t i = 0; right && i < got->num_objects; i++)
            right = got->objects[i].size == borders[i % most] &&
                    (borders[i % most] == 0 ||
                     memcmp(got->objects[i].data, bytes, borders[i % most]) == 0);
        ok(right, "objects up to number %zu of the row of sizes", most);
        muster_objects_free(got);
    }
    free(bytes);
    muster_group_free(world);
}

/* The big object's bytes tell where they belong. */
static void fill_big(unsigned char *bytes)
{
    for (size_t i = 0; i < BIG; i++)
        bytes[i] = (unsigned char)(i >> 16 ^ i >> 3);
}

static bool is_big(const unsigned char *bytes)
{
    for (size_t i = 0; i < BIG; i++)
        if (bytes[i] != (unsigned char)(i >> 16 ^ i >> 3))
            return false;
    return true;
}

/* user case 41, seed 9.4.5: one big object costs nobody more than its size; seed 9.4.9: and is gone
 * when it is freed */
static void one_big(int rank, int size)
{
    static char small[] = "0123456789";
    const int giver = 3;
    muster_group *world = shapes_world(TIMEOUT_MS);
    unsigned char *big = rank == giver ? malloc(BIG) : NULL;
    if (big != NULL)
        fill_big(big);
    muster_blob object = rank == giver ? (muster_blob){big, BIG} : muster_str(small);
    muster_object_list mine = {1, &object};
    muster_objects *got = NULL;
    size_t before = peak_reset();
    is_int(muster_all_gather_objects(world, &mine, &got), MUSTER_OK, "one big object is gathered");
    size_t grown = peak_resident() - before, result = BIG + 10 * (size_t)(size - 1);
    bool right = got->num_bytes == result && got->objects[giver].size == BIG &&
                 is_big(got->objects[giver].data);
    for (int r = 0; r < size; r++)
        right = right && (r == giver || memcmp(got->objects[r].data, small, 10) == 0);
    ok(right, "on all ranks, byte by byte");
    if (rank == giver || rank == 0)
        diag("the result has %zu MiB, resident memory grew by %zu MiB", result / MIB, grown / MIB);
    if (PEAK_IS_REAL)
        ok(grown <= result + 64 * MIB, "at the price of the result and 64 MiB at most");
    else
        skip(1, "a sanitizer takes memory of its own");
    muster_objects_free(got);
    before = peak_reset() - before;
    if (PEAK_IS_REAL)
        ok((long long)before < 16 * MIB, "of which nothing is left when it is freed");
    else
        skip(1, "a sanitizer keeps what is freed");
    free(big);
    muster_group_free(world);
}

/* Ranks other than the root pay for what they give alone. */
static void one_big_to_root(int rank, int size)
{
    const int giver = size - 1;
    muster_group *world = shapes_world(TIMEOUT_MS);
    unsigned char *big = rank == giver ? malloc(BIG) : NULL;
    if (big != NULL)
        fill_big(big);
    muster_blob object = {big, rank == giver ? BIG : 0};
    muster_object_list mine = {1, &object};
    muster_objects *got = NULL;
    size_t before = peak_reset();
    is_int(muster_gather_objects(world, &mine, 0, &got), MUSTER_OK, "one goes to the root");
    size_t grown = peak_resident() - before;
    ok(rank == 0 ? is_big(got->objects[giver].data) : got == NULL, "and to nobody else");
    if (PEAK_IS_REAL)
        ok(grown <= (rank == 0 || rank == giver ? BIG : 0) + 16 * MIB, "only those two pay for it");
    else
        skip(1, "a sanitizer takes memory of its own");
    muster_objects_free(got);
    free(big);
    muster_group_free(world);
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
        {.name = "copies", .size = 1, .points = 4, .body = copies},
        {.name = "sizes", .size = 3, .points = 7, .body = sizes},
        {.name = "one big object", .size = 8, .points = 4, .body = one_big},
        {.name = "one big object to a root", .size = 4, .points = 3, .body = one_big_to_root},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
