/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_new_group, muster_new_subgroups_by_enumeration, muster_group_split.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 2000, PARENT_LATE = T + 1000 };

/* The group has these ranks of its parent, in this order, and works. */
static bool is_made_of(muster_group *group, const int *ranks, int count)
{
    bool good = muster_group_size(group) == count;
    for (int r = 0; good && r < count; r++) {
        int up = -1;
        good = muster_group_rank_to_parent(group, r, &up) == MUSTER_OK && up == ranks[r];
    }
    return good && group_works(group);
}

static void members_alone(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *group = NULL;
    static const int order[] = {3, 0, 2};
    muster_status status = muster_new_group(world, order, 3, NULL, &group);
    is_status(status, rank == 1 ? MUSTER_ERR_NOT_MEMBER : MUSTER_OK, "members and others");
    ok(rank == 1 ? group == NULL : is_made_of(group, order, 3), "the order is kept");
    /* What is no member is answered, and freed. */
    int32_t none = 0;
    status = muster_all_gather(group, &none, (int32_t[4]){0}, 1, MUSTER_INT32, NULL);
    is_status(status, rank == 1 ? MUSTER_ERR_NOT_MEMBER : MUSTER_OK, "a call on it");
    int found = -1;
    status = muster_group_rank_from_parent(group, 1, &found);
    is_status(status, rank == 1 ? MUSTER_ERR_NOT_MEMBER : MUSTER_ERR_NOT_FOUND,
              "rank 1 is not found in it");
    muster_group_free(group);
    group = NULL;
    /* Who is no member need not come. */
    static const int pair[] = {2, 1};
    if (rank == 1 || rank == 2)
        status = muster_new_group(world, pair, 2, NULL, &group);
    ok(rank == 0 || rank == 3 || (status == MUSTER_OK && is_made_of(group, pair, 2)),
       "members alone make a group");
    muster_group_free(group);
    ranks_barrier();
    muster_group *one = NULL;
    is_status(muster_new_group(world, &rank, 1, NULL, &one), MUSTER_OK, "a group of oneself");
    ok(is_made_of(one, &rank, 1), "works");
    muster_group_free(one);
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

static void wrong_lists(int rank, int size)
{
    (void)rank;
    (void)size;
    static const int twice[] = {0, 1, 0}, beyond[] = {0, 4}, below[] = {-1, 0},
                     good[] = {0, 1, 2, 3};
    static const struct {
        const char *what;
        const int *ranks;
        size_t count;
        const char *says;
    } lists[] = {
        {"a rank twice", twice, 3, "rank 0 stands twice"},
        {"a rank beyond", beyond, 2, "rank 4 in {0,4}"},
        {"a rank below", below, 2, "rank -1 in {-1,0}"},
        {"no ranks", good, 0, "empty"},
        {"no list", NULL, 2, "NULL"},
    };
    muster_group *world = world_of("world", T), *group = NULL;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        is_status(muster_new_group(world, lists[i].ranks, lists[i].count, NULL, &group),
                  MUSTER_ERR_ARGUMENT, "%s", lists[i].what);
        has_str(muster_last_error(), lists[i].says, "%s: the sentence", lists[i].what);
    }
    is_status(muster_new_group(world, good, 4, NULL, NULL), MUSTER_ERR_ARGUMENT, "no place");
    is_status(muster_new_group(NULL, good, 4, NULL, &group), MUSTER_ERR_NOT_MEMBER, "no parent");
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.timeout_ms = 0;
    is_status(muster_new_group(world, good, 4, &args, &group), MUSTER_ERR_ARGUMENT, "0 ms");
    args.timeout_ms = T;
    args.struct_size = 3;
    is_status(muster_new_group(world, good, 4, &args, &group), MUSTER_ERR_ARGUMENT,
              "struct_size 3");
    args.struct_size = sizeof(args);
    args.group_name = "a/b";
    is_status(muster_new_group(world, good, 4, &args, &group), MUSTER_ERR_ARGUMENT, "a bad name");
    args.group_name = NULL;
    args.options = "gloo.ifce=lo";
    is_status(muster_new_group(world, good, 4, &args, &group), MUSTER_ERR_ARGUMENT, "a bad option");
    args.options = NULL;
    is_status(muster_new_group(world, good, 4, &args, &group), MUSTER_OK, "all of it right");
    ok(is_made_of(group, good, 4), "is a group");
    muster_group_free(group);
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

/* user case 34 */
static void names(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *first = NULL, *second = NULL, *extra = NULL;
    static const int outer[] = {0, 3}, inner[] = {1, 2}, zero[] = {0};
    const int *mine = rank == 0 || rank == 3 ? outer : inner;
    if (rank == 0 && muster_new_group(world, zero, 1, NULL, &extra) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    int good = 0;
    for (int round = 0; round < 100; round++) {
        if (muster_new_group(world, mine, 2, NULL, &first) == MUSTER_OK)
            good += is_made_of(first, mine, 2);
        muster_group_free(first);
        first = NULL;
    }
    is_int(good, 100, "two groups at once, 100 times");
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.group_name = "left"; /* of both groups, which have no member in common */
    is_status(muster_new_group(world, mine, 2, &args, &first), MUSTER_OK, "a name given");
    is_str(muster_group_name(first), "left", "is taken");
    is_status(muster_new_group(world, mine, 2, &args, &second), MUSTER_ERR_EXISTS,
              "the name again while it lives");
    has_str(muster_last_error(), "'left'", "is refused by name");
    args.group_name = "right";
    is_status(muster_new_group(world, mine, 2, &args, &second), MUSTER_OK,
              "the same members with another name");
    ok(is_made_of(first, mine, 2) && is_made_of(second, mine, 2), "both work");
    muster_group_free(first);
    first = NULL;
    args.group_name = "left";
    static const int lower[] = {0, 1}, upper[] = {2, 3};
    mine = rank < 2 ? lower : upper;
    is_status(muster_new_group(world, mine, 2, &args, &first), MUSTER_OK,
              "the name when it is free, with other members");
    ok(is_made_of(first, mine, 2), "works");
    muster_group_free(first);
    muster_group_free(second);
    muster_group_free(extra);
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

/* user case 34: two threads create at once. */
struct maker {
    muster_group *world;
    const int *ranks;
    int good;
};

static void *make_many(void *argument)
{
    struct maker *maker = argument;
    for (int round = 0; round < 30; round++) {
        muster_group *group = NULL;
        if (muster_new_group(maker->world, maker->ranks, 3, NULL, &group) == MUSTER_OK)
            maker->good += is_made_of(group, maker->ranks, 3);
        else
            diag("%s", muster_last_error());
        muster_group_free(group);
    }
    return NULL;
}

static void from_threads(int rank, int size)
{
    (void)size;
    static const int forth[] = {0, 1, 2}, other[] = {1, 2, 3};
    muster_group *world = world_of("world", 10000);
    struct maker makers[] = {{world, forth, 0}, {world, other, 0}};
    pthread_t threads[2];
    bool in[2] = {rank<3, rank> 0};
    for (int i = 0; i < 2; i++)
        if (in[i] && pthread_create(&threads[i], NULL, make_many, &makers[i]) != 0)
            bail_out("no thread");
    for (int i = 0; i < 2; i++)
        if (in[i])
            pthread_join(threads[i], NULL);
    ok((!in[0] || makers[0].good == 30) && (!in[1] || makers[1].good == 30),
       "overlapping groups from two threads");
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

/* user case 32 for members that meet alone. */
static void other_order(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *group = NULL;
    static const int up[] = {0, 1, 2}, down[] = {2, 1, 0};
    int64_t began = now_ms();
    is_status(muster_new_group(world, rank == 2 ? down : up, 3, NULL, &group), MUSTER_ERR_MISMATCH,
              "lists in another order");
    ok(in_time(began, 1000), "at once");
    has_str(muster_last_error(), "{0,1,2}", "one list is quoted");
    has_str(muster_last_error(), "{2,1,0}", "and the other");
    is_status(muster_new_group(world, up, 3, NULL, &group), MUSTER_OK, "then the same");
    ok(is_made_of(group, up, 3), "works");
    muster_group_free(group);
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

static const int first_list[] = {0, 1}, second_list[] = {3, 2};

/* user case 32, 33 */
static void enumeration(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *group = NULL;
    static const int *const lists[] = {first_list, second_list}, *const others[] = {second_list,
                                                                                    first_list};
    static const size_t sizes[] = {2, 2};
    is_status(muster_new_subgroups_by_enumeration(world, lists, sizes, 2, NULL, &group), MUSTER_OK,
              "two lists in one call");
    ok(rank == 4 ? group == NULL : is_made_of(group, rank < 2 ? first_list : second_list, 2),
       "each rank has its own, who is in none has none");
    muster_group_free(group);
    group = NULL;
    int64_t began = now_ms();
    is_status(muster_new_subgroups_by_enumeration(world, rank == 1 ? others : lists, sizes, 2, NULL,
                                                  &group),
              MUSTER_ERR_MISMATCH, "lists that differ");
    has_str(muster_last_error(), "the lists {0,1} {3,2}", "are quoted, one");
    has_str(muster_last_error(), "the lists {3,2} {0,1}", "and the other");
    static const int *const overlap[] = {first_list, first_list};
    is_status(muster_new_subgroups_by_enumeration(world, overlap, sizes, 2, NULL, &group),
              MUSTER_ERR_ARGUMENT, "lists that overlap");
    has_str(muster_last_error(), "rank 0 stands twice", "are told");
    static const size_t empty[] = {2, 0};
    is_status(muster_new_subgroups_by_enumeration(world, lists, empty, 2, NULL, &group),
              MUSTER_ERR_ARGUMENT, "an empty list");
    is_status(muster_new_subgroups_by_enumeration(world, lists, sizes, 0, NULL, &group),
              MUSTER_ERR_ARGUMENT, "no list");
    is_status(muster_new_subgroups_by_enumeration(world, rank == 3 ? NULL : lists, sizes, 2, NULL,
                                                  &group),
              MUSTER_ERR_ARGUMENT, "NULL on one rank is told to all");
    has_str(muster_last_error(), "rank 3", "with its number");
    is_status(muster_new_subgroups_by_enumeration(world, lists, sizes, 2, NULL,
                                                  rank == 3 ? NULL : &group),
              MUSTER_ERR_ARGUMENT, "no place on one rank");
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.timeout_ms = rank == 2 ? -5 : T;
    is_status(muster_new_subgroups_by_enumeration(world, lists, sizes, 2, &args, &group),
              MUSTER_ERR_ARGUMENT, "a bad time-out on one rank");
    has_str(muster_last_error(), "-5 ms", "is told to all");
    ok(in_time(began, 2000) && group == NULL, "all of it at once");
    ok(group_works(world), "the world goes on");
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

static void split(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *group = NULL;
    static const int even[] = {4, 2, 0}, odd[] = {5, 3, 1}, in_order[] = {0, 1, 2, 3, 4, 5};
    is_status(muster_group_split(world, rank % 2, -rank, NULL, &group), MUSTER_OK, "two colors");
    ok(is_made_of(group, rank % 2 == 0 ? even : odd, 3), "keys turn the order round");
    muster_group_free(group);
    is_status(muster_group_split(world, INT32_MAX, 7, NULL, &group), MUSTER_OK, "one color");
    ok(is_made_of(group, in_order, 6), "equal keys leave the order as it is");
    muster_group_free(group);
    group = NULL;
    is_status(muster_group_split(world, rank == 2 ? MUSTER_NO_COLOR : 0, 0, NULL, &group),
              MUSTER_OK, "a rank of no color");
    ok(rank == 2 ? group == NULL : muster_group_size(group) == 5, "is in no group");
    muster_group_free(group);
    group = NULL;
    is_status(muster_group_split(world, MUSTER_NO_COLOR, 0, NULL, &group), MUSTER_OK,
              "nobody has a color");
    ok(group == NULL, "nobody has a group");
    int64_t began = now_ms();
    is_status(muster_group_split(world, rank == 3 ? -5 : 0, 0, NULL, &group), MUSTER_ERR_ARGUMENT,
              "a bad color on one rank");
    has_str(muster_last_error(), "rank 3 gave the color -5", "is told to all");
    is_status(muster_group_split(world, 0, 0, NULL, rank == 1 ? NULL : &group), MUSTER_ERR_ARGUMENT,
              "no place on one rank");
    has_str(muster_last_error(), "rank 1", "is told to all");
    ok(in_time(began, 1000) && group == NULL, "at once");
    int keys[2] = {INT32_MIN, INT32_MAX};
    is_status(muster_group_split(world, 0, keys[rank < 3], NULL, &group), MUSTER_OK,
              "the least and the largest key");
    static const int turned[] = {3, 4, 5, 0, 1, 2};
    ok(is_made_of(group, turned, 6), "are in order");
    muster_group_free(group);
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

/* user case 32: a different number of calls; one rank does something else. */
static void other_calls(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *one = NULL, *two = NULL;
    int64_t began = now_ms();
    muster_status status = rank == 1 ? muster_group_split(world, 0, 0, NULL, &one)
                                     : muster_create_sub_group(world, 1, NULL, &one, &two);
    is_status(status, MUSTER_ERR_MISMATCH, "one rank makes another call");
    has_str(muster_last_error(), "a split", "it is said");
    ok(in_time(began, 1000), "at once");
    began = now_ms();
    status = rank == 1 ? MUSTER_ERR_TIMEOUT : muster_group_split(world, 0, 0, NULL, &one);
    is_status(status, MUSTER_ERR_TIMEOUT, "one rank calls once less");
    ok(rank == 1 || strstr(muster_last_error(), "rank 1 of 3") != NULL, "it is named");
    ok(in_time(began, PARENT_LATE), "in time");
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

/* user case 35 */
static void roots(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", T), *group = NULL;
    static const int upper[] = {2, 3};
    muster_status status = muster_new_group(world, upper, 2, NULL, &group);
    bool member = rank >= 2;
    is_status(status, member ? MUSTER_OK : MUSTER_ERR_NOT_MEMBER, "a group of 2 and 3");
    int32_t number = rank;
    for (int root = 0; root < 2; root++) {
        number = rank;
        status = muster_broadcast(group, &number, 1, MUSTER_INT32, root, NULL);
        ok(!member || (status == MUSTER_OK && number == root + 2), "root %d is its own rank", root);
    }
    static const int wrong[] = {2, 3, -1};
    for (int i = 0; i < 3; i++) {
        status = muster_broadcast(group, &number, 1, MUSTER_INT32, wrong[i], NULL);
        is_status(status, member ? MUSTER_ERR_ARGUMENT : MUSTER_ERR_NOT_MEMBER, "root %d",
                  wrong[i]);
        ok(!member || strstr(muster_last_error(), "0 to 1") != NULL, "the range is said");
    }
    ok(!member || group_works(group), "the group goes on");
    muster_group_free(group);
    ranks_barrier(); /* rank 0 has the store */
    muster_group_free(world);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "members", .size = 4, .points = 7, .body = members_alone, .silent = true},
        {.name = "lists", .size = 4, .points = 18, .body = wrong_lists, .silent = true},
        {.name = "names", .size = 4, .points = 9, .body = names, .silent = true},
        {.name = "threads", .size = 4, .points = 1, .body = from_threads, .silent = true},
        {.name = "order", .size = 3, .points = 6, .body = other_order, .silent = true},
        {.name = "enumeration", .size = 5, .points = 16, .body = enumeration, .silent = true},
        {.name = "split", .size = 6, .points = 15, .body = split, .silent = true},
        {.name = "other calls", .size = 3, .points = 6, .body = other_calls, .silent = true},
        {.name = "roots", .size = 4, .points = 10, .body = roots, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
