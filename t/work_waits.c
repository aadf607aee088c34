/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for any of several operations, callbacks, and handles in the wrong hands.
 */
#include "collective/work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "gated_work.h"
#include "tap.h"

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
    work_issue(&group, nothing, NULL, 0, &work);
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
    plan(41);
    group.name = name;
    is_int(work_queue_start(&group.queue, &group), MUSTER_OK, "a queue is started");
    any();
    any_by_many();
    any_of_ended();
    callbacks();
    forked();
    wrong();
    work_queue_drain(group.queue, PLENTY_MS);
    work_queue_stop(group.queue);
    return done();
}
