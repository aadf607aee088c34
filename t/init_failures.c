/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster_init_process_group where the ranks disagree, do not come, or die.
 */
#include "config.h"

#include "grouptest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { T = 1500, LATE = T + 1000 };

static muster_init_args args_in(muster_store *store, const char *name, int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.group_name = name;
    args.rank = rank;
    args.world_size = size;
    args.timeout_ms = T;
    return args;
}

/* All ranks fail in time with this status and these words, and a group can still be made. */
static void all_fail(muster_store *store, muster_init_args *args, muster_status status,
                     const char *first, const char *second, int rank, int size)
{
    muster_group *group = NULL;
    args->timeout_ms = 2 * T; /* it is said at once, but a busy machine may keep a rank back */
    ranks_barrier();
    int64_t began = now_ms();
    is_status(muster_init_process_group(&group, args), status, "%s: an error on every rank",
              args->group_name);
    ok(in_time(began, LATE) && group == NULL, "in time, and nothing is handed over");
    has_str(muster_last_error(), first, "it says one side");
    has_str(muster_last_error(), second, "and the other");
    ranks_barrier();
    muster_init_args again = args_in(store, args->group_name, rank, size);
    again.timeout_ms = 10000;
    is_status(muster_init_process_group(&group, &again), MUSTER_OK, "the same name again");
    ok(group_works(group), "works");
    muster_group_free(group);
    ranks_barrier();
}

/* user case 13a */
static void one_number_twice(int rank, int size)
{
    muster_store *store = common_store(rank);
    char pids[2][32];
    int *pid = ranks_shared(size * sizeof(int));
    pid[rank] = (int)getpid();
    ranks_barrier();
    snprintf(pids[0], sizeof(pids[0]), "process %d on", pid[1]);
    snprintf(pids[1], sizeof(pids[1]), "process %d on", pid[2]);
    muster_init_args args = args_in(store, "twice", rank <= 1 ? rank : rank - 1, size);
    all_fail(store, &args, MUSTER_ERR_EXISTS, pids[0], pids[1], rank, size);
    muster_store_free(store);
}

/* user case 13b */
static void other_sizes(int rank, int size)
{
    muster_store *store = common_store(rank);
    muster_init_args args = args_in(store, "smaller", rank, rank == 1 ? size - 1 : size);
    all_fail(store, &args, MUSTER_ERR_MISMATCH, "world size 4", "world size 3", rank, size);
    args = args_in(store, "larger", rank, rank == 3 ? size + 1 : size);
    all_fail(store, &args, MUSTER_ERR_MISMATCH, "world size 4", "world size 5", rank, size);
    args = args_in(store, "backends", rank, size);
    args.backend = rank == 2 ? "gloo" : "auto";
    all_fail(store, &args, MUSTER_ERR_MISMATCH, "rank 2 (host", "'auto'", rank, size);
    muster_store_free(store);
}

/* user case 71: the same set of missing ranks on all that wait. */
static void missing_in(muster_store *store, const char *name, int rank, int size, bool comes,
                       const char *missing)
{
    muster_group *group = NULL;
    muster_init_args args = args_in(store, name, rank, size);
    int64_t began = now_ms();
    muster_status status = comes ? muster_init_process_group(&group, &args) : MUSTER_ERR_TIMEOUT;
    is_status(status, MUSTER_ERR_TIMEOUT, "%s: a time-out", name);
    ok(in_time(began, LATE), "%s: in time", name);
    ok(!comes || strstr(muster_last_error(), missing) != NULL, "%s: %s is named", name, missing);
    ok(!comes || strstr(muster_last_error(), "1500 ms") != NULL, "%s: with the time-out", name);
    ranks_barrier();
}

static void who_is_missing(int rank, int size)
{
    muster_store *store = common_store(rank);
    missing_in(store, "two", rank, size, rank != 3 && rank != 6, "ranks 3,6 of 8");
    missing_in(store, "first", rank, size, rank != 0, "rank 0 of 8");
    missing_in(store, "half", rank, size, rank < 4, "ranks 4-7 of 8");
    muster_store_free(store);
}

/* user case 53a: nobody serves the store. */
static void nobody_there(int rank, int size)
{
    (void)size;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.timeout_ms = T;
    muster_group *group = NULL;
    int64_t began = now_ms();
    muster_status status =
        rank == 0 ? MUSTER_ERR_TIMEOUT : muster_init_process_group(&group, &args);
    is_status(status, MUSTER_ERR_TIMEOUT, "no store, no group");
    ok(in_time(began, LATE), "in time");
    ok(rank == 0 || strstr(muster_last_error(), getenv("MASTER_PORT")) != NULL,
       "the sentence says where it should be");
}

/* user case 53d, e: over the rigged backend, whose ranks are threads. */
static muster_store *hash;
static const char *rigged_options;

static void rigged_rank(int rank, int size)
{
    muster_init_args args = args_in(hash, rigged_options, rank, size);
    args.backend = "rigged";
    args.options = rigged_options;
    muster_group *group = NULL;
    int64_t began = now_ms();
    muster_status status = muster_init_process_group(&group, &args);
    ok(status != MUSTER_OK && group == NULL, "%s: no rank has a group", rigged_options);
    ok(in_time(began, LATE), "%s: in time", rigged_options);
    has_str(muster_last_error(), "rank 1", "%s: rank 1 is named", rigged_options);
}

static void backend_fails(int rank, int size)
{
    (void)rank;
    (void)size;
    static const char *const fails[] = {"rigged.fail=open:1", "rigged.fail=open_late:1",
                                        "rigged.fail=send:1", "rigged.fail=recv:1",
                                        "rigged.fail=wait:1", "rigged.fail=hang:1"};
    if (muster_store_hash(&hash) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
        rigged_options = fails[i];
        ranks_threads(fails[i], 3, 3, rigged_rank);
    }
    muster_store_free(hash);
}

/* Two ranks stall in open until the third, which fails, has them broken off; threads of one process
 * of which none dies. */
static void stalled_rank(int rank, int size)
{
    muster_init_args args = args_in(hash, "stalled", rank, size);
    args.backend = "rigged";
    args.options = rank == 1 ? "rigged.fail=open_late" : "rigged.fail=stall";
    args.timeout_ms = 30000;
    muster_group *group = NULL;
    int64_t began = now_ms();
    is_status(muster_init_process_group(&group, &args), MUSTER_ERR_SYSTEM, "open is broken off");
    ok(in_time(began, 2500), "long before its time-out");
    has_str(muster_last_error(), "rank 1 is rigged to fail in open_late", "for the right reason");
}

static void open_is_broken_off(int rank, int size)
{
    (void)rank;
    (void)size;
    if (muster_store_hash(&hash) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    ranks_threads("stalled", 3, 3, stalled_rank);
    muster_store_free(hash);
}

/* user case 53f, g, h: the peer sleeps. */
static void peer_sleeps(int rank, int size)
{
    muster_group *world = world_of("sleepy", T), *part = NULL, *orthogonal = NULL;
    muster_group_args longer = MUSTER_GROUP_ARGS_INIT;
    longer.timeout_ms = 60000;
    int32_t one = 1, sum = 0;
    is_status(muster_group_split(world, 0, 0, NULL, &part), MUSTER_OK, "a sub-group");
    is_int(muster_group_timeout(part), muster_group_timeout(world), "inherits the time-out");
    muster_group_free(part);
    is_status(muster_group_split(world, 0, 0, &longer, &part), MUSTER_OK, "another");
    is_int(muster_group_timeout(part), 60000, "has its own");
    is_status(muster_group_set_timeout(part, 0), MUSTER_ERR_ARGUMENT, "0 ms");
    is_status(muster_group_set_timeout(part, -1), MUSTER_ERR_ARGUMENT, "-1 ms");
    is_status(muster_group_set_timeout(part, T), MUSTER_OK, "it changes later");
    int64_t began = now_ms();
    muster_status status = MUSTER_ERR_TIMEOUT;
    if (rank != size - 1)
        status = muster_create_sub_group(world, 1, NULL, &part, &orthogonal);
    is_status(status, MUSTER_ERR_TIMEOUT, "in making sub-groups");
    ok(in_time(began, (int64_t)(T * ranks_time_factor()) + 1000), "in time");
    if (rank != size - 1)
        has_str(muster_last_error(), "rank 2", "who sleeps is named");
    else
        ok(true, "who sleeps has nothing to say");
    ranks_barrier();
    began = now_ms();
    if (rank != size - 1)
        status = muster_all_reduce(part, &one, &sum, 1, MUSTER_INT32, MUSTER_SUM, NULL);
    is_status(status, MUSTER_ERR_TIMEOUT, "in a collective");
    ok(in_time(began, LATE), "in time by the time-out that was set later");
    ok(rank == size - 1 || strstr(muster_last_error(), "1500 ms") != NULL, "which is said");
    began = now_ms();
    if (rank != size - 1) {
        muster_group_free(part);
        muster_group_free(world);
    }
    ok(in_time(began, 1500), "freeing does not wait for a peer that sleeps");
    ranks_barrier();
    if (rank == size - 1) {
        muster_group_free(part);
        muster_group_free(world);
    }
    ok(in_time(began, 5000), "nor for those who left");
}

/* What goes wrong on one rank is told on all of them, with the rank that it is about. */
static void one_has_no_room(int rank, int size)
{
    char wanted[64];
    muster_store *store = common_store(rank);
    int *pid = ranks_shared(sizeof(int));
    if (rank == 2) {
        int next = dup(STDIN_FILENO);
        struct rlimit few = {(rlim_t)next + 6, (rlim_t)next + 6};
        close(next);
        setrlimit(RLIMIT_NOFILE, &few);
        *pid = (int)getpid();
    }
    ranks_barrier();
    snprintf(wanted, sizeof(wanted), "pid %d): backend 'gloo'", *pid);
    muster_init_args args = args_in(store, "narrow", rank, size);
    args.timeout_ms = 10000;
    args.options = "gloo.shared_memory=off"; /* which needs nearly none */
    args.backend = "gloo";
    muster_group *group = NULL;
    ok(muster_init_process_group(&group, &args) != MUSTER_OK && group == NULL,
       "a rank without descriptors: no group");
    has_str(muster_last_error(), "of 3: rank 2 (host ", "the rank is named");
    has_str(muster_last_error(), wanted, "with its process");
    has_str(muster_last_error(), "too few descriptors", "and what it lacks");
    ranks_barrier();
    muster_store_free(store);
}

/* user case 4: the rank that keeps the store goes home first. */
static void keeper_leaves(int rank, int size)
{
    muster_group *world = world_of("keeper", T), *part = NULL;
    static const int others[] = {1, 2, 3};
    (void)size;
    if (rank != 0)
        sleep_ms(300);
    int64_t began = now_ms();
    muster_status status = MUSTER_OK;
    if (rank != 0)
        status = muster_new_group(world, others, 3, NULL, &part);
    ok(in_time(began, (int64_t)(T * ranks_time_factor()) + 1000), "in time");
    if (status == MUSTER_OK)
        ok(rank == 0 || group_works(part), "it works");
    else
        has_str(muster_last_error(), "127.0.0.1", "or says whose store is gone");
    began = now_ms();
    muster_group_free(part);
    muster_group_free(world);
    ok(in_time(began, 1500), "and the end is quick");
}

/* Makes group W as a process of its own, tells so, and waits to be killed. */
static pid_t start_client(const muster_init_args *args, bool whole)
{
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0)
        bail_out("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        muster_group *group = NULL;
        muster_init_args mine = *args;
        if (mine.init_method == NULL)
            mine.store = common_store(1);
        if (!whole && write(ends[1], "y", 1) != 1)
            _exit(3);
        if (muster_init_process_group(&group, &mine) != MUSTER_OK || write(ends[1], "y", 1) != 1)
            _exit(3);
        while (true)
            pause();
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], &byte, 1) != 1)
        bail_out("no client");
    close(ends[0]);
    return pid;
}

/* user case 52: the trainer crashes, the server makes the group anew with the next one. */
static void clients_crash(int rank, int size)
{
    muster_store *store = rank == 2 ? NULL : common_store(rank);
    muster_init_args args = args_in(store, "W", rank, size);
    args.timeout_ms = 10000;
    int good = 0, quick = 0, lost = 0;
    static const char words[] = "rank 2 was lost: its process has ended";
    for (int round = 0; round < 10; round++) {
        muster_group *group = NULL;
        pid_t client = rank == 2 ? start_client(&args, true) : 0;
        if (rank != 2)
            good += muster_init_process_group(&group, &args) == MUSTER_OK;
        ranks_barrier();
        if (rank == 2) {
            kill(client, SIGKILL);
            waitpid(client, NULL, 0);
        }
        int64_t began = now_ms();
        muster_status status = rank == 2 ? MUSTER_OK : muster_barrier(group, NULL);
        quick += in_time(began, 1000);
        lost += status == MUSTER_ERR_PEER_LOST && strstr(muster_last_error(), words) != NULL;
        if (rank != 2 && round == 9) {
            muster_group *second = NULL;
            is_status(muster_init_process_group(&second, &args), MUSTER_ERR_EXISTS,
                      "while the failed one is held");
            has_str(muster_last_error(), "free it", "it says what to do");
        }
        ranks_barrier();
        muster_group_free(group);
        ranks_barrier();
    }
    if (rank == 2)
        skip(2, "the client is another process");
    is_int(rank == 2 ? 10 : good, 10, "W is made in every round");
    is_int(rank == 2 ? 10 : lost, 10, "and its client is missed in every round");
    is_int(quick, 10, "within a second");
    muster_store_free(store);
}

/* user case 7c, and the same over tcp: all die half-way, others come under the same name. */
static void half_way(int rank, int size, muster_init_args args)
{
    args.timeout_ms = 20000;
    pid_t client = rank < size - 1 ? start_client(&args, false) : 0;
    sleep_ms(200);
    ranks_barrier();
    if (client != 0) {
        kill(client, SIGKILL);
        waitpid(client, NULL, 0);
    }
    ranks_barrier();
    args.timeout_ms = 10000;
    muster_group *group = NULL;
    is_status(muster_init_process_group(&group, &args), MUSTER_OK, "those who come later meet");
    ok(group_works(group), "and work");
    muster_group_free(group);
    ranks_barrier();
}

static void dead_half_way(int rank, int size)
{
    char url[512];
    snprintf(url, sizeof(url), "file://%s/store", getenv("MUSTER_TEST_DIR"));
    muster_init_args args = args_in(NULL, "half", rank, size);
    args.init_method = url;
    half_way(rank, size, args);
    muster_tcp_store_args server = MUSTER_TCP_STORE_ARGS_INIT;
    muster_store *store = NULL;
    snprintf(url, sizeof(url), "tcp://127.0.0.1:%s", getenv("MASTER_PORT"));
    server.host = "127.0.0.1";
    server.port = atoi(getenv("MASTER_PORT"));
    server.listen = true;
    if (rank == size - 1 && muster_store_tcp(&store, &server) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);
    ranks_barrier();
    half_way(rank, size, args);
    muster_store_free(store);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const char *const plugins[] = {"MUSTER_BACKEND_PATH=" PLUGINS "/.libs", NULL};
    static const struct ranks_case cases[] = {
        {.name = "no room", .size = 3, .points = 4, .body = one_has_no_room, .silent = true},
        {.name = "twice", .size = 4, .points = 6, .body = one_number_twice, .silent = true},
        {.name = "sizes", .size = 4, .points = 18, .body = other_sizes, .silent = true},
        {.name = "missing", .size = 8, .points = 12, .body = who_is_missing, .silent = true},
        {.name = "nobody", .size = 2, .points = 3, .body = nobody_there, .silent = true},
        {.name = "backend",
         .size = 1,
         .points = 24,
         .body = backend_fails,
         .silent = true,
         .environment = plugins},
        {.name = "broken off",
         .size = 1,
         .points = 4,
         .body = open_is_broken_off,
         .silent = true,
         .environment = plugins},
        {.name = "sleeps", .size = 3, .points = 15, .body = peer_sleeps, .silent = true},
        {.name = "keeper",
         .size = 4,
         .points = 3,
         .body = keeper_leaves,
         .silent = true,
         .deaths = {{0, 0, 0}}},
        {.name = "clients", .size = 3, .points = 5, .body = clients_crash, .silent = true},
        {.name = "half way", .size = 4, .points = 4, .body = dead_half_way, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
