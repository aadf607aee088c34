/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue of a group's operations, its thread, and work handles.
 *
 * All communication runs on threads of the library, so that the caller's thread keeps its signal
 * mask and no signal interrupts a backend. A handle is shared by the caller and the thread that
 * runs it: whoever lets go last frees it.
 */
#include "config.h"

#include "collective/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/failure.h"
#include "group/group.h"
#include "base/thread.h"

struct muster_work {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    atomic_int references;
    bool done;
    muster_status status;
    char *sentence;
    muster_group *group;
    work_queue *queue; /* NULL: the group has none */
    work_fn fn;
    struct muster_work *next;
    max_align_t arguments[]; /* a copy */
};

struct work_queue {
    muster_group *group;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    muster_work *first;
    muster_work *last;
    int running; /* operations begun or queued, on whatever thread, and not ended */
    bool stopping;
};

static muster_work *work_new(muster_group *group, work_fn fn, const void *arguments, size_t size)
{
    muster_work *work = calloc(1, sizeof(*work) + size);
    if (work == NULL)
        return NULL;
    pthread_mutex_init(&work->lock, NULL);
    thread_condition_init(&work->ended);
    atomic_init(&work->references, 2);
    work->group = group;
    work->queue = group->queue;
    work->fn = fn;
    if (size > 0)
        memcpy(work->arguments, arguments, size);
    return work;
}

static void work_release(muster_work *work)
{
    if (atomic_fetch_sub(&work->references, 1) != 1)
        return;
    pthread_mutex_destroy(&work->lock);
    pthread_cond_destroy(&work->ended);
    free(work->sentence);
    free(work);
}

static void queue_count(work_queue *queue, int change)
{
    pthread_mutex_lock(&queue->lock);
    queue->running += change;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void work_run(muster_work *work)
{
    muster_status status = work->fn(work->group, work->arguments);
    char *sentence = status == MUSTER_OK ? NULL : strdup(muster_last_error());
    pthread_mutex_lock(&work->lock);
    work->status = status;
    work->sentence = sentence;
    work->done = true;
    pthread_cond_broadcast(&work->ended);
    pthread_mutex_unlock(&work->lock);
    if (work->queue != NULL)
        queue_count(work->queue, -1);
    work_release(work);
}

static muster_work *queue_take(work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->first == NULL && !queue->stopping)
        pthread_cond_wait(&queue->changed, &queue->lock);
    muster_work *work = queue->first;
    if (work != NULL) {
        queue->first = work->next;
        if (queue->first == NULL)
            queue->last = NULL;
    }
    pthread_mutex_unlock(&queue->lock);
    return work;
}

static void *queue_thread(void *argument)
{
    work_queue *queue = argument;
    for (muster_work *work = queue_take(queue); work != NULL; work = queue_take(queue))
        work_run(work);
    return NULL;
}

muster_status work_queue_start(work_queue **queue, muster_group *group)
{
    work_queue *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a queue");
    made->group = group;
    pthread_mutex_init(&made->lock, NULL);
    thread_condition_init(&made->changed);
    int error = thread_start(&made->thread, queue_thread, made);
    if (error != 0) {
        work_queue_forget(made);
        return error_set(MUSTER_ERR_SYSTEM, "can't start a thread for the group: %s",
                         strerror(error));
    }
    *queue = made;
    return MUSTER_OK;
}

bool work_queue_drain(work_queue *queue, int64_t timeout_ms)
{
    if (queue == NULL)
        return true;
    deadline end = deadline_in(timeout_ms);
    pthread_mutex_lock(&queue->lock);
    while (queue->running > 0 && thread_wait(&queue->changed, &queue->lock, end))
        ;
    bool idle = queue->running == 0;
    pthread_mutex_unlock(&queue->lock);
    return idle;
}

void work_queue_stop(work_queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    free(queue);
}

void work_queue_forget(work_queue *queue)
{
    if (queue == NULL)
        return;
    while (queue->first != NULL) {
        muster_work *work = queue->first;
        queue->first = work->next;
        free(work);
    }
    free(queue);
}

static void queue_put(work_queue *queue, muster_work *work)
{
    pthread_mutex_lock(&queue->lock);
    if (queue->last != NULL)
        queue->last->next = work;
    else
        queue->first = work;
    queue->last = work;
    queue->running++;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* Waits here, or gives the handle to the caller. */
static muster_status hand_over(muster_work *issued, muster_work **work)
{
    if (work != NULL) {
        *work = issued;
        return MUSTER_OK;
    }
    muster_status status = muster_work_wait(issued, DEADLINE_LONGEST_MS);
    muster_work_free(issued);
    return status;
}

/* Where there are other ranks they would wait for an operation that this one can't begin. */
static muster_status no_memory(muster_group *group, size_t size)
{
    error_no_memory(sizeof(muster_work) + size, "an operation");
    return atomic_load(&group->comm) != NULL ? failure_raise(group, MUSTER_ERR_NO_MEMORY)
                                             : MUSTER_ERR_NO_MEMORY;
}

muster_status work_issue(muster_group *group, work_fn fn, const void *arguments, size_t size,
                         muster_work **work)
{
    muster_work *issued = work_new(group, fn, arguments, size);
    if (issued == NULL)
        return no_memory(group, size);
    if (group->queue != NULL)
        queue_put(group->queue, issued);
    else
        work_run(issued);
    return hand_over(issued, work);
}

static void *apart_thread(void *argument)
{
    work_run(argument);
    return NULL;
}

muster_status work_issue_apart(muster_group *group, work_fn fn, const void *arguments, size_t size,
                               muster_work **work)
{
    muster_work *issued = work_new(group, fn, arguments, size);
    if (issued == NULL)
        return no_memory(group, size);
    pthread_t thread;
    queue_count(group->queue, 1);
    int error = thread_start(&thread, apart_thread, issued);
    if (error != 0) {
        queue_count(group->queue, -1);
        work_release(issued);
        work_release(issued);
        return error_set(MUSTER_ERR_SYSTEM, "can't start a thread for the operation: %s",
                         strerror(error));
    }
    pthread_detach(thread);
    return hand_over(issued, work);
}

/* The status of an operation that has ended, in the words of the thread that asks. */
static muster_status outcome(const muster_work *work)
{
    if (work->status == MUSTER_OK)
        return MUSTER_OK;
    return error_set(work->status, "%s",
                     work->sentence != NULL ? work->sentence : muster_status_text(work->status));
}

muster_status muster_work_test(muster_work *work, bool *done)
{
    if (work == NULL || done == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_work_test: %s is NULL",
                         work == NULL ? "work" : "done");
    pthread_mutex_lock(&work->lock);
    *done = work->done;
    muster_status status = work->done ? outcome(work) : MUSTER_OK;
    pthread_mutex_unlock(&work->lock);
    return status;
}

muster_status muster_work_wait(muster_work *work, int64_t timeout_ms)
{
    if (work == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_work_wait: work is NULL");
    if (timeout_ms < MUSTER_TIMEOUT_DEFAULT)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_work_wait: the time-out of %lld ms is negative",
                         (long long)timeout_ms);
    deadline end =
        deadline_in(timeout_ms == MUSTER_TIMEOUT_DEFAULT ? DEADLINE_LONGEST_MS : timeout_ms);
    pthread_mutex_lock(&work->lock);
    while (!work->done && thread_wait(&work->ended, &work->lock, end))
        ;
    muster_status status =
        work->done
            ? outcome(work)
            : error_set(MUSTER_ERR_TIMEOUT, "the operation has not ended after %lld ms and goes on",
                        (long long)timeout_ms);
    pthread_mutex_unlock(&work->lock);
    return status;
}

void muster_work_free(muster_work *work)
{
    if (work != NULL)
        work_release(work);
}
