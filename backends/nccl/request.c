/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations under way: how they start, and the events that follow them on their streams.
 */
#include "config.h"

#include "request.h"

#include <stdlib.h>

#include "errand.h"
#include "failure.h"

/* ---- events ---- */

/* One to use again, or NULL. */
static cuda_event event_take(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    cuda_event event = comm->num_events > 0 ? comm->events[--comm->num_events] : NULL;
    pthread_mutex_unlock(&comm->lock);
    return event;
}

typedef struct last_errand {
    errand errand; /* first */
    cuda_event event;
} last_errand;

static cuda_error last_run(errand *base)
{
    return base->cuda->event_destroy(((last_errand *)base)->event);
}

static void last_release(errand *base)
{
    free(base);
}

/* Without memory it stays. */
static void event_drop(const muster_comm *comm, cuda_event event)
{
    last_errand *last = calloc(1, sizeof(*last));
    if (last == NULL)
        return;
    *last = (last_errand){.errand = {.cuda = comm->cuda,
                                     .device = comm->device,
                                     .run = last_run,
                                     .release = last_release},
                          .event = event};
    errand_send(&last->errand);
}

static void event_give(muster_comm *comm, cuda_event event)
{
    bool kept = false;
    if (event == NULL)
        return;
    pthread_mutex_lock(&comm->lock);
    if (comm->num_events < comm->room_for_events) {
        comm->events[comm->num_events++] = event;
        kept = true;
    }
    pthread_mutex_unlock(&comm->lock);
    if (!kept)
        event_drop(comm, event);
}

void request_free_events(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->room_for_events = 0;
    pthread_mutex_unlock(&comm->lock);
    while (comm->num_events > 0)
        comm->cuda->event_destroy(comm->events[--comm->num_events]);
}

/* ---- on the device's thread ---- */

static nccl_result cuda_result(job *base, cuda_error error)
{
    base->cuda = error;
    return error == CUDA_OK ? NCCL_SUCCESS : NCCL_UNHANDLED_CUDA_ERROR;
}

static nccl_result request_start(muster_comm *comm, job *base)
{
    muster_request *request = (muster_request *)base;
    if (request->event == NULL) {
        nccl_result made = cuda_result(
            base, comm->cuda->event_create_with_flags(&request->event, CUDA_EVENT_DISABLE_TIMING));
        if (made != NCCL_SUCCESS)
            return made;
    }
    nccl_result result = operation_start(comm, &request->operation);
    base->cuda = request->operation.cuda;
    return result;
}

static nccl_result request_finish(muster_comm *comm, job *base)
{
    muster_request *request = (muster_request *)base;
    nccl_result result = operation_finish(comm, &request->operation);
    base->cuda = request->operation.cuda;
    if (result != NCCL_SUCCESS)
        return result;
    return cuda_result(base,
                       comm->cuda->event_record(request->event, request->operation.call.stream));
}

static void request_free(muster_comm *comm, job *base)
{
    muster_request *request = (muster_request *)base;
    event_give(comm, request->event);
    operation_free(&request->operation);
    free(request);
}

/* ---- starting ---- */

static muster_status request_new(muster_comm *comm, const muster_call *call,
                                 muster_request **request)
{
    muster_request *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a request");
    muster_status status = operation_copy(comm, call, &made->operation);
    if (status != MUSTER_OK) {
        free(made);
        return status;
    }
    made->comm = comm;
    made->event = event_take(comm);
    made->job.what = operation_name(call->operation);
    made->job.start = request_start;
    made->job.finish = request_finish;
    made->job.release = request_free;
    *request = made;
    return MUSTER_OK;
}

static void request_link(muster_comm *comm, muster_request *request)
{
    pthread_mutex_lock(&comm->lock);
    request->next = comm->requests;
    if (request->next != NULL)
        request->next->previous = request;
    comm->requests = request;
    pthread_mutex_unlock(&comm->lock);
}

/* The operation was not started in time. */
static muster_status start_late(muster_comm *comm, const muster_request *request,
                                int64_t timeout_ms)
{
    return failure_timeout(
        comm, false,
        "NCCL has not started %s on device %d within %lld ms; another rank has "
        "not called it, or has stopped (NCCL does not tell which), or CUDA hangs",
        request->job.what, comm->device, (long long)timeout_ms);
}

static muster_status refused(muster_comm *comm, const muster_request *request)
{
    bool fatal;
    muster_status status = job_error(comm, &request->job, &fatal);
    if (fatal)
        failure_break(comm, false, status, "%s was refused by NCCL before", request->job.what);
    return status;
}

muster_status comm_call(muster_comm *comm, const muster_call *call, muster_request **request)
{
    muster_request *made = NULL;
    muster_status status = request_new(comm, call, &made);
    if (status != MUSTER_OK)
        return status;
    int64_t timeout_ms = operation_timeout(comm, call);
    job_end ended = job_run(comm, &made->job, deadline_in(timeout_ms), NULL);
    if (ended == JOB_END_DONE && made->job.result == NCCL_SUCCESS) {
        request_link(comm, made);
        *request = made;
        return MUSTER_OK;
    }
    status = ended == JOB_END_DONE   ? refused(comm, made)
             : ended == JOB_END_LATE ? start_late(comm, made, timeout_ms)
                                     : failure_error(comm);
    job_unref(comm, &made->job);
    return status;
}

/* ---- letting go ---- */

void request_let_go(muster_comm *comm, muster_request *request)
{
    pthread_mutex_lock(&comm->lock);
    if (request->previous != NULL)
        request->previous->next = request->next;
    else
        comm->requests = request->next;
    if (request->next != NULL)
        request->next->previous = request->previous;
    pthread_mutex_unlock(&comm->lock);
    job_unref(comm, &request->job);
}

void request_release_all(muster_comm *comm)
{
    while (comm->requests != NULL)
        request_let_go(comm, comm->requests);
}

/* Their events belong to a runtime that the child of fork can't use. */
void request_forget_all(muster_comm *comm)
{
    while (comm->requests != NULL) {
        muster_request *next = comm->requests->next;
        operation_free(&comm->requests->operation);
        free(comm->requests);
        comm->requests = next;
    }
}
