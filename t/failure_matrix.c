/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The failure matrix: a rank is killed, stopped, or exits, while the others are in each operation.
 * They get an error in time that names the rank and the call, their group says so at once from then
 * on, is freed quickly, the survivors meet anew in the same process, and nothing is left. user
 * cases 49, 50 and 71.
 *
 * Each operation has a group of its own and a thread on each rank, so that one death and one
 * time-out serve for all of them.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure_rows.h"

enum { T = 2500, SOON = 1000, LOOKOUT = 1700, STRIKE_MS = 300, MAKE_MS = 60000, MOST_ROWS = 40 };
enum { VICTIM = FAILURE_VICTIM, RANKS = FAILURE_RANKS, EXIT_STATUS = 3 };

/* One row on this rank. */
typedef struct trial {
    const struct failure_row *row;
    pthread_t thread;
    muster_group *group;
    int rank;
    muster_status status;
    char sentence[1024];
    int64_t began;
    int64_t ended;
} trial;

static trial trials[MOST_ROWS];

struct scene {
    _Atomic int64_t struck; /* when it has happened, of now_ms() */
};

static void *try_row(void *argument)
{
    trial *t = argument;
    t->began = now_ms();
    t->status = t->row->call(t->group, t->rank, (int64_t)(T * ranks_time_factor()));
    t->ended = now_ms();
    snprintf(t->sentence, sizeof(t->sentence), "%s",
             t->status == MUSTER_OK ? "" : muster_last_error());
    return NULL;
}

static void make_groups(int rank)
{
    for (size_t i = 0; i < failure_num_rows; i++) {
        trials[i] = (trial){.row = &failure_rows[i], .rank = rank};
        if (failure_rows[i].traits & FAILURE_UNMET)
            continue;
        trials[i].group = world_of(failure_rows[i].name, MAKE_MS);
        muster_group_set_timeout(trials[i].group, (int64_t)(T * ranks_time_factor()));
    }
}

/* What the victim does: at a signal it dies or stops, or it sees that it has struck and exits. */
static void be_victim(struct scene *scene, int signal)
{
    while (signal != 0 || atomic_load(&scene->struck) == 0)
        sleep_ms(5);
    exit(EXIT_STATUS);
}

static void strike(struct scene *scene, int signal)
{
    sleep_ms(STRIKE_MS);
    if (signal != 0)
        ranks_kill(VICTIM, signal);
    atomic_store(&scene->struck, now_ms());
}

static void run_rows(int rank, struct scene *scene, int signal)
{
    for (size_t i = 0; i < failure_num_rows; i++)
        if (pthread_create(&trials[i].thread, NULL, try_row, &trials[i]) != 0)
            bail_out("no thread");
    if (rank == 0)
        strike(scene, signal);
    for (size_t i = 0; i < failure_num_rows; i++)
        pthread_join(trials[i].thread, NULL);
}

/* Until when the others must know, in ms from when it struck or the call began. */
static int64_t limit_of(const trial *t, int signal)
{
    if (signal == SIGSTOP || t->row->traits & FAILURE_UNMET)
        return (int64_t)(T * ranks_time_factor()) + 1000;
    return t->row->traits & FAILURE_STORED ? LOOKOUT : SOON;
}

static int64_t took(const trial *t, const struct scene *scene, int signal)
{
    bool by_time = signal == SIGSTOP || t->row->traits & FAILURE_UNMET;
    return t->ended - (by_time ? t->began : atomic_load(&scene->struck));
}

/* One that has ended is alone in that, whatever others did because of it. */
static bool names_victim(const trial *t)
{
    if (t->status != MUSTER_ERR_PEER_LOST)
        return strstr(t->sentence, "rank 2") != NULL;
    return strstr(t->sentence, "rank 2 was lost: its process has ended") != NULL ||
           (strstr(t->sentence, ": rank 2 (host ") != NULL &&
            strstr(t->sentence, " has ended while the group was being made") != NULL);
}

/* The call has failed in time and says who and where; a rank that had nothing to wait for may have
 * done its part. */
static void judge_call(const trial *t, const struct scene *scene, int signal)
{
    int64_t ms = took(t, scene, signal);
    bool done = t->status == MUSTER_OK && t->row->traits & FAILURE_ROOTED && t->rank != 0;
    bool expected = signal == SIGSTOP || t->row->traits & FAILURE_UNMET
                        ? t->status == MUSTER_ERR_TIMEOUT
                        : t->status == MUSTER_ERR_PEER_LOST;
    bool named = names_victim(t) && strstr(t->sentence, t->row->function) != NULL;
    ok(done || (expected && named), "%s: an error that names the rank", t->row->name);
    ok(done || ms <= patient(limit_of(t, signal)), "in time");
    diag("%-19s %s after %lld ms: %s", t->row->name, muster_status_name(t->status), (long long)ms,
         t->sentence);
}

/* The group says so from then on; in the making of another it has not failed if nothing told. */
static void judge_group(trial *t, int signal)
{
    muster_group *g = t->group;
    bool fails = g != NULL && !(signal == SIGSTOP && t->row->traits & FAILURE_MAKES);
    int64_t began = now_ms();
    while (fails && muster_group_check(g) == MUSTER_OK && in_time(began, T + 1000))
        sleep_ms(5);
    bool right = !fails || (muster_group_check(g) != MUSTER_OK &&
                            strstr(muster_last_error(), "rank 2") != NULL);
    began = now_ms();
    right = right && (!fails || muster_barrier(g, NULL) == muster_group_check(g));
    right = right && in_time(began, 300);
    ok(right, "%s: from then on the group says so at once", t->row->name);
    began = now_ms();
    muster_group_free(g);
    ok(in_time(began, 1300), "and is freed quickly");
}
enum { JUDGED = 4 };

/* Mappings of shared memory, and descriptors and threads that are more than before. */
static bool nothing_is_left(int descriptors, int threads)
{
    int64_t began = now_ms();
    int d = 0, th = 0;
    do {
        sleep_ms(20);
        d = entries_of("/proc/self/fd");
        th = entries_of("/proc/self/task");
    } while ((d > descriptors || th > threads) && in_time(began, 5000));
    char line[512];
    bool shared = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        shared = shared || strstr(line, "/dev/shm/muster") != NULL;
    if (maps != NULL)
        fclose(maps);
    diag("descriptors %d, then %d; threads %d, then %d", descriptors, d, threads, th);
    return d <= descriptors && th <= threads && !shared;
}

static void meet_again(int rank, int size)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    char url[64];
    snprintf(url, sizeof(url), "tcp://127.0.0.1:%s", getenv("MASTER_PORT"));
    args.init_method = url;
    args.group_name = "survivors";
    args.rank = rank > VICTIM ? rank - 1 : rank;
    args.world_size = size - 1;
    args.timeout_ms = MAKE_MS;
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    muster_group *group = NULL;
    is_status(muster_init_process_group(&group, &args), MUSTER_OK, "the survivors meet again");
    ok(group_works(group), "and work");
    ranks_barrier_among(size - 1);
    muster_group_free(group);
}

static void *nothing(void *unused)
{
    return unused;
}

/* A sanitizer has a thread of its own from the first one on. */
static void start_one_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0)
        bail_out("no thread");
    pthread_join(thread, NULL);
}

static void happen(int rank, int size, int signal)
{
    struct scene *scene = ranks_shared(sizeof(*scene));
    start_one_thread();
    int descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    make_groups(rank);
    ranks_barrier();
    if (rank == VICTIM)
        be_victim(scene, signal);
    run_rows(rank, scene, signal);
    for (size_t i = 0; i < failure_num_rows; i++) {
        judge_call(&trials[i], scene, signal);
        judge_group(&trials[i], signal);
    }
    meet_again(rank, size);
    ok(nothing_is_left(descriptors, threads), "nothing is left");
    ranks_barrier_among(size - 1);
    if (rank == 0 && signal == SIGSTOP)
        ranks_kill(VICTIM, SIGKILL);
}

static void killed(int rank, int size)
{
    happen(rank, size, SIGKILL);
}

static void stopped(int rank, int size)
{
    happen(rank, size, SIGSTOP);
}

static void exited(int rank, int size)
{
    happen(rank, size, 0);
}

int main(int argc, char **argv)
{
#ifdef OVER_GLOO
    over_gloo();
#endif
    int points = (int)failure_num_rows * JUDGED + 3;
#define DEATH(test_name, function, how)                                                            \
    {                                                                                              \
        .name = test_name, .size = RANKS, .points = points, .body = function, .seconds = 120,      \
        .host_store = true, .silent = true, .deaths = {                                            \
            how                                                                                    \
        }                                                                                          \
    }
    const struct ranks_case cases[] = {
        DEATH("killed", killed, ((struct ranks_death){VICTIM, SIGKILL, 0})),
        DEATH("stopped", stopped, ((struct ranks_death){VICTIM, SIGKILL, 0})),
        DEATH("exited", exited, ((struct ranks_death){VICTIM, 0, EXIT_STATUS})),
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
