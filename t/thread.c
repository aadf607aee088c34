/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of the library: no signal reaches them, and nothing waits for one that hangs.
 */
#include "config.h"

#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

enum { SHORT_MS = 50, LONG_MS = 10000 };

static void *read_mask(void *mask)
{
    pthread_sigmask(SIG_SETMASK, NULL, mask);
    return NULL;
}

static void signals(void)
{
    sigset_t theirs, before, after;
    pthread_t thread;
    sigemptyset(&theirs);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    is_int(thread_start(&thread, read_mask, &theirs), 0, "a thread is started");
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    bool blocked = true, same = true;
    for (int s = 1; s < 32; s++) {
        blocked = blocked && (s == SIGKILL || s == SIGSTOP || sigismember(&theirs, s) == 1);
        same = same && sigismember(&before, s) == sigismember(&after, s);
    }
    ok(blocked, "it blocks all signals");
    ok(same, "the starter's own mask is as before");
}

static void conditions(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    thread_condition_init(&condition);
    pthread_mutex_lock(&lock);
    int64_t began = deadline_now_ns();
    while (thread_wait(&condition, &lock, deadline_in(SHORT_MS)))
        ;
    int64_t took = (deadline_now_ns() - began) / 1000000;
    ok(took >= SHORT_MS - 1 && took < LONG_MS, "a wait ends with its time (%lld ms)",
       (long long)took);
    ok(!thread_wait(&condition, &lock, deadline_in(0)), "no time is no wait");
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&condition);
}

/* What a talk aside works on. */
typedef struct task {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool may_end;
    atomic_int talked;
    atomic_int given_up;
} task;

static void talk(void *what)
{
    task *one = what;
    pthread_mutex_lock(&one->lock);
    while (!one->may_end)
        pthread_cond_wait(&one->changed, &one->lock);
    pthread_mutex_unlock(&one->lock);
    atomic_fetch_add(&one->talked, 1);
}

static void give_up(void *what)
{
    task *one = what;
    atomic_fetch_add(&one->given_up, 1);
}

static task in_time = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, true, 0, 0};
static task too_late = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, 0};

static void aside(void)
{
    ok(thread_run_aside(talk, give_up, &in_time, LONG_MS), "a talk that ends in time");
    ok(in_time.talked == 1 && in_time.given_up == 0, "is the caller's again");

    int64_t began = deadline_now_ns();
    ok(!thread_run_aside(talk, give_up, &too_late, SHORT_MS), "a talk that does not end");
    ok((deadline_now_ns() - began) / 1000000 < LONG_MS, "is waited for so long and no longer");
    ok(too_late.talked == 0 && too_late.given_up == 0, "it is not freed while it runs");
    pthread_mutex_lock(&too_late.lock);
    too_late.may_end = true;
    pthread_cond_broadcast(&too_late.changed);
    pthread_mutex_unlock(&too_late.lock);
    deadline end = deadline_in(LONG_MS);
    while (too_late.given_up == 0 && deadline_left_ms(end) > 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    ok(too_late.talked == 1 && too_late.given_up == 1, "but when it ends, and once");
}

static void *read_cpus(void *cpus)
{
    sched_getaffinity(0, sizeof(cpu_set_t), cpus);
    return NULL;
}

static int start_there(const thread_home *home, cpu_set_t *cpus)
{
    pthread_t thread;
    CPU_ZERO(cpus);
    int error = thread_start_at(&thread, read_cpus, cpus, home);
    if (error == 0)
        pthread_join(thread, NULL);
    return error;
}

static void homes(void)
{
    thread_home nowhere = {0}, one = {0}, far = {0};
    cpu_set_t mine, theirs;
    int last = CPU_SETSIZE - 1;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof(mine), &mine);
    ok(start_there(&nowhere, &theirs) == 0 && CPU_EQUAL(&mine, &theirs),
       "a thread without a home runs where its starter may");
    while (last > 0 && !CPU_ISSET((size_t)last, &mine))
        last--;
    thread_home_add(&one, last);
    ok(start_there(&one, &theirs) == 0 && CPU_COUNT(&theirs) == 1 &&
           CPU_ISSET((size_t)last, &theirs),
       "one with a home runs there");
    thread_home_add(&far, 8191);
    ok(far.size == sizeof(far.words) && start_there(&far, &theirs) == 0 &&
           CPU_EQUAL(&mine, &theirs),
       "and one whose home is not there anywhere");
    thread_home_add(&nowhere, 8192);
    thread_home_add(&nowhere, -1);
    is_int((int)nowhere.size, 0, "no CPU is beyond all there can be");
}

int main(void)
{
    plan(15);
    homes();
    signals();
    conditions();
    aside();
    return done();
}
