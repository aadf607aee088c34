/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups and what else a process does: forks, and signals. user cases 55 and 62.
 */
#include "config.h"

#include "grouptest.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { T = 10000 };

/* ThreadSanitizer ends a child of a process with threads that starts threads of its own. */
static void needs_threads_after_fork(void)
{
#ifdef __SANITIZE_THREAD__
    ranks_skip_case("ThreadSanitizer lets no child of a process with threads start threads");
#endif
}

/* In the child: which of its expectations failed, in bits. */
static int child_of(muster_group *group, muster_group *second)
{
    int wrong = 0;
    int32_t number = 1;
    muster_group *own = NULL, *part = NULL;
    wrong |= (muster_barrier(group, NULL) != MUSTER_ERR_FORKED) << 0;
    wrong |= (strstr(muster_last_error(), "fork") == NULL) << 1;
    wrong |= (muster_send(group, &number, 1, MUSTER_INT32, 0, NULL) != MUSTER_ERR_FORKED) << 2;
    wrong |= (muster_group_split(group, 0, 0, NULL, &part) != MUSTER_ERR_FORKED) << 3;
    wrong |= (muster_group_check(group) != MUSTER_ERR_FORKED) << 4;
    muster_group_free(group);
    muster_group_free(second);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    wrong |= (muster_init_process_group(&own, NULL) != MUSTER_OK || !group_works(own)) << 5;
    muster_group_free(own);
    return wrong;
}

static int status_of(pid_t pid)
{
    int status = -1;
    int64_t began = now_ms();
    while (waitpid(pid, &status, WNOHANG) == 0)
        if (in_time(began, T)) {
            sleep_ms(5);
        } else {
            kill(pid, SIGKILL);
        }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static atomic_bool over;

/* Collectives that go on while the process forks. */
static void *keep_busy(void *argument)
{
    int32_t number = 1, go = 1;
    while (go != 0) {
        int32_t mine = atomic_load(&over) ? 0 : 1;
        if (muster_all_reduce(argument, &mine, &go, 1, MUSTER_INT32, MUSTER_MIN, NULL) !=
                MUSTER_OK ||
            muster_all_reduce(argument, &number, &number, 1, MUSTER_INT32, MUSTER_MAX, NULL) !=
                MUSTER_OK)
            return (void *)1;
    }
    return NULL;
}

static void forks(int rank, int size)
{
    (void)rank;
    (void)size;
    needs_threads_after_fork();
    muster_group *group = world_of("world", T), *second = world_of("second", T);
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, keep_busy, group) != 0)
        bail_out("no thread");
    int good = 0;
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(i % 2 == 0 ? child_of(group, second) : 0);
        good += status_of(pid) == 0;
    }
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    good += status_of(pid) == 0;
    is_int(good, 11, "children are refused, free, make their own, exit, exec");
    atomic_store(&over, true);
    pthread_join(thread, &result);
    ok(result == NULL, "collectives meanwhile went on");
    ok(group_works(group) && group_works(second), "the groups go on after it");
    ranks_barrier();
    muster_group_free(group);
    muster_group_free(second);
}

/* Ranks that are children of processes with groups make a group of their own. */
static void children_meet(int rank, int size)
{
    needs_threads_after_fork();
    muster_group *group = world_of("world", T);
    pid_t pid = fork();
    if (pid == 0) {
        muster_init_args args = MUSTER_INIT_ARGS_INIT;
        char url[512];
        snprintf(url, sizeof(url), "file://%s/children", getenv("MUSTER_TEST_DIR"));
        args.init_method = url;
        args.rank = rank;
        args.world_size = size;
        args.timeout_ms = T;
        muster_group *own = NULL;
        int wrong = muster_init_process_group(&own, &args) != MUSTER_OK || !group_works(own);
        muster_group_free(own);
        muster_group_free(group);
        _exit(wrong);
    }
    is_int(status_of(pid), 0, "the children are ranks of a group of their own");
    ok(group_works(group), "the parents' group goes on");
    ranks_barrier();
    muster_group_free(group);
}

static atomic_int caught;

static void catch_it(int signal)
{
    (void)signal;
    atomic_fetch_add(&caught, 1);
}

static void *storm(void *argument)
{
    pthread_t target = *(pthread_t *)argument;
    while (!atomic_load(&over)) {
        pthread_kill(target, SIGUSR1);
        kill(getpid(), SIGUSR2);
        usleep(200);
    }
    return NULL;
}

static void storms(int flags)
{
    struct sigaction action = {.sa_handler = catch_it, .sa_flags = flags}, after;
    sigset_t before, mask, other;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&other);
    sigaddset(&other, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &other, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    pthread_t self = pthread_self(), thread;
    atomic_store(&over, false);
    atomic_store(&caught, 0);
    if (pthread_create(&thread, NULL, storm, &self) != 0)
        bail_out("no thread");
    muster_group *group = world_of("world", T), *regular = NULL, *orthogonal = NULL;
    int good = 0;
    for (int i = 0; i < 500; i++)
        good += i % 2 == 0 ? group_works(group) : muster_barrier(group, NULL) == MUSTER_OK;
    is_int(good, 500, "500 collectives in a storm of signals");
    is_status(muster_create_sub_group(group, 1, NULL, &regular, &orthogonal), MUSTER_OK,
              "sub-groups too");
    muster_group_free(regular);
    muster_group_free(orthogonal);
    muster_group_free(group);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    ok(atomic_load(&caught) > 10, "signals were caught");
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ok(memcmp(&mask, &before, sizeof(long)) == 0, "the mask is as before");
    sigaction(SIGUSR1, NULL, &after);
    ok(after.sa_handler == catch_it && (after.sa_flags & SA_RESTART) == (flags & SA_RESTART),
       "the handler too");
    sigaction(SIGPIPE, NULL, &after);
    ok(after.sa_handler == SIG_DFL, "SIGPIPE is left alone");
    ranks_barrier();
}

static void signals(int rank, int size)
{
    (void)rank;
    (void)size;
    storms(0);
    storms(SA_RESTART);
}

/* The library's own threads take no signal: all of them block all that can be blocked. */
static void threads_block(int rank, int size)
{
    (void)rank;
    (void)size;
    muster_group *group = world_of("world", T);
    ok(group_works(group), "a group with its threads");
    char command[256], line[256];
    snprintf(command, sizeof(command),
             "cd /proc/%d/task && for t in *; do [ $t = %d ] || grep SigBlk $t/status; done",
             (int)getpid(), (int)getpid());
    FILE *lines = popen(command, "r");
    if (lines == NULL)
        bail_out("no shell");
    int threads = 0, blocking = 0;
    while (fgets(line, sizeof(line), lines) != NULL) {
        unsigned long long mask = strtoull(line + strlen("SigBlk:"), NULL, 16);
        threads++;
        /* SIGTERM, SIGINT, SIGUSR1, SIGPIPE, SIGCHLD */
        blocking +=
            (mask & 0x4002) == 0x4002 && (mask & 0x200) && (mask & 0x1000) && (mask & 0x10000);
    }
    pclose(lines);
    ok(threads > 0, "there are threads");
    is_int(blocking, threads, "all of them block signals");
    ranks_barrier();
    muster_group_free(group);
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "forks", .size = 2, .points = 3, .body = forks, .silent = true},
        {.name = "children", .size = 3, .points = 2, .body = children_meet, .silent = true},
        {.name = "signals", .size = 3, .points = 12, .body = signals, .silent = true},
        {.name = "threads", .size = 2, .points = 3, .body = threads_block, .silent = true},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
