/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which ranks are lost, as those that are left name them to each other.
 */
#include "config.h"

#include "grouptest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 1500, LONG = 20000, SOON_MS = 2500 };

static void wait_to_die(void)
{
    while (true)
        pause();
}

/* A point: the lost ranks are those, "2 3", after so long at most. */
static void is_lost(muster_group *group, const char *expected, int64_t limit_ms, const char *name)
{
    char text[256] = "";
    int *ranks = NULL;
    size_t count = 0;
    int64_t began = now_ms();
    muster_status status = muster_group_lost_ranks(group, &ranks, &count);
    bool soon = in_time(began, limit_ms);
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", i == 0 ? "" : " ",
                 ranks[i]);
    if (status != MUSTER_OK)
        snprintf(text, sizeof(text), "%s", muster_last_error());
    is_str(soon ? text : "late", expected, "%s", name);
    muster_free(ranks);
}

/* They shrink to a group of all that are left. */
static void goes_on(muster_group *group, int left)
{
    int *ranks = NULL;
    size_t count = 0;
    muster_group *rest = NULL;
    muster_group_lost_ranks(group, &ranks, &count);
    is_status(muster_group_shrink(group, ranks, count, NULL, &rest), MUSTER_OK, "the others go on");
    ok(group_works(rest) && muster_group_size(rest) == left, "in a group of %d that works", left);
    muster_free(ranks);
    ranks_barrier_among(left);
    muster_group_free(rest);
    ranks_barrier_among(left);
}

/* Several are killed at about the same time, and each of the others finds one of them first. */
static void several(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG);
    is_lost(group, "", 500, "nobody is lost, and nobody is waited for");
    ranks_barrier();
    if (rank == 1 || rank == 4 || rank == 5)
        wait_to_die();
    if (rank == 0) {
        ranks_kill(4, SIGKILL);
        ranks_kill(1, SIGKILL);
        ranks_kill(5, SIGKILL);
    }
    is_status(muster_barrier(group, NULL), MUSTER_ERR_PEER_LOST, "ranks are lost");
    is_lost(group, "1 4 5", SOON_MS, "all are named");
    is_lost(group, "1 4 5", SOON_MS, "and again");
    goes_on(group, 3);
    muster_group_free(group);
    ranks_barrier_among(3);
}

/* Another is lost while the rest meet. */
static void meanwhile(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *rest = NULL;
    const int failed = 3;
    ranks_barrier();
    if (rank > 1)
        wait_to_die();
    if (rank == 0)
        ranks_kill(3, SIGKILL);
    is_status(muster_barrier(group, NULL), MUSTER_ERR_PEER_LOST, "one is lost");
    is_lost(group, "3", SOON_MS, "though another does not come to say what it saw");
    if (rank == 0)
        ranks_kill(2, SIGKILL);
    is_status(muster_group_shrink(group, &failed, 1, NULL, &rest), MUSTER_ERR_PEER_LOST,
              "another is lost before they meet");
    is_lost(group, "2 3", SOON_MS, "both are named");
    goes_on(group, 2);
    muster_group_free(group);
    ranks_barrier_among(2);
}

/* Ranks of a sub-group have its numbers; one that has freed it is gone for good. */
static void in_part(int rank, int size)
{
    (void)size;
    muster_group *world = world_of("world", LONG), *part = NULL;
    const int members[] = {3, 1, 2};
    muster_status status = muster_new_group(world, members, 3, NULL, &part);
    is_status(status, rank == 0 ? MUSTER_ERR_NOT_MEMBER : MUSTER_OK, "three make a group");
    ranks_barrier();
    if (rank == 3)
        muster_group_free(part);
    if (rank == 1 || rank == 2) {
        is_status(muster_barrier(part, NULL), MUSTER_ERR_PEER_LOST, "one has left it");
        is_lost(part, "0", SOON_MS, "by its number there");
    } else {
        ok(true, "no part of it");
        ok(true, "no part of it");
    }
    is_lost(world, "", 500, "nobody left the world");
    ok(group_works(world), "which works");
    ranks_barrier();
    if (rank != 3)
        muster_group_free(part);
    muster_group_free(world);
    ranks_barrier();
}

static void no_callback(void *user, muster_status status)
{
    int *ranks = NULL;
    size_t count = 0;
    (void)status;
    is_status(muster_group_lost_ranks(user, &ranks, &count), MUSTER_ERR_ARGUMENT,
              "a callback can't wait for it");
}

/* Failures of another kind, and wrong arguments. */
static void others(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", LONG), *slow = world_of("slow", T);
    int *ranks = NULL, one = 0;
    size_t count = 7;
    is_status(muster_group_lost_ranks(NULL, &ranks, &count), MUSTER_ERR_NOT_MEMBER, "no group");
    is_status(muster_group_lost_ranks(group, NULL, &count), MUSTER_ERR_ARGUMENT, "no place");
    is_status(muster_group_lost_ranks(group, &ranks, NULL), MUSTER_ERR_ARGUMENT, "no other place");
    ok(ranks == NULL && count == 7, "nothing was written");
    muster_work *work = NULL;
    muster_barrier(group, &work);
    muster_work_add_callback(work, no_callback, group);
    muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT);
    muster_work_free(work);
    if (rank == 0) {
        is_status(muster_recv(slow, &one, 1, MUSTER_INT32, 1, NULL), MUSTER_ERR_TIMEOUT, "time");
        muster_group_abort(group);
    } else {
        while (muster_group_check(group) == MUSTER_OK || muster_group_check(slow) == MUSTER_OK)
            sleep_ms(2);
        ok(true, "it has failed");
    }
    is_lost(slow, "", 500, "nobody is lost after a time-out");
    is_lost(group, "", 500, "nor after the group was broken off");
    muster_group_free(slow);
    muster_group_free(group);
    ranks_barrier();
}

static void alone(int rank, int size)
{
    (void)rank, (void)size;
    muster_group *group = world_of("world", LONG);
    is_lost(group, "", 500, "a group of one has lost nobody");
    muster_group_free(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "several",
         .size = 6,
         .points = 6,
         .body = several,
         .silent = true,
         .deaths = {{1, SIGKILL, 0}, {4, SIGKILL, 0}, {5, SIGKILL, 0}}},
        {.name = "meanwhile",
         .size = 4,
         .points = 6,
         .body = meanwhile,
         .silent = true,
         .deaths = {{2, SIGKILL, 0}, {3, SIGKILL, 0}}},
        {.name = "in_part", .size = 4, .points = 5, .body = in_part, .silent = true},
        {.name = "others", .size = 2, .points = 8, .body = others, .silent = true},
        {.name = "alone", .size = 1, .points = 1, .body = alone, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
