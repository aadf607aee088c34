/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue of a group's operations and the handles on them.
 */
#include "collective/work.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/error.h"
#include "group/group.h"
#include "tap.h"

enum { PLENTY_MS = 20000, SHORT_MS = 50, MANY = 500 };

static muster_group group;

/* A gate that operations wait at. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_open;

static void set_gate(bool value)
{
    pthread_mutex_lock(&lock);
    is_open = value;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static atomic_int seen[MANY];
static atomic_int num_seen;

static muster_status note(muster_group *of, void *arguments)
{
    int number;
    memcpy(&number, arguments, sizeof(number));
    seen[num_seen++] = number;
    return of == &group ? MUSTER_OK : error_set(MUSTER_ERR_INTERNAL, "another group");
}

static muster_status nothing(muster_group *of, void *arguments)
{
    (void)of;
    (void)arguments;
    return MUSTER_OK;
}

static muster_status wait_at_gate(muster_group *of, void *arguments)
{
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return note(of, arguments);
}

static muster_status fail(muster_group *of, void *arguments)
{
    (void)of;
    return error_set(MUSTER_ERR_PEER_LOST, "it was %s", (const char *)arguments);
}

static muster_status look_at_signals(muster_group *of, void *arguments)
{
    (void)of;
    (void)arguments;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && sigismember(&mask, SIGALRM)
               ? MUSTER_OK
               : error_set(MUSTER_ERR_INTERNAL, "signals are not blocked");
}

static bool in_order(int count)
{
    bool right = num_seen == count;
    for (int i = 0; i < count && right; i++)
        right = seen[i] == i;
    num_seen = 0;
    return right;
}

static void order(void)
{
    muster_work *work[MANY];
    bool issued = true, ended = true;
    for (int i = 0; i < MANY; i++) /* the argument is copied: i is gone when it runs */
        issued = work_issue(&group, note, &i, sizeof(i), &work[i]) == MUSTER_OK && issued;
    ok(issued, "%d operations are issued", (int)MANY);
    for (int i = MANY - 1; i >= 0; i--) {
        ended = muster_work_wait(work[i], PLENTY_MS) == MUSTER_OK && ended;
        muster_work_free(work[i]);
    }
    ok(ended, "and end well, in whatever order they are waited for");
    ok(in_order(MANY), "and run in theirs");
    is_int(work_issue(&group, look_at_signals, NULL, 0, NULL), MUSTER_OK,
           "they run where signals are blocked");
}

/* ---- calls that wait, which may run on their callers' threads ---- */

enum { CALLERS = 3, CALLS = 2000 };

static long counted; /* by one operation at a time */

static muster_status count(muster_group *of, void *arguments)
{
    (void)of;
    (void)arguments;
    counted++;
    return MUSTER_OK;
}

static void *call_often(void *good)
{
    for (int i = 0; i < CALLS; i++)
        if (work_call(&group, count, NULL, 0) != MUSTER_OK)
            atomic_store((atomic_bool *)good, false);
    return NULL;
}

static void one_at_a_time(void)
{
    pthread_t callers[CALLERS];
    atomic_bool good = true;
    counted = 0;
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&callers[i], NULL, call_often, &good);
    for (int i = 0; i < CALLS / 10; i++) {
        muster_work *work = NULL;
        if (work_issue(&group, count, NULL, 0, &work) != MUSTER_OK ||
            (i % 2 == 0 && muster_work_wait(work, PLENTY_MS) != MUSTER_OK))
            atomic_store(&good, false);
        muster_work_free(work);
        if (i % 16 == 0)
            work_queue_drain(group.queue, 1);
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    ok(work_queue_drain(group.queue, PLENTY_MS) && atomic_load(&good),
       "calls of several threads, and operations that are issued, end");
    is_int((int)counted, CALLERS * CALLS + CALLS / 10, "and run one at a time");
    ok(!work_queue_busy(group.queue), "then the queue is idle");
}

/* ---- operations that are finished later ---- */

static muster_status finish_at_gate(muster_group *of, void *token)
{
    const int *number = token;
    if (*number == 2)
        return error_set(MUSTER_ERR_PEER_LOST, "number 2 was lost");
    return wait_at_gate(of, token);
}

static muster_status start_only(muster_group *of, void *arguments)
{
    static int numbers[4] = {0, 1, 2, 3};
    return work_finish_later(of, finish_at_gate, &numbers[*(int *)arguments])
               ? MUSTER_OK
               : error_set(MUSTER_ERR_INTERNAL, "it can't be left to another thread");
}

static muster_status cannot_start(muster_group *of, void *arguments)
{
    (void)arguments;
    return work_finish_later(of, finish_at_gate, NULL) ? MUSTER_ERR_INTERNAL : MUSTER_OK;
}

static void later(void)
{
    muster_work *work[4], *behind = NULL;
    bool ended = true;
    set_gate(false);
    for (int i = 0; i < 4; i++)
        work_issue(&group, start_only, &i, sizeof(i), &work[i]);
    is_int(work_issue(&group, look_at_signals, NULL, 0, NULL), MUSTER_OK,
           "an operation passes those that have been started");
    muster_work_test(work[0], &ended);
    ok(!ended && !work_queue_drain(group.queue, SHORT_MS), "which have not ended");
    set_gate(true);
    is_int(muster_work_wait(work[3], PLENTY_MS), MUSTER_OK, "in the end they do");
    is_int(muster_work_wait(work[2], 0), MUSTER_ERR_PEER_LOST, "each in its own way");
    has_str(muster_last_error(), "number 2 was lost", "with its sentence");
    is_int(num_seen, 3, "the others well");
    ok(seen[0] == 0 && seen[1] == 1 && seen[2] == 3, "in their order");
    num_seen = 0;
    for (int i = 0; i < 4; i++)
        muster_work_free(work[i]);
    is_int(work_issue_apart(&group, cannot_start, NULL, 0, &behind), MUSTER_OK,
           "an operation apart");
    is_int(muster_work_wait(behind, PLENTY_MS), MUSTER_OK, "finishes by itself");
    muster_work_free(behind);
    ok(!work_finish_later(&group, finish_at_gate, NULL), "as does what is none");
}

static void handles(void)
{
    muster_work *first = NULL, *second = NULL;
    bool ended = true;
    int numbers[] = {0, 1};
    set_gate(false);
    work_issue(&group, wait_at_gate, &numbers[0], sizeof(int), &first);
    work_issue(&group, note, &numbers[1], sizeof(int), &second);
    is_int(muster_work_test(first, &ended), MUSTER_OK, "a test of what runs");
    ok(!ended, "says that it does");
    ok(muster_work_test(second, &ended) == MUSTER_OK && !ended, "what is behind it waits");
    is_int(muster_work_wait(first, 0), MUSTER_ERR_TIMEOUT, "a wait of no time");
    is_int(muster_work_wait(first, SHORT_MS), MUSTER_ERR_TIMEOUT, "a wait that is too short");
    has_str(muster_last_error(),
            "muster_work_wait: an operation of group 'g' has not ended after 50 ms and goes on",
            "says so");
    ok(!work_queue_drain(group.queue, SHORT_MS), "the queue is not drained");
    set_gate(true);
    is_int(muster_work_wait(first, MUSTER_TIMEOUT_DEFAULT), MUSTER_OK, "then it ends");
    ok(work_queue_drain(group.queue, PLENTY_MS), "and so do all");
    ok(muster_work_test(second, &ended) == MUSTER_OK && ended && in_order(2), "in their order");
    is_int(muster_work_wait(first, 0), MUSTER_OK, "what has ended may be waited for again");
    muster_work_free(first);
    muster_work_free(second);
}

static void freed_early(void)
{
    static const int number = 0;
    muster_work *work = NULL;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number, sizeof(number), &work);
    muster_work_free(work);
    set_gate(true);
    ok(work_queue_drain(group.queue, PLENTY_MS) && in_order(1),
       "an operation whose handle was freed goes on");
}

static void failures(void)
{
    muster_work *work = NULL;
    bool ended = false;
    is_int(work_issue(&group, fail, "here", 5, NULL), MUSTER_ERR_PEER_LOST, "one that fails");
    is_str(muster_last_error(), "it was here", "says why on the caller's thread");
    is_int(work_issue(&group, fail, "there", 6, &work), MUSTER_OK, "one that will fail is issued");
    work_queue_drain(group.queue, PLENTY_MS);
    error_set(MUSTER_ERR_ARGUMENT, "something else");
    ok(muster_work_test(work, &ended) == MUSTER_ERR_PEER_LOST && ended, "a test tells of it");
    is_str(muster_last_error(), "it was there", "with the reason");
    error_set(MUSTER_ERR_ARGUMENT, "something else");
    is_int(muster_work_wait(work, 0), MUSTER_ERR_PEER_LOST, "so does a wait");
    is_str(muster_last_error(), "it was there", "with the reason too");
    muster_work_free(work);
}

static void apart(void)
{
    static const int number[] = {0, 1};
    muster_work *held = NULL, *beside = NULL;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number[1], sizeof(int), &held);
    is_int(work_issue_apart(&group, note, &number[0], sizeof(int), &beside), MUSTER_OK,
           "one apart is issued");
    is_int(muster_work_wait(beside, PLENTY_MS), MUSTER_OK, "and waits for none before it");
    is_int(work_issue_apart(&group, fail, "apart", 6, NULL), MUSTER_ERR_PEER_LOST,
           "one may be waited for at once");
    is_str(muster_last_error(), "it was apart", "and says why it failed");
    set_gate(true);
    ok(work_queue_drain(group.queue, PLENTY_MS) && in_order(2), "draining waits for both kinds");
    muster_work_free(held);
    muster_work_free(beside);
}

static void without_queue(void)
{
    muster_group alone = {.queue = NULL};
    muster_work *work = NULL;
    bool ended = false;
    is_int(work_issue(&alone, fail, "alone", 6, NULL), MUSTER_ERR_PEER_LOST,
           "without a queue it runs at once");
    is_int(work_issue(&alone, fail, "alone", 6, &work), MUSTER_OK, "with a handle too");
    ok(muster_work_test(work, &ended) == MUSTER_ERR_PEER_LOST && ended, "which has ended");
    muster_work_free(work);
    ok(work_queue_drain(NULL, 0), "no queue is drained");
    work_queue_stop(NULL);
    work_queue_forget(NULL);
}

/* ---- calls that wait ---- */

static void *open_later(void *unused);

static pthread_t ran_on;

static muster_status note_thread(muster_group *of, void *arguments)
{
    ran_on = pthread_self();
    return note(of, arguments);
}

static bool was_here(void)
{
    return pthread_equal(ran_on, pthread_self()) != 0;
}

static muster_status issue_meanwhile(muster_group *of, void *arguments)
{
    static const int number = 1;
    bool busy = work_queue_busy(of->queue), idle = work_queue_drain(of->queue, 0);
    muster_status status = work_issue(of, note_thread, &number, sizeof(number), arguments);
    struct timespec moment = {0, SHORT_MS * 1000000};
    nanosleep(&moment, NULL);
    if (num_seen != 0 || !busy || idle)
        return error_set(MUSTER_ERR_INTERNAL, "what comes behind it has run");
    return status == MUSTER_OK ? note(of, &(int){0}) : status;
}

static void calls(void)
{
    muster_work *work = NULL, *held = NULL;
    error_set(MUSTER_ERR_ARGUMENT, "before");
    is_int(work_call(&group, note_thread, &(int){0}, sizeof(int)), MUSTER_OK, "a call that waits");
    ok(was_here() && in_order(1), "runs on its caller's thread");
    is_str(muster_last_error(), "before", "and leaves the last error alone");
    is_int(work_call(&group, fail, (char[]){"called"}, 7), MUSTER_ERR_PEER_LOST, "one that fails");
    is_str(muster_last_error(), "it was called", "says why");
    is_int(work_call(&group, issue_meanwhile, &work, 0), MUSTER_OK,
           "what is issued meanwhile comes behind it");
    muster_work_wait(work, PLENTY_MS);
    ok(!was_here() && in_order(2), "on the group's thread");
    muster_work_free(work);
    set_gate(false);
    work_issue(&group, wait_at_gate, &(int){0}, sizeof(int), &held);
    pthread_t opener;
    pthread_create(&opener, NULL, open_later, NULL);
    is_int(work_call(&group, note_thread, &(int){1}, sizeof(int)), MUSTER_OK,
           "a call behind what runs");
    ok(!was_here() && in_order(2), "waits for its turn");
    pthread_join(opener, NULL);
    muster_work_free(held);
    muster_group alone = {.queue = NULL};
    is_int(work_call(&alone, note_thread, &(int){0}, sizeof(int)), MUSTER_ERR_INTERNAL,
           "a group without a queue");
    ok(was_here(), "has no other thread");
    num_seen = 0;
    static const backend_entry device;
    group.device.backend = &device;
    is_int(work_call(&group, note_thread, &(int){0}, sizeof(int)), MUSTER_OK, "one with a device");
    ok(!was_here() && in_order(1), "runs all on its thread");
    group.device.backend = NULL;
}

static atomic_bool inside;

static muster_status come_in(muster_group *of, void *arguments)
{
    atomic_store(&inside, true);
    return nothing(of, arguments);
}

static void *call_once(void *argument)
{
    muster_status *status = malloc(sizeof(*status));
    *status = work_call(argument, come_in, NULL, 0);
    return status;
}

/* A queue is freed as soon as it is idle, also right behind a call on its caller's thread, which
 * must not touch it then. */
static void freed_behind_call(void)
{
    enum { TIMES = 300 };
    int ended = 0;
    for (int i = 0; i < TIMES; i++) {
        muster_group brief = {.name = group.name};
        pthread_t caller;
        void *status;
        work_queue_start(&brief.queue, &brief);
        atomic_store(&inside, false);
        pthread_create(&caller, NULL, call_once, &brief);
        while (!atomic_load(&inside))
            sched_yield();
        while (!work_queue_drain(brief.queue, 0))
            ;
        work_queue_stop(brief.queue);
        pthread_join(caller, &status);
        ended += *(muster_status *)status == MUSTER_OK;
        free(status);
    }
    is_int(ended, TIMES, "a queue is freed right behind a call");
}

static void *open_later(void *unused)
{
    struct timespec moment = {0, SHORT_MS * 1000000};
    nanosleep(&moment, NULL);
    set_gate(true);
    return unused;
}

static void any(void)
{
    static const int number[] = {0, 1};
    muster_work *works[] = {NULL, NULL, NULL};
    size_t index = 99;
    pthread_t opener;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number[0], sizeof(int), &works[2]);
    work_issue(&group, note, &number[1], sizeof(int), &works[0]);
    is_int(muster_work_wait_any(works, 3, 0, &index), MUSTER_ERR_TIMEOUT, "none has ended yet");
    is_int(index, 3, "so there is no place");
    is_int(muster_work_wait_any(works, 3, SHORT_MS, &index), MUSTER_ERR_TIMEOUT, "nor has it soon");
    has_str(muster_last_error(), "none of 3 operations has ended after 50 ms", "it says so");
    pthread_create(&opener, NULL, open_later, NULL);
    is_int(muster_work_wait_any(works, 3, PLENTY_MS, &index), MUSTER_OK, "then one has");
    ok(index == 2 || index == 0, "which is either, if the thread slept long");
    pthread_join(opener, NULL);
    work_queue_drain(group.queue, PLENTY_MS);
    is_int(muster_work_wait_any(works, 3, MUSTER_TIMEOUT_DEFAULT, &index), MUSTER_OK, "of several");
    is_int(index, 0, "it is the first");
    muster_work_free(works[0]);
    works[0] = NULL;
    work_issue(&group, fail, "any", 4, &works[1]);
    work_queue_drain(group.queue, PLENTY_MS);
    is_int(muster_work_wait_any(works, 3, 0, &index), MUSTER_ERR_PEER_LOST, "one that failed");
    is_str(muster_last_error(), "it was any", "says why");
    is_int(index, 1, "and where it is");
    muster_work_free(works[1]);
    muster_work_free(works[2]);
    ok(in_order(2), "they ran in order");
}

static double cpu_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Taking them one after the other costs a look at each that is left, and no more. */
static void any_of_ended(void)
{
    enum { ENDED = 5000 };
    static muster_work *works[ENDED];
    bool right = true;
    for (int i = 0; i < ENDED; i++)
        work_issue(&group, nothing, NULL, 0, &works[i]);
    work_queue_drain(group.queue, PLENTY_MS);
    double began = cpu_seconds();
    for (size_t i = 0, index = ENDED; i < ENDED; i++) {
        right = right && muster_work_wait_any(works, ENDED, PLENTY_MS, &index) == MUSTER_OK &&
                index == i;
        muster_work_free(works[i]);
        works[i] = NULL;
    }
    double took = cpu_seconds() - began;
    ok(right && took < 2, "%d that have ended are taken in %.2f s", (int)ENDED, took);
}

enum { WAITERS = 4, WORKS = 200 };
static muster_work *shared[WORKS];

/* Each waits for any of the same until all have ended, of which the first ones are left out. */
static void *wait_for_all(void *argument)
{
    muster_work *mine[WORKS];
    memcpy(mine, shared, sizeof(mine));
    for (int left = WORKS; left > 0; left--) {
        size_t index = WORKS;
        if (muster_work_wait_any(mine, WORKS, PLENTY_MS, &index) != MUSTER_OK || index >= WORKS)
            return argument;
        mine[index] = NULL;
    }
    return NULL;
}

static void any_by_many(void)
{
    pthread_t threads[WAITERS];
    bool right = true;
    set_gate(false);
    for (int i = 0; i < WORKS; i++)
        work_issue(&group, i == 0 ? wait_at_gate : note, &i, sizeof(i), &shared[i]);
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&threads[i], NULL, wait_for_all, &right);
    open_later(NULL);
    for (int i = 0; i < WAITERS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        right = right && failed == NULL;
    }
    ok(right && in_order(WORKS), "%d threads wait for any of the same %d", (int)WAITERS,
       (int)WORKS);
    for (int i = 0; i < WORKS; i++)
        muster_work_free(shared[i]);
}

/* What the callbacks of one operation saw. */
static atomic_int num_called, call_order[3], refused;
static muster_status told;
static char words[64];

static void called(void *user, muster_status status)
{
    call_order[num_called++] = *(const int *)user;
    told = status;
    snprintf(words, sizeof(words), "%s", status == MUSTER_OK ? "" : muster_last_error());
}

/* Starts another, and tries what would wait. */
static void starts(void *user, muster_status status)
{
    static const int number = 0;
    muster_work **next = user;
    size_t index;
    called(&(int){7}, status);
    work_issue(&group, note, &number, sizeof(number), next);
    refused = muster_work_wait(*next, PLENTY_MS) == MUSTER_ERR_ARGUMENT;
    refused += muster_work_wait(*next, 0) == MUSTER_ERR_TIMEOUT;
    refused += muster_work_wait_any(next, 1, PLENTY_MS, &index) == MUSTER_ERR_ARGUMENT;
    refused += work_issue(&group, note, &number, sizeof(number), NULL) == MUSTER_ERR_ARGUMENT;
}

static void callbacks(void)
{
    static const int number[] = {0, 1, 2};
    muster_work *work = NULL, *next = NULL;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number[0], sizeof(int), &work);
    bool added = true;
    for (int i = 0; i < 3; i++)
        added = muster_work_add_callback(work, called, (void *)&number[i]) == MUSTER_OK && added;
    ok(added && num_called == 0, "callbacks wait for the end");
    set_gate(true);
    is_int(muster_work_wait(work, PLENTY_MS), MUSTER_OK, "which comes");
    ok(num_called == 3 && call_order[0] == 0 && call_order[1] == 1 && call_order[2] == 2,
       "they were called before the wait is over, in order");
    is_int(told, MUSTER_OK, "with the status");
    num_called = num_seen = 0;
    muster_work_add_callback(work, called, (void *)&number[1]);
    is_int(num_called, 1, "later ones are called at once");
    muster_work_free(work);
    num_called = 0;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number[0], sizeof(int), &next);
    work_issue(&group, fail, "told", 5, &work);
    muster_work_add_callback(work, called, (void *)&number[2]);
    muster_work_free(work);
    muster_work_free(next);
    set_gate(true);
    work_queue_drain(group.queue, PLENTY_MS);
    is_int(num_called, 1, "a freed handle keeps its callback");
    is_int(told, MUSTER_ERR_PEER_LOST, "which hears of a failure");
    is_str(words, "it was told", "in its words");
    num_called = num_seen = 0;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number[0], sizeof(int), &work);
    muster_work_add_callback(work, starts, &next);
    set_gate(true);
    muster_work_wait(work, PLENTY_MS);
    is_int(refused, 4, "a callback can't wait");
    is_int(muster_work_wait(next, PLENTY_MS), MUSTER_OK, "but start what others wait for");
    muster_work_free(work);
    muster_work_free(next);
    num_seen = 0;
}

/* In a child of fork: the parent's operations are not waited for, and may be freed. */
static void forked(void)
{
    static const int number = 0;
    muster_work *work = NULL;
    size_t index;
    bool ended;
    int status = -1;
    set_gate(false);
    work_issue(&group, wait_at_gate, &number, sizeof(number), &work);
    pid_t child = fork();
    if (child == 0) {
        bool right = muster_work_wait(work, PLENTY_MS) == MUSTER_ERR_FORKED &&
                     muster_work_test(work, &ended) == MUSTER_ERR_FORKED &&
                     muster_work_wait_any(&work, 1, PLENTY_MS, &index) == MUSTER_ERR_FORKED &&
                     muster_work_add_callback(work, called, NULL) == MUSTER_ERR_FORKED;
        work_queue_forget(group.queue);
        muster_work_free(work);
        _exit(right ? 0 : 1);
    }
    set_gate(true);
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a fork's child is refused");
    is_int(muster_work_wait(work, PLENTY_MS), MUSTER_OK, "and the operation goes on here");
    muster_work_free(work);
    num_seen = 0;
}

static void wrong(void)
{
    size_t index = 5;
    muster_work *work = NULL, *none = NULL;
    bool ended = false;
    is_int(muster_work_test(NULL, &ended), MUSTER_ERR_ARGUMENT, "a test of NULL");
    is_int(muster_work_wait(NULL, 0), MUSTER_ERR_ARGUMENT, "a wait for NULL");
    muster_work_free(NULL);
    work_issue(&group, look_at_signals, NULL, 0, &work);
    is_int(muster_work_test(work, NULL), MUSTER_ERR_ARGUMENT, "a test into NULL");
    has_str(muster_last_error(), "done is NULL", "says which");
    is_int(muster_work_wait(work, -2), MUSTER_ERR_ARGUMENT, "a time-out below the default");
    is_int(muster_work_wait_any(NULL, 1, 0, &index), MUSTER_ERR_ARGUMENT, "any of NULL");
    is_int(muster_work_wait_any(&work, 1, 0, NULL), MUSTER_ERR_ARGUMENT, "any to NULL");
    is_int(muster_work_wait_any(&work, 0, 0, &index), MUSTER_ERR_ARGUMENT, "any of none");
    is_int(muster_work_wait_any(&none, 1, 0, &index), MUSTER_ERR_ARGUMENT, "any of nothing");
    is_int(muster_work_wait_any(&work, 1, -2, &index), MUSTER_ERR_ARGUMENT, "any in no time");
    is_int(index, 5, "no place is written");
    is_int(muster_work_add_callback(NULL, called, NULL), MUSTER_ERR_ARGUMENT, "back from NULL");
    is_int(muster_work_add_callback(work, NULL, NULL), MUSTER_ERR_ARGUMENT, "NULL back");
    is_int(muster_work_wait(work, INT64_MAX), MUSTER_OK, "the longest time-out there is");
    muster_work_free(work);
}

int main(void)
{
    static char name[] = "g";
    plan(100);
    group.name = name;
    is_int(work_queue_start(&group.queue, &group), MUSTER_OK, "a queue is started");
    order();
    one_at_a_time();
    later();
    handles();
    freed_early();
    failures();
    apart();
    calls();
    freed_behind_call();
    any();
    any_by_many();
    any_of_ended();
    callbacks();
    forked();
    wrong();
    work_queue_drain(group.queue, PLENTY_MS);
    work_queue_stop(group.queue);
    without_queue();
    return done();
}
