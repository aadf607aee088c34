/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups that are broken off: from another thread, and from a signal handler.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { T = 20000, ABORTER = 1, LATER_MS = 100, BIG = 32 << 20 };

/* Breaks the group off while the caller waits. */
typedef struct aborter {
    pthread_t thread;
    muster_group *group;
    bool by_signal;
    muster_status status;
    int64_t at;   /* when it was called */
    int64_t took; /* ms */
} aborter;

static void *abort_later(void *argument)
{
    aborter *self = argument;
    sleep_ms(LATER_MS);
    self->at = now_ms();
    self->status = MUSTER_OK;
    if (self->by_signal)
        kill(getpid(), SIGUSR1);
    else
        self->status = muster_group_abort(self->group);
    self->took = now_ms() - self->at;
    return NULL;
}

static void begin_abort(aborter *self, muster_group *group, bool by_signal)
{
    *self = (aborter){.group = group, .by_signal = by_signal};
    if (pthread_create(&self->thread, NULL, abort_later, self) != 0)
        bail_out("no thread");
}

/* After the call that waited has returned status. */
enum { AFTER = 7 };
static void after(muster_group *group, muster_status status, int64_t since)
{
    is_status(status, MUSTER_ERR_FAILED, "a call that waits is let go");
    ok(in_time(since, 1000), "soon");
    has_str(muster_last_error(), "rank 1 has broken off the group, since it",
            "and says who it was");
    is_status(muster_group_check(group), MUSTER_ERR_FAILED, "the group has failed");
    int64_t began = now_ms();
    is_status(muster_barrier(group, NULL), MUSTER_ERR_FAILED, "so does the next call");
    is_status(muster_group_abort(group), MUSTER_OK, "breaking it off once more changes nothing");
    muster_group_free(group);
    ok(in_time(began, 1500), "at once, and it is freed");
}

static muster_status wait_in_barrier(muster_group *group)
{
    return muster_barrier(group, NULL);
}

static muster_status wait_in_recv(muster_group *group)
{
    int32_t number = 0;
    int from = (muster_group_rank(group) + 1) % muster_group_size(group);
    return muster_recv(group, &number, 1, MUSTER_INT32, from, NULL);
}

static muster_status wait_in_send(muster_group *group)
{
    char *data = calloc(1, BIG);
    muster_status status = muster_send(group, data, BIG, MUSTER_INT8, 2, NULL);
    free(data);
    return status;
}

static muster_status wait_in_gather(muster_group *group)
{
    muster_objects *all = NULL;
    const muster_object_list mine = {0, NULL};
    muster_status status = muster_all_gather_objects(group, &mine, &all);
    muster_objects_free(all);
    return status;
}

/* Behind several that were issued before, waiting for the last. */
static muster_status wait_in_row(muster_group *group)
{
    muster_work *works[5];
    size_t count = sizeof(works) / sizeof(*works);
    muster_status status = MUSTER_OK;
    for (size_t i = 0; i < count; i++)
        if (muster_barrier(group, &works[i]) != MUSTER_OK)
            bail_out("%s", muster_last_error());
    for (size_t i = count; i-- > 0;) {
        status = muster_work_wait(works[i], MUSTER_TIMEOUT_DEFAULT);
        muster_work_free(works[i]);
    }
    return status;
}

/* Rank 2 never comes, so that the others wait in the call; its group learns of it by itself. */
static void abort_while(int rank, muster_status (*call)(muster_group *))
{
    aborter other;
    muster_group *group = world_of("world", T);
    ranks_barrier();
    int64_t since = now_ms();
    muster_status status = MUSTER_OK;
    if (rank == ABORTER)
        begin_abort(&other, group, false);
    if (rank != 2)
        status = call(group);
    while (rank == 2 && status == MUSTER_OK && in_time(since, 5000)) {
        sleep_ms(5);
        status = muster_group_check(group);
    }
    if (rank == ABORTER) {
        int64_t let_go = now_ms() - other.at;
        pthread_join(other.thread, NULL);
        if (let_go > patient(300) || other.status != MUSTER_OK || other.took > patient(1000))
            status = MUSTER_ERR_INTERNAL;
        diag("let go after %lld ms; the abort took %lld ms", (long long)let_go,
             (long long)other.took);
    }
    after(group, status, since + LATER_MS);
    ranks_barrier();
}

#define WAITS(name)                                                                                \
    static void in_##name(int rank, int size)                                                      \
    {                                                                                              \
        (void)size;                                                                                \
        abort_while(rank, wait_in_##name);                                                         \
    }
WAITS(barrier)
WAITS(recv)
WAITS(send)
WAITS(gather)
WAITS(row)

static muster_group *signalled;

static void handler(int number)
{
    (void)number;
    muster_group_abort_from_signal(signalled);
}

static void from_signal(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *other = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.world_size = 1;
    args.rank = 0;
    muster_store *store = NULL;
    muster_store_hash(&store);
    args.store = store;
    is_status(muster_init_process_group(&other, &args), MUSTER_OK, "a group of one");
    muster_group_abort_from_signal(NULL);
    muster_group_abort_from_signal(other);
    sleep_ms(50);
    is_status(muster_group_check(other), MUSTER_OK, "not allowed, the word does nothing");
    is_status(muster_group_allow_abort_from_signal(other), MUSTER_OK, "it is allowed");
    is_status(muster_group_allow_abort_from_signal(other), MUSTER_OK, "twice is the same");
    signalled = other;
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    int64_t began = now_ms();
    kill(getpid(), SIGUSR1);
    while (muster_group_check(other) == MUSTER_OK && in_time(began, 5000))
        sleep_ms(2);
    is_status(muster_group_check(other), MUSTER_ERR_FAILED, "then it breaks the group off");
    has_str(muster_last_error(), "rank 0 has broken off the group, since its signal handler",
            "and the group says so");
    signalled = NULL;
    muster_group_free(other);
    muster_store_free(store);
    ranks_barrier();
}

static void waits_for_signal(int rank, int size)
{
    (void)size;
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    muster_group *group = world_of("world", T);
    signalled = group;
    muster_status status = MUSTER_OK;
    if (rank == ABORTER)
        status = muster_group_allow_abort_from_signal(group);
    is_status(status, MUSTER_OK, "it is allowed");
    ranks_barrier();
    int64_t since = now_ms();
    aborter other;
    if (rank == ABORTER)
        begin_abort(&other, group, true);
    status = wait_in_recv(group);
    if (rank == ABORTER)
        pthread_join(other.thread, NULL);
    after(group, status, since + LATER_MS);
    ranks_barrier();
}

/* The store is with rank 0, which is stopped: nobody can be told through it. */
static void without_store(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    ranks_barrier();
    if (rank == 0)
        while (true)
            pause();
    ranks_kill(0, SIGSTOP);
    ranks_barrier_among(2);
    int64_t began = now_ms();
    aborter other = {.status = MUSTER_OK};
    if (rank == ABORTER)
        begin_abort(&other, group, false);
    is_status(muster_barrier(group, NULL), rank == ABORTER ? MUSTER_ERR_FAILED : MUSTER_ERR_REMOTE,
              "those who wait are let go");
    ok(in_time(began, rank == ABORTER ? 500 : 2500), "in time");
    if (rank == ABORTER)
        pthread_join(other.thread, NULL);
    ok(other.status == MUSTER_OK && other.took <= patient(1500), "the abort is over in a second");
    muster_group_free(group);
    ranks_barrier_among(2);
    if (rank == ABORTER)
        ranks_kill(0, SIGKILL);
}

static void wrong(int rank, int size)
{
    (void)rank;
    (void)size;
    is_status(muster_group_abort(NULL), MUSTER_ERR_NOT_MEMBER, "no group is broken off");
    is_status(muster_group_allow_abort_from_signal(NULL), MUSTER_ERR_NOT_MEMBER, "or listens");
    muster_group *group = world_of("world", T);
    is_status(muster_group_allow_abort_from_signal(group), MUSTER_OK, "a group that listens");
    ok(group_works(group), "works");
    ranks_barrier();
    muster_group_free(group);
    ranks_barrier();
}

int main(int argc, char **argv)
{
    needs_gloo();
#define ROW(test_name, number, function)                                                           \
    {                                                                                              \
        .name = test_name, .size = 3, .points = number, .body = function, .silent = true           \
    }
    static const struct ranks_case cases[] = {
        ROW("barrier", AFTER, in_barrier),
        ROW("recv", AFTER, in_recv),
        ROW("send", AFTER, in_send),
        ROW("gather", AFTER, in_gather),
        ROW("row", AFTER, in_row),
        ROW("from_signal", 6, from_signal),
        ROW("waits_for_signal", AFTER + 1, waits_for_signal),
        ROW("wrong", 4, wrong),
        {.name = "without_store",
         .size = 3,
         .points = 3,
         .body = without_store,
         .deaths = {{0, SIGKILL, 0}}},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
