/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How NCCL's communicator ends.
 */
#include "config.h"

#include "ending.h"

#include "base/thread.h"
#include "job.h"
#include "pause.h"
#include "request.h"
#include "scratch.h"

/* The others may still be at work that needs this rank no more, and finalize waits for them: as
 * long as the group would wait, but not for hours. */
enum { FINALIZE_LONGEST_MS = 60000 };

static bool is_healthy(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool healthy = !comm->broken && comm->jobs == NULL;
    pthread_mutex_unlock(&comm->lock);
    return healthy;
}

/* An abort on another rank may show as an error here, which is not one any more. */
static nccl_result await_finalized(muster_comm *comm)
{
    deadline end = deadline_in(comm->timeout_ms < FINALIZE_LONGEST_MS ? comm->timeout_ms
                                                                      : FINALIZE_LONGEST_MS);
    nccl_result state = NCCL_IN_PROGRESS;
    int times = 0;
    while (comm->nccl->comm_get_async_error(comm->handle, &state) == NCCL_SUCCESS &&
           state == NCCL_IN_PROGRESS && deadline_left_ms(end) > 0)
        pause_before_next(&times);
    return state;
}

static bool is_finalized(muster_comm *comm)
{
    nccl_result result = comm->nccl->comm_finalize(comm->handle);
    if (result == NCCL_SUCCESS || result == NCCL_IN_PROGRESS)
        result = await_finalized(comm);
    return result == NCCL_SUCCESS;
}

static void *run_abort(void *argument)
{
    muster_comm *comm = argument;
    comm->cuda->set_device(comm->device);
    comm->nccl->comm_abort(comm->handle);
    return NULL;
}

/* NCCL may have left this thread inside a group, when it refused to destroy: then nothing that is
 * asked on it is ever done. Without another thread the communicator is left alone. */
static void abort_elsewhere(muster_comm *comm)
{
    pthread_t thread;
    if (thread_start(&thread, run_abort, comm) == 0)
        pthread_join(thread, NULL);
}

static void free_rest(muster_comm *comm)
{
    comm->handle = NULL;
    job_drop_all(comm);
    request_free_events(comm);
    scratch_free_all(comm);
}

void ending_abort(muster_comm *comm)
{
    if (comm->handle != NULL) {
        owner_abort_begin(comm->thread);
        comm->nccl->comm_abort(comm->handle);
        owner_abort_end(comm->thread);
    }
    free_rest(comm);
}

void ending_run(muster_comm *comm)
{
    if (comm->handle == NULL || !is_healthy(comm) || !is_finalized(comm)) {
        ending_abort(comm);
        return;
    }
    if (comm->nccl->comm_destroy(comm->handle) != NCCL_SUCCESS)
        abort_elsewhere(comm);
    free_rest(comm);
}
