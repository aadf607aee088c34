/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_create_sub_group. "seed 9.2.N" are the points in which the program that muster was made
 * after goes wrong; each has its test here.
 */
#include "config.h"

#include "grouptest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 10000 };

/* The group has these members, in this order, and maps them both ways. */
static bool has_members(muster_group *group, muster_group *parent, int first, int step, int count)
{
    bool good = muster_group_size(group) == count;
    for (int r = 0; good && r < count; r++) {
        int wanted = first + r * step, world = -1, up = -1, back = -1, parents_world = -1;
        good = muster_group_rank_to_parent(group, r, &up) == MUSTER_OK && up == wanted &&
               muster_group_rank_from_parent(group, wanted, &back) == MUSTER_OK && back == r &&
               muster_group_rank_to_world(parent, wanted, &parents_world) == MUSTER_OK &&
               muster_group_rank_to_world(group, r, &world) == MUSTER_OK &&
               world == parents_world &&
               muster_group_rank_from_world(group, world, &back) == MUSTER_OK && back == r;
    }
    return good;
}

/* Both families as they should be; seed 9.2.3: a wrong member or order can't pass. */
static bool families_are_right(muster_group *parent, int size, muster_group *regular,
                               muster_group *orthogonal)
{
    int me = muster_group_rank(parent), all = muster_group_size(parent);
    return has_members(regular, parent, me / size * size, 1, size) &&
           has_members(orthogonal, parent, me % size, size, all / size) &&
           muster_group_rank(regular) == me % size && muster_group_rank(orthogonal) == me / size &&
           group_works(regular) && group_works(orthogonal);
}

/* Every size: those that divide make groups, the others are an error on every rank. */
static void every_size(int rank, int size)
{
    muster_group *world = world_of("world", T);
    int right = 0, alike = 0, refused = 0, named = 0, dividers = 0;
    for (int s = 1; s <= size; s++) {
        muster_group *regular = NULL, *orthogonal = NULL;
        char both[2][32];
        snprintf(both[0], sizeof(both[0]), "%d ranks", size);
        snprintf(both[1], sizeof(both[1]), "sub-groups of %d", s);
        muster_status status =
            muster_create_sub_group(world, (size_t)s, NULL, &regular, &orthogonal);
        if (size % s == 0) {
            dividers++;
            right += status == MUSTER_OK && families_are_right(world, s, regular, orthogonal);
            /* seed 9.2.1, 9.2.2: both are on what the world is on, one rank alone on local too;
             * seed 9.2.12: the time-out is the world's */
            alike += strcmp(muster_group_backend(regular), "local") == 0 &&
                     strcmp(muster_group_backend(orthogonal), "local") == 0 &&
                     muster_group_timeout(regular) == muster_group_timeout(world) &&
                     muster_group_timeout(orthogonal) == muster_group_timeout(world);
        } else { /* seed 9.2.6 */
            refused += status == MUSTER_ERR_ARGUMENT && regular == NULL && orthogonal == NULL;
            named += strstr(muster_last_error(), both[0]) != NULL &&
                     strstr(muster_last_error(), both[1]) != NULL;
        }
        muster_group_free(regular);
        muster_group_free(orthogonal);
    }
    is_int(right, dividers, "sizes that divide %d: members, order, maps", size);
    is_int(alike, dividers, "backends and time-outs are the world's");
    is_int(refused, size - dividers, "sizes that do not are refused");
    is_int(named, size - dividers, "and both numbers are named");
    ok(rank == muster_group_rank(world) && group_works(world), "the world goes on");
    muster_group_free(world);
}

static void refuse(muster_group *world, size_t size, muster_status status, const char *first,
                   const char *second)
{
    muster_group *regular = NULL, *orthogonal = NULL;
    int64_t began = now_ms();
    is_status(muster_create_sub_group(world, size, NULL, &regular, &orthogonal), status,
              "size %zu is refused on every rank", size);
    ok(in_time(began, 1000) && regular == NULL && orthogonal == NULL, "at once");
    has_str(muster_last_error(), first, "it says one thing");
    has_str(muster_last_error(), second, "and the other");
}

/* seed 9.2.5: sizes out of range; seed 9.2.4, 9.2.9: all fail or none. */
static void wrong_sizes(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *regular = NULL, *orthogonal = NULL;
    refuse(world, 0, MUSTER_ERR_ARGUMENT, "of 0 ranks", "a group of 4");
    refuse(world, 5, MUSTER_ERR_ARGUMENT, "of 5 ranks", "a group of 4");
    refuse(world, (size_t)-4, MUSTER_ERR_ARGUMENT, "18446744073709551612", "4");
    refuse(world, rank == 2 ? 4 : 2, MUSTER_ERR_MISMATCH, "sub-groups of 2", "sub-groups of 4");
    int64_t began = now_ms();
    muster_status status =
        muster_create_sub_group(world, rank == 2 ? 3 : 2, NULL, &regular, &orthogonal);
    ok(status == MUSTER_ERR_MISMATCH || status == MUSTER_ERR_ARGUMENT,
       "one of two sizes divides nothing: an error on every rank");
    has_str(muster_last_error(), "sub-groups of 3", "about the size that is wrong");
    ok(in_time(began, 1000), "at once");
    is_status(muster_create_sub_group(world, 2, NULL, &regular, &orthogonal), MUSTER_OK,
              "then a good call");
    ok(families_are_right(world, 2, regular, orthogonal), "is as if nothing had been");
    muster_group_free(regular);
    muster_group_free(orthogonal);
    muster_group_free(world);
}

/* A rank that has nowhere to put a group makes all fail at once. */
static void no_place(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T);
    for (int which = 0; which < 3; which++) {
        muster_group *regular = NULL, *orthogonal = NULL;
        int64_t began = now_ms();
        is_status(muster_create_sub_group(world, 2, NULL, rank == 1 && which != 1 ? NULL : &regular,
                                          rank == 1 && which != 0 ? NULL : &orthogonal),
                  MUSTER_ERR_ARGUMENT, "a place that is NULL on rank 1");
        ok(in_time(began, 1000), "all fail at once");
        has_str(muster_last_error(),
                which == 1 ? "rank 1: the place for the orthogonal"
                           : "rank 1: the place for the regular",
                "and are told why");
        is_status(muster_create_sub_group(world, 2, NULL, &regular, &orthogonal), MUSTER_OK,
                  "the next call");
        ok(families_are_right(world, 2, regular, orthogonal), "works");
        muster_group_free(regular);
        muster_group_free(orthogonal);
    }
    muster_group *regular = NULL, *orthogonal = NULL;
    is_status(muster_create_sub_group(NULL, 1, NULL, &regular, &orthogonal), MUSTER_ERR_NOT_MEMBER,
              "of a group that is NULL");
    muster_group_free(world);
}

/* seed 9.2.15: of a sub-group, and of a second main group. */
static void nested(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *second = world_of("second", T);
    muster_group *half = NULL, *across = NULL, *pair = NULL, *other = NULL;
    is_status(muster_create_sub_group(second, 4, NULL, &half, &across), MUSTER_OK,
              "sub-groups of a second world");
    ok(families_are_right(second, 4, half, across), "are right");
    is_status(muster_create_sub_group(half, 2, NULL, &pair, &other), MUSTER_OK,
              "sub-groups of a sub-group");
    ok(families_are_right(half, 2, pair, other), "are right too");
    int top = -1;
    ok(muster_group_rank_to_world(pair, 1, &top) == MUSTER_OK && top == rank / 2 * 2 + 1,
       "down to the world's ranks");
    /* seed 9.2.13: consecutive ranks are what the header says; seed 9.2.14: a group is its members'
     */
    has_str(muster_group_name(pair), muster_group_name(half), "names begin with the parent's");
    ok(strcmp(muster_group_name(pair), muster_group_name(other)) != 0, "and differ");
    ok(muster_group_rank_from_world(pair, (rank + 4) % 8, &top) == MUSTER_ERR_NOT_FOUND,
       "who is no member is not found");
    muster_group_free(half);
    /* Rank 0 serves the store, and must not end before the other half has made its groups. */
    bool all_have = muster_barrier(world, NULL) == MUSTER_OK;
    ok(all_have && group_works(pair) && group_works(other),
       "they outlive the group that they were made of");
    muster_group_free(pair);
    muster_group_free(other);
    muster_group_free(across);
    muster_group_free(second);
    muster_group_free(world);
}

/* seed 9.2.1: the backend asked for is that of both families; seed 9.2.10: no name is guessed at.
 */
static void backends(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *regular = NULL, *orthogonal = NULL;
    is_status(muster_create_sub_group(world, 2, "cpu:gloo", &regular, &orthogonal), MUSTER_OK,
              "cpu:gloo");
    is_str(muster_group_backend(regular), "gloo", "is what the regular one has");
    is_str(muster_group_backend(orthogonal), "gloo", "and the orthogonal one");
    muster_group_free(regular);
    muster_group_free(orthogonal);
    regular = orthogonal = NULL;
    is_status(muster_create_sub_group(world, 4, "gloo", &regular, &orthogonal), MUSTER_OK,
              "gloo with groups of one");
    is_str(muster_group_backend(orthogonal), "gloo", "is gloo there as well");
    ok(families_are_right(world, 4, regular, orthogonal), "and works");
    muster_group_free(regular);
    muster_group_free(orthogonal);
    regular = orthogonal = NULL;
    int64_t began = now_ms();
    is_status(muster_create_sub_group(world, 2, "NCLC", &regular, &orthogonal),
              MUSTER_ERR_NOT_FOUND, "a name that is none");
    is_status(muster_create_sub_group(world, 2, "cuda:none", &regular, &orthogonal),
              MUSTER_ERR_NOT_FOUND, "one that is not to be had");
    is_status(muster_create_sub_group(world, 4, "local", &regular, &orthogonal), MUSTER_OK,
              "local for four");
    ok(families_are_right(world, 4, regular, orthogonal), "works");
    muster_group_free(regular);
    muster_group_free(orthogonal);
    regular = orthogonal = NULL;
    is_status(muster_create_sub_group(world, 2, rank == 1 ? "gloo" : NULL, &regular, &orthogonal),
              MUSTER_ERR_MISMATCH, "one rank asks for more");
    has_str(muster_last_error(), "'gloo'", "what it asked for is said");
    ok(in_time(began, 2000) && regular == NULL && orthogonal == NULL, "all at once");
    ok(group_works(world), "the world goes on");
    muster_group_free(world);
}

/* seed 9.2.7: sizes 1 and all; seed 9.2.8: a fixed number of words with the store for each rank,
 * whatever the number of groups; seed 9.2.11: nothing is printed, which the harness sees to. */
static long long operations(muster_group *group)
{
    char *text = NULL;
    if (muster_group_describe(group, true, &text) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    const char *at = strstr(text, "\"store_operations\":");
    long long number = at == NULL ? -1 : atoll(at + strlen("\"store_operations\":"));
    muster_free(text);
    return number;
}

static void costs(int rank, int size)
{
    (void)rank;
    muster_group *world = world_of("world", T);
    long long least = 1000, most = 0;
    for (int s = 1; s <= size; s *= 2) {
        muster_group *regular = NULL, *orthogonal = NULL;
        if (muster_create_sub_group(world, (size_t)s, NULL, &regular, &orthogonal) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        long long here = operations(regular);
        least = here < least ? here : least;
        most = here > most ? here : most;
        muster_group_free(regular);
        muster_group_free(orthogonal);
    }
    ok(least > 0 && most <= 20, "from %lld to %lld words with the store", least, most);
    ok(most - least <= 12, "about the same for every size");
    muster_group_free(world);
}

/* Families made again and again have names of their own while they live. */
static void names(int rank, int size)
{
    muster_group *world = world_of("world", T), *regular[3], *orthogonal[3];
    int good = 0;
    for (int i = 0; i < 3; i++)
        good += muster_create_sub_group(world, 2, NULL, &regular[i], &orthogonal[i]) == MUSTER_OK;
    is_int(good, 3, "three times the same sub-groups");
    ok(strcmp(muster_group_name(regular[0]), muster_group_name(regular[1])) != 0 &&
           strcmp(muster_group_name(regular[1]), muster_group_name(regular[2])) != 0,
       "have three names");
    has_str(muster_group_name(regular[0]), rank < 2 ? "0-1" : "2-3", "that say the members");
    has_str(muster_group_name(orthogonal[0]), rank % 2 == 0 ? "0,2" : "1,3", "of both");
    good = 0;
    for (int i = 0; i < 3; i++)
        good += families_are_right(world, 2, regular[i], orthogonal[i]);
    is_int(good, 3, "and all work");
    muster_group_free(regular[1]);
    ok(group_works(regular[0]) && group_works(regular[2]), "one freed leaves the others");
    muster_group_free(regular[0]);
    muster_group_free(regular[2]);
    for (int i = 0; i < 3; i++)
        muster_group_free(orthogonal[i]);
    ok(muster_group_size(world) == size && group_works(world), "and the world");
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
#define EVERY_SIZE(n)                                                                              \
    {.name = "world of " #n, .size = n, .points = 5, .body = every_size, .silent = true}
        EVERY_SIZE(1),
        EVERY_SIZE(2),
        EVERY_SIZE(3),
        EVERY_SIZE(4),
        EVERY_SIZE(5),
        EVERY_SIZE(6),
        EVERY_SIZE(7),
        EVERY_SIZE(8),
        {.name = "wrong sizes", .size = 4, .points = 21, .body = wrong_sizes, .silent = true},
        {.name = "no place", .size = 4, .points = 16, .body = no_place, .silent = true},
        {.name = "nested", .size = 8, .points = 9, .body = nested, .silent = true},
        {.name = "backends", .size = 4, .points = 14, .body = backends, .silent = true},
        {.name = "costs", .size = 8, .points = 2, .body = costs, .silent = true},
        {.name = "names", .size = 4, .points = 7, .body = names, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
