/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The handle on an operation: shared by the caller and the thread that runs it, and freed by
 * whoever lets go last.
 */
#ifndef MUSTER_LIB_WORK_HANDLE_H
#define MUSTER_LIB_WORK_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/deadline.h"
#include "collective/work.h"

typedef struct work_callback work_callback;
typedef struct work_waiter work_waiter;

struct muster_work {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    atomic_int references;
    pid_t pid;        /* of the process that issued it */
    atomic_bool done; /* written under the lock, with the next two before it */
    muster_status status;
    char *sentence;
    work_callback *callbacks; /* that have not been called yet, the first one first */
    work_waiter *waiters;     /* for any of several */
    muster_group *group;
    work_queue *queue; /* NULL: the group has none */
    work_fn fn;
    work_finish finish; /* where it is to be finished on another thread, with token */
    void *token;
    struct muster_work *next;
    max_align_t arguments[]; /* a copy */
};

/* With a reference for the caller and one for who runs it. NULL where there is no memory. */
muster_work *work_handle_new(muster_group *group, work_fn fn, const void *arguments, size_t size);

void work_handle_release(muster_work *work);

/* It has ended with status, and the thread's last error: calls the callbacks, wakes all that wait.
 */
void work_handle_end(muster_work *work, muster_status status);

/* ---- for the calls on handles ---- */

/* The checks that begin every call. */
muster_status work_handle_enter(const muster_work *work, const char *function);
muster_status work_handle_check_timeout(int64_t timeout_ms, const char *function);
deadline work_handle_deadline(int64_t timeout_ms);

/* The status of an operation that has ended, in the words of the thread that asks. */
muster_status work_handle_outcome(const muster_work *work);

/* The operation that they wait for among others has ended; its lock is held. */
void work_any_wake(work_waiter *waiters);

/* Callbacks that run in this process, on whatever thread. */
extern atomic_int work_handle_callbacks;

/* MUSTER_OK on a thread that is in no callback. */
muster_status work_handle_in_callback(void);

/* MUSTER_OK where a call may wait: not in a callback, which holds up the group. */
static inline muster_status work_handle_may_wait(void)
{
    if (atomic_load_explicit(&work_handle_callbacks, memory_order_relaxed) == 0)
        return MUSTER_OK;
    return work_handle_in_callback();
}

#endif
