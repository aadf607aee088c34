/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that are killed or stopped: the others learn of it in time, with its number, and go on
 * among themselves. user case 49, 50, 71.
 */
#include "config.h"

#include "grouptest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 2000, LATE = T + 1000, VICTIM = 2, BIG = 8 << 20 };

static void wait_to_die(void)
{
    while (true)
        pause();
}

/* What the survivors do when the victim is gone: the group says so, its end is quick, and they make
 * another. end is when they must have known. */
static void go_on(muster_group *group, muster_status status, int64_t began, int64_t limit, int rank,
                  int size, muster_status expected)
{
    is_status(status, expected, "an error");
    ok(in_time(began, limit), "in time");
    has_str(muster_last_error(),
            expected == MUSTER_ERR_PEER_LOST ? "rank 2 was lost: its process has ended" : "rank 2",
            "it names the rank");
    is_status(muster_group_check(group), expected, "the group says the same");
    began = now_ms();
    is_status(muster_barrier(group, NULL), expected, "and so does the next call");
    ok(in_time(began, 300), "at once");
    began = now_ms();
    muster_group_free(group);
    ok(in_time(began, 1300), "freeing it is quick");
    ranks_barrier_among(size - 1);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    char url[128];
    snprintf(url, sizeof(url), "tcp://127.0.0.1:%s", getenv("MASTER_PORT"));
    args.init_method = url;
    args.group_name = "survivors";
    args.rank = rank > VICTIM ? rank - 1 : rank;
    args.world_size = size - 1;
    args.timeout_ms = 10000;
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    group = NULL;
    is_status(muster_init_process_group(&group, &args), MUSTER_OK, "the survivors meet again");
    ok(group_works(group), "and work");
    ranks_barrier_among(size - 1);
    muster_group_free(group);
}
enum { GO_ON = 9 };

/* Rank 0 does it, when all others are where they should be. */
static void strike(int rank, int signal)
{
    if (rank == 0)
        ranks_kill(VICTIM, signal);
}

static void killed_before(int rank, int size)
{
    muster_group *group = world_of("world", T);
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    strike(rank, SIGKILL);
    int64_t began = now_ms();
    muster_status status = muster_barrier(group, NULL);
    go_on(group, status, began, 1000, rank, size, MUSTER_ERR_PEER_LOST);
}

static void killed_within(int rank, int size)
{
    muster_group *group = world_of("world", T);
    int32_t number = 0;
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    muster_work *work = NULL;
    muster_all_reduce(group, &number, &number, 1, MUSTER_INT32, MUSTER_SUM, &work);
    sleep_ms(50);
    strike(rank, SIGKILL);
    int64_t began = now_ms();
    muster_status status = muster_work_wait(work, MUSTER_TIMEOUT_DEFAULT);
    muster_work_free(work);
    go_on(group, status, began, 1000, rank, size, MUSTER_ERR_PEER_LOST);
}

/* Amid much data. */
static void killed_amid(int rank, int size)
{
    muster_group *group = world_of("world", T);
    char *data = calloc(1, BIG);
    muster_status status = MUSTER_OK;
    int64_t began = now_ms();
    ranks_barrier();
    for (int i = 0; status == MUSTER_OK && in_time(began, 10000); i++) {
        if (i == 1 && rank == 0) {
            ranks_kill(VICTIM, SIGKILL);
            began = now_ms();
        }
        status = muster_all_reduce(group, data, data, BIG, MUSTER_INT8, MUSTER_SUM, NULL);
        if (i == 0)
            began = now_ms();
    }
    free(data);
    go_on(group, status, began, 1500, rank, size, MUSTER_ERR_PEER_LOST);
}

/* Nobody calls anything: the group knows all the same. */
static void killed_idle(int rank, int size)
{
    muster_group *group = world_of("world", T);
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    strike(rank, SIGKILL);
    int64_t began = now_ms();
    while (muster_group_check(group) == MUSTER_OK && in_time(began, 5000))
        sleep_ms(5);
    go_on(group, muster_group_check(group), began, 1000, rank, size, MUSTER_ERR_PEER_LOST);
}

static void killed_in_gather(int rank, int size)
{
    muster_group *group = world_of("world", T);
    muster_tokens *all = NULL;
    const size_t lengths[] = {2};
    const int64_t tokens[] = {1, -1};
    const muster_token_lists mine = {1, lengths, tokens};
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    strike(rank, SIGKILL);
    int64_t began = now_ms();
    muster_status status = muster_all_gather_tokens(group, &mine, &all);
    ok(all == NULL, "no tokens");
    go_on(group, status, began, 1000, rank, size, MUSTER_ERR_PEER_LOST);
}

static void killed_in_making(int rank, int size)
{
    muster_group *group = world_of("world", T), *regular = NULL, *orthogonal = NULL;
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    strike(rank, SIGKILL);
    int64_t began = now_ms();
    muster_status status = muster_create_sub_group(group, 2, NULL, &regular, &orthogonal);
    ok(status != MUSTER_OK && regular == NULL && orthogonal == NULL, "no sub-groups");
    ok(in_time(began, LATE), "in time");
    has_str(muster_last_error(), "rank 2", "the rank is named");
    status = muster_group_check(group);
    go_on(group, status, began, LATE, rank, size, MUSTER_ERR_PEER_LOST);
}

static void killed_in_init(int rank, int size)
{
    (void)size;
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    strike(rank, SIGKILL);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.timeout_ms = T;
    muster_group *group = NULL;
    int64_t began = now_ms();
    is_status(muster_init_process_group(&group, &args), MUSTER_ERR_TIMEOUT, "no group");
    ok(in_time(began, LATE), "in time");
    has_str(muster_last_error(), "rank 2 of 4", "the rank is named");
    ranks_barrier_among(size - 1);
}

/* A rank that is stopped: its connections stay, so that only the time-out tells. */
static void stopped(int rank, int size)
{
    muster_group *group = world_of("world", T);
    ranks_barrier();
    if (rank == VICTIM)
        wait_to_die();
    strike(rank, SIGSTOP);
    ranks_barrier_among(size - 1);
    int64_t began = now_ms();
    muster_status status = muster_barrier(group, NULL);
    int64_t limit = (int64_t)(T * ranks_time_factor()) + 1000;
    go_on(group, status, began, limit, rank, size, MUSTER_ERR_TIMEOUT);
    strike(rank, SIGKILL);
}

/* user case 71: two are missing in a collective and in a gather; all name both. */
static void two_missing(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T), *second = world_of("second", T);
    bool comes = rank != 3 && rank != 6;
    muster_objects *all = NULL;
    const muster_object_list mine = {0, NULL};
    int64_t began = now_ms();
    muster_status status = comes ? muster_barrier(group, NULL) : MUSTER_ERR_TIMEOUT;
    is_status(status, MUSTER_ERR_TIMEOUT, "in a barrier");
    ok(!comes || strstr(muster_last_error(), "ranks 3,6") != NULL, "both are named");
    ok(!comes || strstr(muster_last_error(), "barrier #1") != NULL ||
           strstr(muster_last_error(), "barrier #2") != NULL,
       "with the operation and its number");
    ok(in_time(began, LATE), "in time");
    ranks_barrier();
    began = now_ms();
    status = comes ? muster_all_gather_objects(second, &mine, &all) : MUSTER_ERR_TIMEOUT;
    is_status(status, MUSTER_ERR_TIMEOUT, "in a gather");
    if (!ok(!comes || strstr(muster_last_error(), "ranks 3,6") != NULL, "both are named"))
        diag("%s", muster_last_error());
    ok(in_time(began, LATE), "in time");
    ranks_barrier();
    muster_group_free(second);
    muster_group_free(group);
    ranks_barrier();
}

/* A case of four ranks of which one is killed. */
#define KILLED(NAME, POINTS, BODY)                                                                 \
    {                                                                                              \
        .name = (NAME), .size = 4, .points = (POINTS), .body = (BODY), .silent = true, .deaths = { \
            {VICTIM, SIGKILL, 0}                                                                   \
        }                                                                                          \
    }

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        KILLED("before", GO_ON, killed_before),
        KILLED("within", GO_ON, killed_within),
        KILLED("amid", GO_ON, killed_amid),
        KILLED("idle", GO_ON, killed_idle),
        KILLED("gather", GO_ON + 1, killed_in_gather),
        KILLED("making", GO_ON + 3, killed_in_making),
        KILLED("init", 3, killed_in_init),
        KILLED("stopped", GO_ON, stopped),
        {.name = "missing", .size = 8, .points = 7, .body = two_missing, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
