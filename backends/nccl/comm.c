/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making, breaking off, closing and freeing a communicator.
 */
#include "config.h"

#include "comm.h"

#include <stdlib.h>

#include "base/thread.h"
#include "failure.h"
#include "job.h"
#include "keeper.h"
#include "request.h"

/* How long close waits; what takes longer goes on without it. */
enum { CLOSE_MS = 900 };

static void comm_free(muster_comm *comm)
{
    pthread_mutex_destroy(&comm->lock);
    pthread_cond_destroy(&comm->changed);
    free(comm->label);
    free(comm);
}

void comm_unref(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool last = --comm->refs == 0;
    pthread_mutex_unlock(&comm->lock);
    if (last)
        comm_free(comm);
}

static void comm_fill(muster_comm *comm, muster_comm_owner *core, const muster_open_args *args)
{
    comm->core = core;
    comm->rank = args->rank;
    comm->size = args->num_ranks;
    comm->device = args->device;
    comm->timeout_ms = args->timeout_ms;
    comm->room_for_events = COMM_EVENTS;
    comm->refs = 1;
    comm->member.step = job_step;
    comm->member.late = keeper_late;
    pthread_mutex_init(&comm->lock, NULL);
    thread_condition_init(&comm->changed);
}

muster_status comm_new(muster_comm_owner *core, const muster_open_args *args, const nccl_api *nccl,
                       const cuda_api *cuda, muster_comm **comm)
{
    muster_comm *made = calloc(1, sizeof(*made));
    owner *thread = owner_of(cuda, args->device);
    if (made == NULL || thread == NULL) {
        free(made);
        return nccl_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator");
    }
    comm_fill(made, core, args);
    made->nccl = nccl;
    made->cuda = cuda;
    made->thread = thread;
    muster_status status = owner_join(thread, &made->member);
    if (status != MUSTER_OK) {
        comm_free(made);
        return status;
    }
    status = keeper_start(made);
    if (status != MUSTER_OK) {
        owner_leave(&made->member, deadline_in(INT64_MAX));
        owner_done(thread);
        comm_free(made);
        return status;
    }
    *comm = made;
    return MUSTER_OK;
}

void comm_abort(muster_comm *comm)
{
    failure_break(comm, false, MUSTER_ERR_FAILED, "the group was broken off on this rank");
}

void comm_close(muster_comm *comm)
{
    deadline end = deadline_in(CLOSE_MS);
    /* The memory of operations that nobody has waited for is about to be freed. */
    if (!request_all_complete(comm))
        failure_break(comm, false, MUSTER_ERR_FAILED, "the group was freed on this rank");
    request_release_all(comm);
    pthread_mutex_lock(&comm->lock);
    comm->closing = true;
    pthread_cond_broadcast(&comm->changed);
    while (comm->reporting)
        pthread_cond_wait(&comm->changed, &comm->lock);
    while (!comm->tidy && thread_wait(&comm->changed, &comm->lock, end))
        ;
    bool busy = comm->ended && !comm->tidy;
    pthread_mutex_unlock(&comm->lock);
    if (busy)
        nccl_host->log(MUSTER_LOG_WARNING,
                       "memory of device %d is not given back while the device is busy; that goes "
                       "on in the background",
                       comm->device);
    comm_unref(comm);
}

/* The child of fork has neither the threads nor the use of the device. What one of them was busy
 * with at that moment stays as it is. */
void comm_forget(muster_comm *comm)
{
    if (pthread_mutex_trylock(&comm->lock) != 0)
        return;
    pthread_mutex_unlock(&comm->lock);
    request_forget_all(comm);
    free(comm->label);
    free(comm);
}

const char *comm_describe(muster_comm *comm)
{
    return comm->description;
}
