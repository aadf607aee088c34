/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue of a group's operations and the handles on them.
 */
#include "collective/work.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/deadline.h"
#include "base/error.h"
#include "gated_work.h"
#include "tap.h"

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

static void order(void)
{
    muster_work *work[WORK_MANY];
    bool issued = true, ended = true;
    for (int i = 0; i < WORK_MANY; i++) /* the argument is copied: i is gone when it runs */
        issued = work_issue(&group, note, &i, sizeof(i), &work[i]) == MUSTER_OK && issued;
    ok(issued, "%d operations are issued", (int)WORK_MANY);
    for (int i = WORK_MANY - 1; i >= 0; i--) {
        ended = muster_work_wait(work[i], PLENTY_MS) == MUSTER_OK && ended;
        muster_work_free(work[i]);
    }
    ok(ended, "and end well, in whatever order they are waited for");
    ok(in_order(WORK_MANY), "and run in theirs");
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

static muster_status drain_beside(muster_group *of, void *arguments)
{
    bool here = !work_queue_drain(of->queue, 0) && !work_queue_busy(of->queue);
    muster_status status = work_call(of, note_thread, arguments, sizeof(int));
    return here ? status : error_set(MUSTER_ERR_INTERNAL, "nobody waits for it");
}

static void beside(void)
{
    num_seen = 0;
    is_int(work_call_beside(&group, drain_beside, &(int){0}), MUSTER_OK,
           "what runs beside all is waited for");
    ok(was_here() && in_order(1), "and calls begin on their callers' threads meanwhile");
    ok(work_queue_drain(group.queue, 0), "until it has ended");
    is_int(work_call_beside(&group, fail, (char[]){"beside"}), MUSTER_ERR_PEER_LOST, "one fails");
    muster_group alone = {.queue = NULL};
    is_int(work_call_beside(&alone, nothing, NULL), MUSTER_OK, "and one needs no queue");
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

int main(void)
{
    static char name[] = "g";
    plan(65);
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
    beside();
    work_queue_drain(group.queue, PLENTY_MS);
    work_queue_stop(group.queue);
    without_queue();
    return done();
}
