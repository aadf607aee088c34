/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles: their end, callbacks, and waiting for one.
 */
#include "config.h"

#include "collective/work_handle.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/thread.h"
#include "group/group.h"

struct work_callback {
    muster_work_fn fn;
    void *user;
    work_callback *next;
};

/* Threads look at their own number where there are callbacks at all. */
atomic_int work_handle_callbacks;
static _Thread_local int callbacks_running;

muster_work *work_handle_new(muster_group *group, work_fn fn, const void *arguments, size_t size)
{
    muster_work *work = calloc(1, sizeof(*work) + size);
    if (work == NULL)
        return NULL;
    pthread_mutex_init(&work->lock, NULL);
    thread_condition_init(&work->ended);
    atomic_init(&work->references, 2);
    work->pid = process_id();
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

muster_status work_handle_in_callback(void)
{
    if (callbacks_running == 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "a callback of an operation may not wait, since it holds up the group; start "
                     "operations with a handle, and wait on another thread");
}

muster_status work_handle_outcome(const muster_work *work)
{
    if (work->status == MUSTER_OK)
        return MUSTER_OK;
    return error_set(work->status, "%s",
                     work->sentence != NULL ? work->sentence : muster_status_text(work->status));
}

static void call_back(const muster_work *work, muster_work_fn fn, void *user)
{
    muster_status status = work_handle_outcome(work);
    atomic_fetch_add(&work_handle_callbacks, 1);
    callbacks_running++;
    fn(user, status);
    callbacks_running--;
    atomic_fetch_sub(&work_handle_callbacks, 1);
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
    work_any_wake(work->waiters);
    pthread_mutex_unlock(&work->lock);
}

muster_status work_handle_enter(const muster_work *work, const char *function)
{
    if (work == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: work is NULL", function);
    if (work->pid != process_id())
        return error_set(MUSTER_ERR_FORKED,
                         "%s: the operation was started by process %ld, of which this one is a "
                         "fork; it goes on there alone",
                         function, (long)work->pid);
    return MUSTER_OK;
}

muster_status work_handle_check_timeout(int64_t timeout_ms, const char *function)
{
    if (timeout_ms >= MUSTER_TIMEOUT_DEFAULT)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s: the time-out of %lld ms is negative", function,
                     (long long)timeout_ms);
}

deadline work_handle_deadline(int64_t timeout_ms)
{
    return deadline_in(timeout_ms == MUSTER_TIMEOUT_DEFAULT ? DEADLINE_LONGEST_MS : timeout_ms);
}

muster_status muster_work_test(muster_work *work, bool *done)
{
    muster_status status = work_handle_enter(work, "muster_work_test");
    if (status != MUSTER_OK)
        return status;
    if (done == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_work_test: done is NULL");
    pthread_mutex_lock(&work->lock);
    *done = work->done;
    status = work->done ? work_handle_outcome(work) : MUSTER_OK;
    pthread_mutex_unlock(&work->lock);
    return status;
}

muster_status muster_work_wait(muster_work *work, int64_t timeout_ms)
{
    static const char *const function = "muster_work_wait";
    muster_status status = work_handle_enter(work, function);
    if (status == MUSTER_OK)
        status = work_handle_check_timeout(timeout_ms, function);
    if (status != MUSTER_OK)
        return status;
    deadline end = work_handle_deadline(timeout_ms);
    pthread_mutex_lock(&work->lock);
    if (!work->done && timeout_ms != 0)
        status = work_handle_may_wait();
    if (status != MUSTER_OK)
        error_prefix(status, "%s: ", function);
    while (status == MUSTER_OK && !work->done && thread_wait(&work->ended, &work->lock, end))
        ;
    if (work->done)
        status = work_handle_outcome(work);
    else if (status == MUSTER_OK)
        status = error_set(MUSTER_ERR_TIMEOUT,
                           "%s: an operation of group '%s' has not ended after %lld ms and goes on",
                           function, work->group->name, (long long)timeout_ms);
    pthread_mutex_unlock(&work->lock);
    return status;
}

muster_status muster_work_add_callback(muster_work *work, muster_work_fn fn, void *user)
{
    static const char *const function = "muster_work_add_callback";
    muster_status status = work_handle_enter(work, function);
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
