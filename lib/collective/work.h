/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations as they run: a queue for each group with one thread that takes them in order, and the
 * handles that callers wait on.
 */
#ifndef MUSTER_LIB_WORK_H
#define MUSTER_LIB_WORK_H

#include "muster.h"

/* What an operation does; the sentence of its failure is the running thread's last error. Arguments
 * are copied in and freed after the run. */
typedef muster_status (*work_fn)(muster_group *group, void *arguments);

typedef struct work_queue work_queue;

/* Starts the thread, which blocks all signals. */
muster_status work_queue_start(work_queue **queue, muster_group *group);

/* Waits until every operation has ended; false after timeout_ms. */
bool work_queue_drain(work_queue *queue, int64_t timeout_ms);

/* Whether its thread is in an operation: others, which wait for none, have threads of their own. */
bool work_queue_busy(work_queue *queue);

/* Ends the thread and frees the queue, which has been drained. NULL does nothing. */
void work_queue_stop(work_queue *queue);

/* After fork, in the child: frees the memory alone. */
void work_queue_forget(work_queue *queue);

/*
 * For an operation that runs on the group's thread and has been started, but goes on without it:
 * the thread takes the next one, and finish(group, token) is called on another thread, in the order
 * of the operations; what it returns is what comes of this one. Called last in its fn, which then
 * returns MUSTER_OK. False where that can't be had, and the operation is to finish by itself.
 */
typedef muster_status (*work_finish)(muster_group *group, void *token);
bool work_finish_later(muster_group *group, work_finish finish, void *token);

/*
 * Runs fn on the group's thread behind all that was issued before, with a copy of the size bytes at
 * arguments. work NULL waits for it; otherwise *work is its handle. A group without a queue, which
 * is one of one rank, runs it here and now.
 */
muster_status work_issue(muster_group *group, work_fn fn, const void *arguments, size_t size,
                         muster_work **work);

/*
 * Runs fn and waits for it. Where nothing of the group is issued or runs the calling thread takes
 * the place of the group's, which saves waking it; what others issue meanwhile comes behind it.
 * Groups with a device have all their operations on the group's thread. fn leaves the thread's last
 * error as it was where it succeeds.
 */
muster_status work_call(muster_group *group, work_fn fn, void *arguments, size_t size);

/* Runs fn on the calling thread, beside whatever else of the group runs: for what must not wait for
 * its operations. The queue counts as busy for work_queue_drain() meanwhile. */
muster_status work_call_beside(muster_group *group, work_fn fn, void *arguments);

/* Runs fn on a thread of its own, for what must not wait for other operations of the group. */
muster_status work_issue_apart(muster_group *group, work_fn fn, const void *arguments, size_t size,
                               muster_work **work);

#endif
