/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of the ranks that are left.
 */
#include "config.h"

#include "grouptest.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 2000, LONG = 20000 };

static void wait_to_die(void)
{
    while (true)
        pause();
}

static muster_status shrink(muster_group *group, int failed, int64_t timeout_ms,
                            muster_group **rest)
{
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.timeout_ms = timeout_ms;
    return muster_group_shrink(group, &failed, 1, &args, rest);
}

/* Two are lost, one after the other; the last three go on. user case 50. */
static void twice(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *four = NULL, *three = NULL;
    ranks_barrier();
    if (rank == 3)
        wait_to_die();
    if (rank == 0)
        ranks_kill(3, SIGKILL);
    is_status(muster_barrier(group, NULL), MUSTER_ERR_PEER_LOST, "a rank is lost");
    has_str(muster_last_error(), "rank 3 was lost: its process has ended", "and is named");
    int64_t began = now_ms();
    is_status(shrink(group, 3, LONG, &four), MUSTER_OK, "the others make a group");
    ok(in_time(began, 2000), "soon");
    ok(group_works(four) && muster_group_size(four) == 4, "which works");
    int parent = -1;
    muster_group_rank_to_parent(four, 3, &parent);
    is_int(parent, 4, "its ranks are the parent's without the lost one");
    is_status(muster_group_check(group), MUSTER_ERR_PEER_LOST, "the parent stays failed");
    muster_group_free(group);
    ok(group_works(four), "and is not needed any more");
    ranks_barrier_among(4);
    if (rank == 1)
        wait_to_die();
    if (rank == 0)
        ranks_kill(1, SIGKILL);
    is_status(muster_barrier(four, NULL), MUSTER_ERR_PEER_LOST, "another is lost");
    has_str(muster_last_error(), "rank 1 was lost: its process has ended", "and is named");
    is_status(shrink(four, 1, LONG, &three), MUSTER_OK, "there are three left");
    ok(group_works(three) && muster_group_size(three) == 3, "which go on");
    muster_group_free(four);
    ranks_barrier_among(3);
    muster_group_free(three);
}

/* Who gives the new group another name than the others, or none, makes none of them have it. */
static void other_names(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *rest = NULL;
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.group_name = rank == 1 ? "foo" : "bar";
    is_status(rank == 3 ? MUSTER_ERR_MISMATCH
                        : muster_group_shrink(group, (int[]){3}, 1, &args, &rest),
              MUSTER_ERR_MISMATCH, "a shrink with another name");
    ok(rank == 3 ||
           strstr(muster_last_error(), "rank 0 gives it the group_name 'bar', but rank 1 'foo'"),
       "which is said");
    args.group_name = rank == 2 ? NULL : "bar";
    is_status(muster_group_split(group, 0, 0, &args, &rest), MUSTER_ERR_MISMATCH,
              "a split with none");
    has_str(muster_last_error(), "rank 0 gives it the group_name 'bar', but rank 2 none",
            "which is said");
    args.group_name = rank < 2 ? "low" : "high";
    is_status(muster_group_split(group, rank / 2, 0, &args, &rest), MUSTER_OK,
              "groups of one split may have different ones");
    is_str(muster_group_name(rest), rank < 2 ? "low" : "high", "which they get");
    ranks_barrier();
    muster_group_free(rest);
    muster_group_free(group);
}

/* One of the survivors is lost while they meet: they hear it at once, and may leave it out. */
static void lost_meanwhile(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *rest = NULL;
    ranks_barrier();
    if (rank > 1)
        wait_to_die();
    if (rank == 0) {
        ranks_kill(2, SIGKILL);
        ranks_kill(3, SIGKILL);
    }
    is_status(muster_barrier(group, NULL), MUSTER_ERR_PEER_LOST, "two are lost");
    int64_t began = now_ms();
    is_status(shrink(group, 2, LONG, &rest), MUSTER_ERR_PEER_LOST, "with one of them it can't be");
    has_str(muster_last_error(), "rank 3", "it is named");
    ok(rest == NULL && in_time(began, 2500), "soon");
    const int both[] = {3, 2};
    is_status(muster_group_shrink(group, both, 2, NULL, &rest), MUSTER_OK, "without both it can");
    ok(group_works(rest) && muster_group_size(rest) == 2, "and works");
    muster_group_free(group);
    ranks_barrier_among(2);
    muster_group_free(rest);
}

/* Ranks that name different ones, and one that does not come. */
static void disagree(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *rest = NULL;
    muster_status status = MUSTER_ERR_MISMATCH;
    if (rank < 2)
        status = shrink(group, rank == 0 ? 2 : 3, T, &rest);
    is_status(status, MUSTER_ERR_MISMATCH, "different ranks are named");
    ok(rank >= 2 || (strstr(muster_last_error(), "0,1,3") != NULL &&
                     strstr(muster_last_error(), "0,1,2") != NULL),
       "both are quoted: %s", rank < 2 ? muster_last_error() : "");
    ok(rest == NULL, "there is no group");
    ok(group_works(group), "the parent goes on");
    ranks_barrier();
    int64_t began = now_ms();
    status = MUSTER_ERR_TIMEOUT;
    if (rank < 2)
        status = shrink(group, 3, T, &rest);
    is_status(status, MUSTER_ERR_TIMEOUT, "one that does not come");
    ok(rank >= 2 || strstr(muster_last_error(), "rank 2") != NULL, "is named: %s",
       rank < 2 ? muster_last_error() : "");
    ok(in_time(began, T + 1000), "in time");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

/* A group that works, and one that was broken off. */
static void whole(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *copy = NULL, *again = NULL;
    is_status(muster_group_shrink(group, NULL, 0, NULL, &copy), MUSTER_OK, "nobody is left out");
    ok(group_works(copy) && group_works(group), "both groups work");
    ranks_barrier();
    if (rank == 0)
        muster_group_abort(group);
    while (muster_group_check(group) == MUSTER_OK)
        sleep_ms(2);
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    args.group_name = "again";
    is_status(muster_group_shrink(group, NULL, 0, &args, &again), MUSTER_OK,
              "nor after the group was broken off");
    ok(group_works(again) && strcmp(muster_group_name(again), "again") == 0, "it has its name");
    ranks_barrier();
    muster_group_free(copy);
    muster_group_free(again);
    muster_group_free(group);
    ranks_barrier();
}

static void wrong(int rank, int size)
{
    muster_group *group = world_of("world", LONG), *rest = NULL;
    const int there[] = {(rank + 1) % size, (rank + 1) % size}, none[] = {-1};
    muster_group_args args = MUSTER_GROUP_ARGS_INIT;
    is_status(muster_group_shrink(NULL, NULL, 0, NULL, &rest), MUSTER_ERR_NOT_MEMBER, "no parent");
    is_status(muster_group_shrink(group, there, 1, NULL, NULL), MUSTER_ERR_ARGUMENT, "no place");
    is_status(muster_group_shrink(group, NULL, 1, NULL, &rest), MUSTER_ERR_ARGUMENT, "no list");
    has_str(muster_last_error(), "failed_ranks is NULL, but num_failed is 1", "which is said");
    is_status(muster_group_shrink(group, there, SIZE_MAX, NULL, &rest), MUSTER_ERR_ARGUMENT,
              "more than there are");
    has_str(muster_last_error(), "more than the 3 ranks that the group has", "which is said");
    is_status(muster_group_shrink(group, none, 1, NULL, &rest), MUSTER_ERR_ARGUMENT, "no rank");
    is_status(muster_group_shrink(group, there, 2, NULL, &rest), MUSTER_ERR_ARGUMENT, "one twice");
    args.timeout_ms = 0;
    is_status(muster_group_shrink(group, there, 1, &args, &rest), MUSTER_ERR_ARGUMENT, "no time");
    ok(rest == NULL, "no place was written");
    rest = group;
    is_status(muster_group_shrink(group, &rank, 1, NULL, &rest), MUSTER_ERR_NOT_MEMBER,
              "the caller itself");
    ok(rest == NULL, "gets no group");
    ok(group_works(group), "the parent works after it");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "twice",
         .size = 5,
         .points = 12,
         .body = twice,
         .silent = true,
         .deaths = {{3, SIGKILL, 0}, {1, SIGKILL, 0}}},
        {.name = "lost_meanwhile",
         .size = 4,
         .points = 6,
         .body = lost_meanwhile,
         .silent = true,
         .deaths = {{2, SIGKILL, 0}, {3, SIGKILL, 0}}},
        {.name = "other names", .size = 4, .points = 6, .body = other_names, .silent = true},
        {.name = "disagree", .size = 4, .points = 7, .body = disagree, .silent = true},
        {.name = "whole", .size = 3, .points = 4, .body = whole, .silent = true},
        {.name = "wrong", .size = 3, .points = 13, .body = wrong, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
