/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strangers at the ports of a job whose groups form and work over gloo: every one of its worlds
 * forms at the first try and is right.
 *
 * They come in two ways. Those that haunt are a process of their own, which visits whatever port it
 * sees a rank listen at; the ranks are made slow there, so that it sees them. Those that slip in
 * are worse than any real one can be: the ranks' own listen() is intercepted, and before it returns
 * the strangers have been there.
 */
#include "config.h"

#include "grouptest.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strangers.h"

enum { RANKS = 4, WORLDS = 4, ROUNDS = 20, SLOW_MS = 60 };

typedef struct crowd {
    pid_t pids[RANKS];
    atomic_bool stop;
    atomic_int visits;
} crowd;

/* ---- at the ranks' ports ---- */

/* Where set, listen() returns after the next visit that is counted here, or some time. */
static atomic_int *_Atomic awaited;

static void await_visit(const atomic_int *visits)
{
    int before = atomic_load(visits);
    for (int i = 0; i < SLOW_MS && atomic_load(visits) == before; i++)
        sleep_ms(1);
}

static atomic_int slip_count; /* strangers a call of listen(), 0: none */
static stranger_way slip_way;
static atomic_int slipped;

__attribute__((visibility("default"))) int listen(int fd, int backlog)
{
    static int (*real)(int fd, int backlog);
    if (real == NULL)
        real = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
    int result = real(fd, backlog), error = errno, count = atomic_load(&slip_count);
    struct sockaddr_storage at;
    socklen_t size = sizeof(at);
    if (result == 0 && count > 0 && getsockname(fd, (struct sockaddr *)&at, &size) == 0) {
        stranger_visit((struct sockaddr *)&at, size, slip_way, count);
        atomic_fetch_add(&slipped, count);
    }
    if (atomic_load(&awaited) != NULL)
        await_visit(atomic_load(&awaited));
    errno = error;
    return result;
}

/* Where set, the kernel has no filters for sockets. */
static atomic_bool no_filters;

__attribute__((visibility("default"))) int setsockopt(int fd, int level, int name,
                                                      const void *value, socklen_t size)
{
    static int (*real)(int fd, int level, int name, const void *value, socklen_t size);
    if (real == NULL)
        real = (int (*)(int, int, int, const void *, socklen_t))dlsym(RTLD_NEXT, "setsockopt");
    if (level != SOL_SOCKET || name != SO_ATTACH_FILTER || !atomic_load(&no_filters))
        return real(fd, level, name, value, size);
    errno = EPERM;
    return -1;
}

/* ---- what the log says of them ---- */

static atomic_int told_of;

static void read_log(void *user, muster_log_level level, const char *line)
{
    (void)user, (void)level;
    if (strstr(line, "stranger") != NULL)
        atomic_fetch_add(&told_of, 1);
}

/* ---- the job ---- */

/* One world and its sub-groups, made, used and freed; true if all of it is right. */
static bool one_world(muster_store *store, int number, int rank, int size)
{
    char name[32];
    muster_group *world = NULL, *regular = NULL, *orthogonal = NULL;
    snprintf(name, sizeof(name), "world %d", number);
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.store = store;
    args.group_name = name;
    args.rank = rank;
    args.world_size = size;
    args.backend = "gloo";
    args.timeout_ms = patient(20000);
    bool right = muster_init_process_group(&world, &args) == MUSTER_OK &&
                 muster_create_sub_group(world, 2, NULL, &regular, &orthogonal) == MUSTER_OK;
    if (!right)
        diag("rank %d, world %d: %s", rank, number, muster_last_error());
    for (int i = 0; i < ROUNDS && right; i++)
        right = group_works(world) && group_works(regular) && group_works(orthogonal);
    muster_group_free(orthogonal);
    muster_group_free(regular);
    muster_group_free(world);
    return right;
}

static int count_right(muster_store *store, int rank, int size)
{
    int right = 0;
    for (int i = 0; i < WORLDS; i++)
        right += one_world(store, i, rank, size);
    ranks_barrier();
    return right;
}

static pid_t start_haunting(crowd *all, stranger_way way)
{
    pid_t stranger = fork();
    if (stranger == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        stranger_haunt(all->pids, RANKS, way, &all->stop, &all->visits);
        _exit(0);
    }
    return stranger;
}

static void haunted(int rank, int size, stranger_way way)
{
    crowd *all = ranks_shared(sizeof(*all));
    stranger_spare(atoi(getenv("MASTER_PORT")));
    all->pids[rank] = getpid();
    ranks_barrier();
    pid_t stranger = rank == 0 ? start_haunting(all, way) : -1;
    muster_store *store = common_store(rank);
    atomic_store(&awaited, &all->visits);
    int right = count_right(store, rank, size);
    atomic_store(&awaited, NULL);
    muster_store_free(store);
    atomic_store(&all->stop, true);
    if (stranger > 0)
        waitpid(stranger, NULL, 0);
    is_int(right, WORLDS, "every world forms and works");
    ok(atomic_load(&all->visits) > 0, "there were strangers");
    if (rank == 0)
        diag("%d visits of strangers", atomic_load(&all->visits));
}

/* What a group has is freed in the background. */
static int count_last_listeners(void)
{
    int64_t began = now_ms();
    int count = stranger_count_listeners(getpid());
    while (count > 0 && in_time(began, 2000)) {
        sleep_ms(10);
        count = stranger_count_listeners(getpid());
    }
    return count;
}

static void slipped_in(int rank, int size, stranger_way way, int count)
{
    slip_way = way;
    stranger_spare(atoi(getenv("MASTER_PORT")));
    muster_store *store = common_store(rank);
    muster_set_log(read_log, NULL, MUSTER_LOG_WARNING);
    atomic_store(&slip_count, count);
    int right = count_right(store, rank, size);
    atomic_store(&slip_count, 0);
    is_int(right, WORLDS, "every world forms and works");
    ok(atomic_load(&slipped) >= WORLDS * count, "there were strangers");
    ok(atomic_load(&told_of) > 0, "the log tells of them");
    is_int(count_last_listeners(), 0, "nothing listens any more");
    muster_set_log(NULL, NULL, MUSTER_LOG_WARNING);
    muster_store_free(store);
}

#define WAY(name, way)                                                                             \
    static void haunted_by_##name(int rank, int size)                                              \
    {                                                                                              \
        haunted(rank, size, way);                                                                  \
    }                                                                                              \
    static void slips_##name(int rank, int size)                                                   \
    {                                                                                              \
        slipped_in(rank, size, way, 2);                                                            \
    }

WAY(holders, STRANGER_HOLDS)
WAY(closers, STRANGER_CLOSES)
WAY(resetters, STRANGER_RESETS)
WAY(talkers, STRANGER_TALKS)
WAY(mimics, STRANGER_MIMICS)
WAY(all, STRANGER_MIXED)

/* More than the door has room for. */
static void flood(int rank, int size)
{
    slipped_in(rank, size, STRANGER_MIXED, 100);
}

static void unfiltered(int rank, int size)
{
    atomic_store(&no_filters, true);
    slipped_in(rank, size, STRANGER_MIXED, 2);
    atomic_store(&no_filters, false);
}

#define CASE(words, function, count)                                                               \
    {                                                                                              \
        .name = words, .size = RANKS, .points = count, .body = function                            \
    }

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        CASE("haunted by strangers that stay", haunted_by_holders, 2),
        CASE("haunted by strangers that go", haunted_by_closers, 2),
        CASE("haunted by strangers that reset", haunted_by_resetters, 2),
        CASE("haunted by strangers that talk", haunted_by_talkers, 2),
        CASE("haunted by strangers that mimic", haunted_by_mimics, 2),
        CASE("haunted by strangers of all kinds", haunted_by_all, 2),
        CASE("strangers that stay slip in", slips_holders, 4),
        CASE("strangers that go slip in", slips_closers, 4),
        CASE("strangers that reset slip in", slips_resetters, 4),
        CASE("strangers that talk slip in", slips_talkers, 4),
        CASE("strangers that mimic slip in", slips_mimics, 4),
        CASE("strangers of all kinds slip in", slips_all, 4),
        CASE("a flood of strangers slips in", flood, 4),
        CASE("strangers slip in where filters are refused", unfiltered, 4),
    };
    over_gloo();
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
