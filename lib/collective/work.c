/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue of a group's operations and its thread.
 *
 * An operation with a handle runs on a thread of the library, which blocks all signals; one that is
 * waited for runs on its caller's while nothing is before it.
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
#include "collective/work_handle.h"

/* Operations in their order. */
typedef struct work_list {
    muster_work *first;
    muster_work *last;
    bool taken; /* the thread that takes them is in one */
} work_list;

/* Of the gate: while neither of the first two is set a call that waits may run on its caller's
 * thread, and takes no lock to begin and to end. */
enum {
    GATE_HERE = 1,   /* one runs there */
    GATE_ORDER = 2,  /* operations of the queue have not ended, or its end is waited for */
    GATE_BESIDE = 4, /* times as many as run on their callers' threads in no order */
};

struct work_queue {
    _Atomic uint32_t gate;
    muster_group *group;
    pthread_t thread;
    pthread_t finisher;
    bool has_finisher; /* set on the group's thread alone */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    work_list issued;
    work_list started; /* to be finished */
    int running;       /* operations begun or queued and not ended, but those of the gate */
    int draining;      /* threads that wait for all to end */
    bool stopping;
};

/* Whether an operation runs on the thread of its caller. */
static bool is_here(const work_queue *queue)
{
    return (atomic_load(&queue->gate) & GATE_HERE) != 0;
}

/* Whether one that has not ended is counted nowhere but at the gate. The lock is held. */
static bool is_at_gate(const work_queue *queue)
{
    return (atomic_load(&queue->gate) & ~(uint32_t)GATE_ORDER) != 0;
}

/* Whether an operation of the queue that is to keep its place in the order has not ended. The lock
 * is held. */
static bool has_order(const work_queue *queue)
{
    return queue->running > 0 && (queue->issued.taken || queue->issued.first != NULL ||
                                  queue->started.taken || queue->started.first != NULL);
}

/* After every change of what has_order looks at, with the lock held: whoever ends an operation here
 * then wakes those who wait for it. */
static void set_gate(work_queue *queue)
{
    if (has_order(queue) || queue->draining > 0 || queue->stopping)
        atomic_fetch_or(&queue->gate, GATE_ORDER);
    else
        atomic_fetch_and(&queue->gate, ~(uint32_t)GATE_ORDER);
}

static void queue_count(work_queue *queue, int change)
{
    pthread_mutex_lock(&queue->lock);
    queue->running += change;
    set_gate(queue);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* The lock is held. */
static void list_append(work_list *list, muster_work *work)
{
    work->next = NULL;
    if (list->last != NULL)
        list->last->next = work;
    else
        list->first = work;
    list->last = work;
}

static void work_end(muster_work *work, muster_status status)
{
    work_handle_end(work, status);
    if (work->queue != NULL)
        queue_count(work->queue, -1);
    work_handle_release(work);
}

/* The operation that this thread runs. */
static _Thread_local muster_work *running;

static void work_run(muster_work *work)
{
    running = work;
    muster_status status = work->fn(work->group, work->arguments);
    running = NULL;
    if (work->finish == NULL) {
        work_end(work, status);
        return;
    }
    pthread_mutex_lock(&work->queue->lock);
    list_append(&work->queue->started, work);
    set_gate(work->queue);
    pthread_cond_broadcast(&work->queue->changed);
    pthread_mutex_unlock(&work->queue->lock);
}

/* The next one of a list of the queue; NULL where none will come. */
static muster_work *queue_take(work_queue *queue, work_list *list)
{
    pthread_mutex_lock(&queue->lock);
    list->taken = false;
    set_gate(queue);
    while ((list->first == NULL && !queue->stopping) || is_here(queue))
        pthread_cond_wait(&queue->changed, &queue->lock);
    muster_work *work = list->first;
    list->taken = work != NULL;
    if (work != NULL) {
        list->first = work->next;
        if (list->first == NULL)
            list->last = NULL;
    }
    pthread_mutex_unlock(&queue->lock);
    return work;
}

static void *queue_thread(void *argument)
{
    work_queue *queue = argument;
    for (muster_work *work = queue_take(queue, &queue->issued); work != NULL;
         work = queue_take(queue, &queue->issued))
        work_run(work);
    return NULL;
}

static void *finisher_thread(void *argument)
{
    work_queue *queue = argument;
    for (muster_work *work = queue_take(queue, &queue->started); work != NULL;
         work = queue_take(queue, &queue->started))
        work_end(work, work->finish(work->group, work->token));
    return NULL;
}

bool work_finish_later(muster_group *group, work_finish finish, void *token)
{
    work_queue *queue = group->queue;
    if (queue == NULL || running == NULL || !pthread_equal(queue->thread, pthread_self()))
        return false;
    if (!queue->has_finisher)
        queue->has_finisher =
            thread_start_at(&queue->finisher, finisher_thread, queue, &group->home) == 0;
    if (!queue->has_finisher)
        return false;
    running->finish = finish;
    running->token = token;
    return true;
}

muster_status work_queue_start(work_queue **queue, muster_group *group)
{
    work_queue *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a queue");
    made->group = group;
    pthread_mutex_init(&made->lock, NULL);
    thread_condition_init(&made->changed);
    int error = thread_start_at(&made->thread, queue_thread, made, &group->home);
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
    queue->draining++;
    set_gate(queue);
    while ((queue->running > 0 || is_at_gate(queue)) &&
           thread_wait(&queue->changed, &queue->lock, end))
        ;
    queue->draining--;
    set_gate(queue);
    bool idle = queue->running == 0 && !is_at_gate(queue);
    pthread_mutex_unlock(&queue->lock);
    return idle;
}

bool work_queue_busy(work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool busy = is_here(queue) || queue->issued.taken || queue->started.taken ||
                queue->started.first != NULL;
    pthread_mutex_unlock(&queue->lock);
    return busy;
}

void work_queue_stop(work_queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->stopping = true;
    set_gate(queue);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    if (queue->has_finisher)
        pthread_join(queue->finisher, NULL);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    free(queue);
}

static void list_forget(work_list *list)
{
    while (list->first != NULL) {
        muster_work *work = list->first;
        list->first = work->next;
        work_handle_release(work);
    }
}

void work_queue_forget(work_queue *queue)
{
    if (queue == NULL)
        return;
    list_forget(&queue->issued);
    list_forget(&queue->started);
    free(queue);
}

static void queue_put(work_queue *queue, muster_work *work)
{
    pthread_mutex_lock(&queue->lock);
    list_append(&queue->issued, work);
    queue->running++;
    set_gate(queue);
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
    char what[256];
    snprintf(what, sizeof(what), "an operation of group '%s' on rank %d", group->name, group->rank);
    error_no_memory(sizeof(muster_work) + size, what);
    return group_is_connected(group) ? failure_raise(group, MUSTER_ERR_NO_MEMORY)
                                     : MUSTER_ERR_NO_MEMORY;
}

muster_status work_issue(muster_group *group, work_fn fn, const void *arguments, size_t size,
                         muster_work **work)
{
    if (work == NULL && group->queue != NULL) {
        muster_status may = work_handle_may_wait();
        if (may != MUSTER_OK)
            return may;
    }
    muster_work *issued = work_handle_new(group, fn, arguments, size);
    if (issued == NULL)
        return no_memory(group, size);
    if (group->queue != NULL)
        queue_put(group->queue, issued);
    else
        work_run(issued);
    return hand_over(issued, work);
}

/* The gate is shut, maybe only because the end of all is waited for. */
static bool begin_behind_gate(work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool begins = !is_here(queue) && !has_order(queue);
    if (begins)
        begins = (atomic_fetch_or(&queue->gate, GATE_HERE) & GATE_HERE) == 0;
    pthread_mutex_unlock(&queue->lock);
    return begins;
}

static bool begin_here(muster_group *group)
{
    work_queue *queue = group->queue;
    if (queue == NULL || group->device.backend != NULL)
        return false;
    uint32_t now = atomic_load(&queue->gate);
    while ((now & (GATE_HERE | GATE_ORDER)) == 0)
        if (atomic_compare_exchange_weak(&queue->gate, &now, now | GATE_HERE))
            return true;
    return begin_behind_gate(queue);
}

/* Whoever waits for the end of all frees the queue as soon as nothing is at the gate: nothing of it
 * is touched after that is to be seen. */
static void leave_gate(work_queue *queue, uint32_t mark)
{
    /* Waking the group's thread for nothing would cost more than most calls. */
    uint32_t now = atomic_load(&queue->gate);
    while ((now & GATE_ORDER) == 0)
        if (atomic_compare_exchange_weak(&queue->gate, &now, now - mark))
            return;
    pthread_mutex_lock(&queue->lock);
    atomic_fetch_sub(&queue->gate, mark);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

muster_status work_call(muster_group *group, work_fn fn, void *arguments, size_t size)
{
    muster_status status = group->queue != NULL ? work_handle_may_wait() : MUSTER_OK;
    if (status != MUSTER_OK)
        return status;
    if (!begin_here(group))
        return work_issue(group, fn, arguments, size, NULL);
    status = fn(group, arguments);
    leave_gate(group->queue, GATE_HERE);
    return status;
}

muster_status work_call_beside(muster_group *group, work_fn fn, void *arguments)
{
    if (group->queue == NULL)
        return fn(group, arguments);
    atomic_fetch_add(&group->queue->gate, GATE_BESIDE);
    muster_status status = fn(group, arguments);
    leave_gate(group->queue, GATE_BESIDE);
    return status;
}

static void *apart_thread(void *argument)
{
    work_run(argument);
    return NULL;
}

muster_status work_issue_apart(muster_group *group, work_fn fn, const void *arguments, size_t size,
                               muster_work **work)
{
    muster_work *issued = work_handle_new(group, fn, arguments, size);
    if (issued == NULL)
        return no_memory(group, size);
    pthread_t thread;
    queue_count(group->queue, 1);
    int error = thread_start_at(&thread, apart_thread, issued, &group->home);
    if (error != 0) {
        queue_count(group->queue, -1);
        work_handle_release(issued);
        work_handle_release(issued);
        return error_set(MUSTER_ERR_SYSTEM,
                         "can't start a thread for an operation of group '%s' on rank %d: %s",
                         group->name, group->rank, strerror(error));
    }
    pthread_detach(thread);
    return hand_over(issued, work);
}
