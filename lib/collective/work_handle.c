/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles: their end, callbacks, and waiting for one or for any of several.
 */
#include "config.h"

#include "collective/work_handle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "group/group.h"

struct work_callback {
    muster_work_fn fn;
    void *user;
    work_callback *next;
};

/* One thread that waits for any of several operations. */
typedef struct any_wait {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool ended; /* one of them */
} any_wait;

/* Its place at one of them, under that one's lock. */
struct work_waiter {
    any_wait *who;
    work_waiter *next;
};

static _Thread_local int callbacks_running;

muster_work *work_handle_new(muster_group *group, work_fn fn, const void *arguments, size_t size)
{
    muster_work *work = calloc(1, sizeof(*work) + size);
    if (work == NULL)
        return NULL;
    pthread_mutex_init(&work->lock, NULL);
    thread_condition_init(&work->ended);
    atomic_init(&work->references, 2);
    work->pid = getpid();
    work->group = group;
    work->queue = group->queue;
    work->fn = fn;
    if (size > 0)
        memcpy(work->arguments, arguments, size);
    return work;
}

void work_handle_release(muster_work *work)
{
    if (atomic_fetch_sub(&work->references, 1) != 1)
        return;
    while (work->callbacks != NULL) {
        work_callback *next = work->callbacks->next;
        free(work->callbacks);
        work->callbacks = next;
    }
    pthread_mutex_destroy(&work->lock);
    pthread_cond_destroy(&work->ended);
    free(work->sentence);
    free(work);
}

muster_status work_handle_may_wait(void)
{
    if (callbacks_running == 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "a callback of an operation may not wait, since it holds up the group; start "
                     "operations with a handle, and wait on another thread");
}

/* The status of an operation that has ended, in the words of the thread that asks. */
static muster_status outcome(const muster_work *work)
{
    if (work->status == MUSTER_OK)
        return MUSTER_OK;
    return error_set(work->status, "%s",
                     work->sentence != NULL ? work->sentence : muster_status_text(work->status));
}

static void call_back(const muster_work *work, muster_work_fn fn, void *user)
{
    muster_status status = outcome(work);
    callbacks_running++;
    fn(user, status);
    callbacks_running--;
}

/* Under the lock, which is let go for each call. */
static void run_callbacks(muster_work *work)
{
    while (work->callbacks != NULL) {
        work_callback *first = work->callbacks;
        work->callbacks = first->next;
        pthread_mutex_unlock(&work->lock);
        call_back(work, first->fn, first->user);
        free(first);
        pthread_mutex_lock(&work->lock);
    }
}

void work_handle_end(muster_work *work, muster_status status)
{
    char *sentence = status == MUSTER_OK ? NULL : strdup(muster_last_error());
    pthread_mutex_lock(&work->lock);
    work->status = status;
    work->sentence = sentence;
    run_callbacks(work);
    work->done = true;
    pthread_cond_broadcast(&work->ended);
    for (work_waiter *waiter = work->waiters; waiter != NULL; waiter = waiter->next) {
        pthread_mutex_lock(&waiter->who->lock);
        waiter->who->ended = true;
        pthread_cond_signal(&waiter->who->woken);
        pthread_mutex_unlock(&waiter->who->lock);
    }
    pthread_mutex_unlock(&work->lock);
}

/* The checks that begin every call on a handle. */
static muster_status enter(const muster_work *work, const char *function)
{
    if (work == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: work is NULL", function);
    if (work->pid != getpid())
        return error_set(MUSTER_ERR_FORKED,
                         "%s: the operation was started by process %ld, of which this one is a "
                         "fork; it goes on there alone",
                         function, (long)work->pid);
    return MUSTER_OK;
}

static muster_status check_timeout(int64_t timeout_ms, const char *function)
{
    if (timeout_ms >= MUSTER_TIMEOUT_DEFAULT)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s: the time-out of %lld ms is negative", function,
                     (long long)timeout_ms);
}

static deadline end_of(int64_t timeout_ms)
{
    return deadline_in(timeout_ms == MUSTER_TIMEOUT_DEFAULT ? DEADLINE_LONGEST_MS : timeout_ms);
}

muster_status muster_work_test(muster_work *work, bool *done)
{
    muster_status status = enter(work, "muster_work_test");
    if (status != MUSTER_OK)
        return status;
    if (done == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_work_test: done is NULL");
    pthread_mutex_lock(&work->lock);
    *done = work->done;
    status = work->done ? outcome(work) : MUSTER_OK;
    pthread_mutex_unlock(&work->lock);
    return status;
}

muster_status muster_work_wait(muster_work *work, int64_t timeout_ms)
{
    static const char *const function = "muster_work_wait";
    muster_status status = enter(work, function);
    if (status == MUSTER_OK)
        status = check_timeout(timeout_ms, function);
    if (status != MUSTER_OK)
        return status;
    deadline end = end_of(timeout_ms);
    pthread_mutex_lock(&work->lock);
    if (!work->done && timeout_ms != 0)
        status = work_handle_may_wait();
    while (status == MUSTER_OK && !work->done && thread_wait(&work->ended, &work->lock, end))
        ;
    if (work->done)
        status = outcome(work);
    else if (status == MUSTER_OK)
        status =
            error_set(MUSTER_ERR_TIMEOUT, "the operation has not ended after %lld ms and goes on",
                      (long long)timeout_ms);
    pthread_mutex_unlock(&work->lock);
    return status;
}

/* The first that has ended, from the front; count where none has. */
static size_t first_ended(muster_work *const *works, size_t count, muster_status *status)
{
    size_t found = count;
    for (size_t i = 0; i < count && found == count; i++) {
        if (works[i] == NULL)
            continue;
        pthread_mutex_lock(&works[i]->lock);
        if (works[i]->done) {
            found = i;
            *status = outcome(works[i]);
        }
        pthread_mutex_unlock(&works[i]->lock);
    }
    return found;
}

static void enlist(muster_work *const *works, size_t count, work_waiter *places, any_wait *who)
{
    for (size_t i = 0; i < count; i++) {
        if (works[i] == NULL)
            continue;
        pthread_mutex_lock(&works[i]->lock);
        places[i] = (work_waiter){who, works[i]->waiters};
        works[i]->waiters = &places[i];
        pthread_mutex_unlock(&works[i]->lock);
    }
}

static void strike_off(muster_work *const *works, size_t count, const work_waiter *places)
{
    for (size_t i = 0; i < count; i++) {
        if (works[i] == NULL)
            continue;
        pthread_mutex_lock(&works[i]->lock);
        work_waiter **at = &works[i]->waiters;
        while (*at != &places[i])
            at = &(*at)->next;
        *at = places[i].next;
        pthread_mutex_unlock(&works[i]->lock);
    }
}

/* Sleeps until one has ended. */
static muster_status sleep_for_any(muster_work *const *works, size_t count, deadline end,
                                   size_t *found)
{
    any_wait who = {.ended = false};
    work_waiter *places = calloc(count, sizeof(*places));
    if (places == NULL)
        return error_no_memory(count * sizeof(*places), "a wait");
    pthread_mutex_init(&who.lock, NULL);
    thread_condition_init(&who.woken);
    enlist(works, count, places, &who);
    muster_status status = MUSTER_OK;
    *found = first_ended(works, count, &status);
    if (*found == count) {
        pthread_mutex_lock(&who.lock);
        while (!who.ended && thread_wait(&who.woken, &who.lock, end))
            ;
        pthread_mutex_unlock(&who.lock);
        *found = first_ended(works, count, &status);
    }
    strike_off(works, count, places);
    pthread_mutex_destroy(&who.lock);
    pthread_cond_destroy(&who.woken);
    free(places);
    return status;
}

static muster_status check_any(muster_work *const *works, size_t count, const size_t *index,
                               const char *function)
{
    size_t there = 0;
    if (works == NULL || index == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: %s is NULL", function,
                         works == NULL ? "works" : "index");
    for (size_t i = 0; i < count; i++) {
        muster_status status = works[i] == NULL ? MUSTER_OK : enter(works[i], function);
        if (status != MUSTER_OK)
            return status;
        there += works[i] != NULL;
    }
    if (there > 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s: there is no work among the %zu to wait for",
                     function, count);
}

muster_status muster_work_wait_any(muster_work *const *works, size_t num_works, int64_t timeout_ms,
                                   size_t *index)
{
    static const char *const function = "muster_work_wait_any";
    muster_status status = check_any(works, num_works, index, function);
    if (status == MUSTER_OK)
        status = check_timeout(timeout_ms, function);
    if (status != MUSTER_OK)
        return status;
    size_t found = first_ended(works, num_works, &status);
    if (found == num_works && timeout_ms != 0) {
        status = work_handle_may_wait();
        if (status == MUSTER_OK)
            status = sleep_for_any(works, num_works, end_of(timeout_ms), &found);
    }
    if (found == num_works && status == MUSTER_OK)
        status = error_set(MUSTER_ERR_TIMEOUT,
                           "%s: none of %zu operations has ended after %lld ms; all "
                           "go on",
                           function, num_works, (long long)timeout_ms);
    *index = found;
    return status;
}

muster_status muster_work_add_callback(muster_work *work, muster_work_fn fn, void *user)
{
    static const char *const function = "muster_work_add_callback";
    muster_status status = enter(work, function);
    if (status != MUSTER_OK)
        return status;
    if (fn == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: fn is NULL", function);
    work_callback *made = malloc(sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a callback");
    *made = (work_callback){fn, user, NULL};
    pthread_mutex_lock(&work->lock);
    bool done = work->done;
    work_callback **at = &work->callbacks;
    while (*at != NULL)
        at = &(*at)->next;
    if (!done)
        *at = made;
    pthread_mutex_unlock(&work->lock);
    if (!done)
        return MUSTER_OK;
    free(made);
    call_back(work, fn, user);
    return MUSTER_OK;
}

void muster_work_free(muster_work *work)
{
    if (work != NULL)
        work_handle_release(work);
}
