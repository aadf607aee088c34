/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The keeper of a communicator.
 *
 * A healthy communicator is finalized, which waits for the other ranks, and then destroyed. One
 * that is in error, or on its way to something, must never be destroyed: NCCL would free nothing.
 * It is aborted.
 */
#include "config.h"

#include "keeper.h"

#include "base/thread.h"
#include "ending.h"
#include "memory_pool.h"

/* Calls of NCCL on a communicator that does not block take microseconds. */
enum { LEAVE_MS = 500 };

/* Waits until there is something to do. */
static void sleep_well(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    while (!comm->broken && !comm->closing)
        pthread_cond_wait(&comm->changed, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
}

static void tell_core(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool report = comm->broken && comm->report && !comm->closing;
    comm->reporting = report;
    pthread_mutex_unlock(&comm->lock);
    if (!report)
        return;
    /* The cause does not change any more. */
    nccl_host->broken(comm->core, -1, comm->cause, comm->cause_text);
    pthread_mutex_lock(&comm->lock);
    comm->reporting = false;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

static void mark_ended(muster_comm *comm, bool stuck)
{
    pthread_mutex_lock(&comm->lock);
    comm->ended = true;
    comm->stuck = stuck;
    comm->tidy = stuck;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
}

/* Giving memory back may take as long as the program keeps the device busy, or for ever. Nobody who
 * waits for an operation waits for it. */
static void tidy_up(muster_comm *comm)
{
    if (owner_done(comm->thread))
        memory_pool_trim(comm->cuda, comm->device);
    pthread_mutex_lock(&comm->lock);
    comm->tidy = true;
    pthread_cond_broadcast(&comm->changed);
    pthread_mutex_unlock(&comm->lock);
    comm_unref(comm);
}

static void *keeper_run(void *argument)
{
    muster_comm *comm = argument;
    sleep_well(comm);
    tell_core(comm);
    if (owner_leave(&comm->member, deadline_in(LEAVE_MS))) {
        comm->cuda->set_device(comm->device);
        ending_run(comm);
        mark_ended(comm, false);
        tidy_up(comm);
    } else {
        mark_ended(comm, true); /* the reference goes over to the thread that is stuck */
    }
    return NULL;
}

void keeper_late(owner_member *member)
{
    muster_comm *comm = (muster_comm *)member;
    ending_abort(comm);
    mark_ended(comm, false);
    tidy_up(comm);
}

muster_status keeper_start(muster_comm *comm)
{
    comm->refs++;
    int error = thread_start(&comm->keeper, keeper_run, comm);
    if (error == 0) {
        pthread_detach(comm->keeper);
        return MUSTER_OK;
    }
    comm->refs--;
    return owner_no_thread("that ends a communicator", error);
}
