/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for operations. Whoever waits has CUDA asked for the event that follows the operation on
 * its stream. Once the communicator is broken an event proves nothing: an abort ends
 * operations half way.
 */
#include "config.h"

#include <sched.h>
#include <stdlib.h>

#include "base/thread.h"
#include "errand.h"
#include "failure.h"
#include "pause.h"
#include "request.h"

static bool is_broken(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool broken = comm->broken;
    pthread_mutex_unlock(&comm->lock);
    return broken;
}

/* CUDA_ERROR_NOT_READY while the operation runs. In this order: see above. */
static cuda_error look(muster_comm *comm, const muster_request *request, bool *broken)
{
    cuda_error state = comm->cuda->event_query(request->event);
    *broken = is_broken(comm);
    return state;
}

/* Sleeps until the next look, or until the communicator breaks. */
static void pause_before_next_look(muster_comm *comm, int *times)
{
    int64_t pause_ns = pause_next_ns(times);
    if (pause_ns == 0) {
        sched_yield();
        return;
    }
    deadline next = {deadline_now_ns() + pause_ns};
    pthread_mutex_lock(&comm->lock);
    while (!comm->broken && thread_wait(&comm->changed, &comm->lock, next))
        ;
    pthread_mutex_unlock(&comm->lock);
}

static muster_status ran_badly(muster_comm *comm, const muster_request *request, cuda_error error)
{
    muster_status status = failure_cuda_error(comm, error, request->job.what);
    failure_break(comm, false, status, "%s failed before on device %d: %s", request->job.what,
                  comm->device, comm->cuda->get_error_string(error));
    return status;
}

/* ---- on another thread, which may not come back ---- */

/* It keeps the request and the communicator. */
typedef struct question {
    errand errand; /* first */
    muster_comm *comm;
    muster_request *request;
    deadline end; /* of asking again and again */
    bool broken;
} question;

static cuda_error question_run(errand *base)
{
    question *me = (question *)base;
    int times = 0;
    cuda_error state = look(me->comm, me->request, &me->broken);
    while (!me->broken && state == CUDA_ERROR_NOT_READY && deadline_left_ms(me->end) > 0) {
        pause_before_next_look(me->comm, &times);
        state = look(me->comm, me->request, &me->broken);
    }
    return state;
}

static void question_release(errand *base)
{
    question *me = (question *)base;
    muster_comm *comm = me->comm;
    job_unref(comm, &me->request->job);
    free(me);
    comm_unref(comm);
}

static question *question_new(muster_comm *comm, muster_request *request, deadline end)
{
    question *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return NULL;
    *made = (question){.errand = {.cuda = comm->cuda,
                                  .device = comm->device,
                                  .run = question_run,
                                  .release = question_release},
                       .comm = comm,
                       .request = request,
                       .end = end};
    pthread_mutex_lock(&comm->lock);
    comm->refs++;
    request->job.refs++;
    pthread_mutex_unlock(&comm->lock);
    return made;
}

/* ---- elsewhere ---- */

static muster_status timed_out(muster_comm *comm, const muster_request *request, int64_t timeout_ms,
                               bool answered)
{
    return failure_timeout(comm, answered, "%s has not ended on device %d within %lld ms; %s",
                           request->job.what, comm->device, (long long)timeout_ms,
                           answered ? "another rank has not called it, or has stopped (NCCL does "
                                      "not tell which)"
                                    : "CUDA does not come back from being asked; the driver hangs");
}

/* How much longer than NCCL CUDA may take to say so. */
enum { GRACE_MS = 300 };

static muster_status await(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    question *asked = question_new(comm, request, deadline_in(timeout_ms));
    if (asked == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory to wait for an operation");
    int64_t patience_ms =
        timeout_ms < DEADLINE_LONGEST_MS ? timeout_ms + GRACE_MS : DEADLINE_LONGEST_MS;
    muster_status status = errand_await(&asked->errand, deadline_in(patience_ms));
    bool answered = status == MUSTER_OK;
    if (status == MUSTER_ERR_TIMEOUT)
        status = timed_out(comm, request, timeout_ms, false);
    else if (answered && asked->broken)
        status = failure_of_wait(comm);
    else if (answered && asked->errand.error == CUDA_ERROR_NOT_READY)
        status = timed_out(comm, request, timeout_ms, true);
    else if (answered && asked->errand.error != CUDA_OK)
        status = ran_badly(comm, request, asked->errand.error);
    errand_unref(&asked->errand);
    return status;
}

muster_status comm_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    muster_status status = await(comm, request, timeout_ms);
    request_let_go(comm, request);
    return status;
}

/* Asks once. False: there is no answer. */
static bool ask(muster_comm *comm, muster_request *request, bool *complete)
{
    question *asked = question_new(comm, request, deadline_in(0));
    if (asked == NULL)
        return false;
    bool answered = errand_await(&asked->errand, deadline_in(GRACE_MS)) == MUSTER_OK;
    if (answered)
        *complete = asked->broken || asked->errand.error != CUDA_ERROR_NOT_READY;
    errand_unref(&asked->errand);
    return answered;
}

/* What can't be asked is taken as complete: waiting for it then says why. */
bool comm_test(muster_comm *comm, muster_request *request)
{
    bool complete = true;
    return !ask(comm, request, &complete) || complete;
}

bool request_all_complete(muster_comm *comm)
{
    bool all = true;
    for (muster_request *request = comm->requests; request != NULL && all; request = request->next)
        all = ask(comm, request, &all) && all;
    return all;
}
