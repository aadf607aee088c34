/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gathers that break the group: ranks that call different things, that do not come, that die on the
 * way. Nobody hangs, everybody is told, and the group stays failed.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peak.h"
#include "ranks.h"
#include "shapes.h"

enum { TIMEOUT_MS = 20000, SHORT_MS = 1500, MIB = 1 << 20, BIG = 64 * MIB };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static muster_status gather_some(muster_group *group, bool tokens)
{
    static const size_t length = 2;
    static const int64_t ids[] = {-1, 7};
    muster_token_lists lists = {1, &length, ids};
    muster_blob object = {ids, sizeof(ids)};
    muster_object_list list = {1, &object};
    muster_tokens *all_tokens = NULL;
    muster_objects *all_objects = NULL;
    muster_status status = tokens ? muster_all_gather_tokens(group, &lists, &all_tokens)
                                  : muster_all_gather_objects(group, &list, &all_objects);
    muster_tokens_free(all_tokens);
    muster_objects_free(all_objects);
    return status;
}

/* Failed it stays, says so at once, and another group can be made and used. The ranks that are
 * still there are the first ones. */
static void stays_failed(muster_group *world, int still_there)
{
    double start = seconds();
    ok(gather_some(world, true) != MUSTER_OK && gather_some(world, false) != MUSTER_OK,
       "what comes later fails too");
    ok(muster_group_check(world) != MUSTER_OK && seconds() - start < 1 * ranks_time_factor(),
       "at once");
    muster_group_free(world);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    muster_group *group = NULL;
    char size[16];
    snprintf(size, sizeof(size), "%d", still_there);
    setenv("WORLD_SIZE", size, 1);
    unsetenv("LOCAL_WORLD_SIZE"); /* which would be larger */
    args.group_name = "another";
    args.timeout_ms = TIMEOUT_MS;
    muster_status made = muster_init_process_group(&group, &args);
    if (made != MUSTER_OK)
        diag("%s", muster_last_error());
    ok(made == MUSTER_OK && gather_some(group, true) == MUSTER_OK &&
           gather_some(group, false) == MUSTER_OK,
       "and in another group the gathers work");
    muster_group_free(group);
}

static void different(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    double start = seconds();
    is_int(gather_some(world, rank != 1), MUSTER_ERR_MISMATCH,
           "one rank gathers objects and the others tokens");
    has_str(muster_last_error(), "gather_tokens #", "one operation is named");
    has_str(muster_last_error(), "gather_objects #", "and the other");
    ok(seconds() - start < 10 * ranks_time_factor(), "long before the time-out");
    ranks_barrier();
    stays_failed(world, size);
}

/* Another collective than a gather, on the last rank. */
static void collective(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    muster_status status =
        rank == size - 1 ? muster_barrier(world, NULL) : gather_some(world, true);
    is_int(status, MUSTER_ERR_MISMATCH, "one rank is at a barrier");
    ranks_barrier();
    stays_failed(world, size);
}

/* seed 9.3.10, 9.4.10: a gather ends at the time-out of its group */
static void absent(int rank, int size)
{
    int64_t timeout = (int64_t)(SHORT_MS * ranks_time_factor());
    muster_group *world = shapes_world(TIMEOUT_MS);
    muster_group_set_timeout(world, timeout);
    double start = seconds();
    if (rank == size - 1)
        ranks_barrier();
    muster_status status = gather_some(world, false);
    double took = seconds() - start;
    if (rank < size - 1)
        ranks_barrier();
    ok(status == MUSTER_ERR_TIMEOUT || rank == size - 1, "one rank does not come");
    has_str(muster_last_error(), "rank 3", "and is named");
    has_str(muster_last_error(), "gather_objects #", "with the operation");
    ok(rank == size - 1 || (took * 1000 > (double)timeout - 100 &&
                            took * 1000 < (double)timeout + 3000 * ranks_time_factor()),
       "at the time-out (%.1f s)", took);
    ranks_barrier();
    stays_failed(world, size);
}

/* Kills this rank when it has received some MiB of what it gathers. */
static void *die_in_the_middle(void *before)
{
    struct timespec nap = {0, 200000};
    while (peak_resident() < *(size_t *)before + BIG + 8 * MIB)
        nanosleep(&nap, NULL);
    raise(SIGKILL);
    return NULL;
}

static void killed(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    char *bytes = malloc(BIG);
    memset(bytes, rank, BIG);
    muster_blob object = {bytes, BIG};
    muster_object_list mine = {1, &object};
    muster_objects *all = (muster_objects *)&mine;
    size_t before = peak_reset();
    pthread_t killer;
    ranks_barrier();
    if (rank == size - 1)
        pthread_create(&killer, NULL, die_in_the_middle, &before);
    double start = seconds();
    is_int(muster_all_gather_objects(world, &mine, &all), MUSTER_ERR_PEER_LOST,
           "a rank is killed while 64 MiB are under way");
    has_str(muster_last_error(), "rank 3 was lost: its process has ended",
            "and named alone, though all others have closed their connections too");
    ok(seconds() - start < 10 * ranks_time_factor(), "long before the time-out");
    ok(all == (muster_objects *)&mine, "nothing is handed over");
    free(bytes);
    ranks_barrier_among(size - 1);
    stays_failed(world, size - 1);
}

/* Before it has begun: the death watch sees it. */
static void killed_before(int rank, int size)
{
    muster_group *world = shapes_world(TIMEOUT_MS);
    ranks_barrier();
    if (rank == size - 1)
        raise(SIGKILL);
    is_int(gather_some(world, true), MUSTER_ERR_PEER_LOST, "a rank has been killed");
    has_str(muster_last_error(), "rank 2 was lost: its process has ended", "and is named");
    ranks_barrier_among(size - 1);
    stays_failed(world, size - 1);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "tokens and objects",
         .size = 4,
         .points = 7,
         .body = different,
         .host_store = true},
        {.name = "another collective",
         .size = 3,
         .points = 4,
         .body = collective,
         .host_store = true},
        {.name = "absent", .size = 4, .points = 7, .body = absent, .host_store = true},
        {.name = "killed in the middle",
         .size = 4,
         .points = 7,
         .body = killed,
         .host_store = true,
         .silent = true,
         .deaths = {{.rank = 3, .signal = SIGKILL}}},
        {.name = "killed before",
         .size = 3,
         .points = 5,
         .body = killed_before,
         .deaths = {{.rank = 2, .signal = SIGKILL}}},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
