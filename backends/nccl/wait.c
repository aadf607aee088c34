/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for operations. Whoever waits asks, on his own thread, for the event that follows the
 * operation on its stream. Once the communicator is broken an event proves nothing: an abort ends
 * operations half way.
 */
#include "config.h"

#include <sched.h>

#include "base/thread.h"
#include "device.h"
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

static muster_status await(muster_comm *comm, const muster_request *request, int64_t timeout_ms)
{
    deadline end = deadline_in(timeout_ms);
    int times = 0;
    for (;;) {
        bool broken;
        cuda_error state = look(comm, request, &broken);
        if (broken)
            return failure_error(comm);
        if (state == CUDA_OK)
            return MUSTER_OK;
        if (state != CUDA_ERROR_NOT_READY)
            return ran_badly(comm, request, state);
        if (deadline_left_ms(end) == 0)
            return failure_timeout(comm,
                                   "%s has not ended on device %d within %lld ms; another rank has "
                                   "not called it, or has stopped (NCCL does not tell which)",
                                   request->job.what, comm->device, (long long)timeout_ms);
        pause_before_next_look(comm, &times);
    }
}

muster_status comm_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    muster_status status = device_enter(comm->cuda, comm->device);
    if (status == MUSTER_OK) {
        status = await(comm, request, timeout_ms);
        device_leave(comm->cuda);
    }
    request_let_go(comm, request);
    return status;
}

bool comm_test(muster_comm *comm, muster_request *request)
{
    bool broken = true;
    cuda_error state = CUDA_OK;
    if (device_enter(comm->cuda, comm->device) == MUSTER_OK) {
        state = look(comm, request, &broken);
        device_leave(comm->cuda);
    }
    return broken || state != CUDA_ERROR_NOT_READY;
}

bool request_all_complete(muster_comm *comm)
{
    bool all = true;
    for (muster_request *request = comm->requests; request != NULL && all; request = request->next)
        all = comm_test(comm, request);
    return all;
}
