/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening, breaking off, closing and freeing a communicator.
 */
#include "config.h"

#include "comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptors.h"
#include "failure.h"
#include "mesh.h"
#include "message.h"
#include "note.h"
#include "reaper.h"
#include "watch.h"

/* How long Gloo waits for a connection that is there already; it waits five times as long. */
enum { STEP_MS = 2000 };

/* A goodbye that the kernel does not take in this time is not worth more. */
enum { GOODBYE_MS = 500, FAILURE_MS = 100 };

/* Gloo's own descriptors beside one for each peer, with some to spare. */
enum { SPARE_DESCRIPTORS = 12 };

muster_status comm_error(gloo_c_status status, const gloo_c_why *why, const char *doing)
{
    muster_status meant = status == GLOO_C_NO_MEMORY   ? MUSTER_ERR_NO_MEMORY
                          : status == GLOO_C_NO_THREAD ? MUSTER_ERR_SYSTEM
                          : status == GLOO_C_IO        ? MUSTER_ERR_PEER_LOST
                                                       : MUSTER_ERR_INTERNAL;
    return gloo_host->error(meant, "%s failed inside Gloo: %s", doing, why->text);
}

muster_status comm_no_thread(const char *purpose, const char *why)
{
    return gloo_host->error(MUSTER_ERR_SYSTEM,
                            "can't start a thread %s: %s; there are too many threads (ulimit -u, "
                            "or the pids of the container), or there is too little memory for its "
                            "stack (ulimit -v)",
                            purpose, why);
}

/* Whether the thread of Gloo is to be scheduled as SCHED_BATCH: where there are not cores enough
 * for it beside the threads of the program. */
static muster_status want_batch(muster_comm *comm, const muster_open_args *args, bool *batch)
{
    const char *asked = gloo_host->option(comm->owner, "gloo.batch");
    if (asked == NULL || strcmp(asked, "auto") == 0)
        *batch = 2 * (int64_t)args->ranks_here > args->cores_here;
    else if (strcmp(asked, "on") == 0 || strcmp(asked, "off") == 0)
        *batch = strcmp(asked, "on") == 0;
    else
        return gloo_host->error(MUSTER_ERR_ARGUMENT, "gloo.batch is '%s': give auto, on or off",
                                asked);
    return MUSTER_OK;
}

static muster_status comm_new(muster_comm_owner *owner, const muster_open_args *args,
                              muster_comm **made)
{
    muster_comm *comm = calloc(1, sizeof(*comm));
    if (comm == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator");
    comm->peers = calloc((size_t)args->num_ranks, sizeof(*comm->peers));
    if (comm->peers == NULL) {
        free(comm);
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for %d ranks", args->num_ranks);
    }
    comm->owner = owner;
    comm->rank = args->rank;
    comm->size = args->num_ranks;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->told, NULL);
    *made = comm;
    return MUSTER_OK;
}

static muster_status comm_prepare(muster_comm *comm, const muster_open_args *args)
{
    bool batch = false;
    muster_status status = want_batch(comm, args, &batch);
    if (status == MUSTER_OK)
        status = device_get(args->address, batch, &comm->device);
    if (status != MUSTER_OK)
        return status;
    snprintf(comm->description, sizeof(comm->description),
             "gloo %s over tcp, %s, batch scheduling %s", gloo_c_version(), args->address,
             batch ? "on" : "off");
    gloo_c_why why;
    gloo_c_status got = gloo_c_context_new(device_handle(comm->device), comm->rank, comm->size,
                                           STEP_MS, &comm->context, &why);
    return got == GLOO_C_OK ? MUSTER_OK : comm_error(got, &why, "making a context");
}

static muster_status comm_build(muster_comm *comm, const muster_open_args *args, deadline end)
{
    descriptors *before = descriptors_now();
    muster_status status = descriptors_reserve(before, (size_t)args->num_ranks + SPARE_DESCRIPTORS);
    if (status == MUSTER_OK)
        status = comm_prepare(comm, args);
    if (status == MUSTER_OK)
        status = mesh_connect(comm, args, end, before);
    descriptors_free(before);
    if (status == MUSTER_OK)
        status = watch_start(comm);
    return status;
}

muster_status comm_open(muster_comm_owner *owner, const muster_open_args *args, muster_comm **comm)
{
    deadline end = deadline_in(args->timeout_ms);
    if (!gloo_c_thread_room())
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a thread of Gloo");
    reaper_catch_up(end);
    muster_comm *made = NULL;
    muster_status status = comm_new(owner, args, &made);
    if (status == MUSTER_OK)
        status = comm_build(made, args, end);
    if (status != MUSTER_OK) {
        if (made != NULL)
            comm_destroy(made);
        return status;
    }
    *comm = made;
    return MUSTER_OK;
}

void comm_abort(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->aborted = true;
    pthread_mutex_unlock(&comm->lock);
    failure_break(comm, MUSTER_ERR_FAILED, -1, "the group was broken off on this rank");
}

void comm_close(muster_comm *comm)
{
    watch_stop(comm);
    /* Messages that nobody has waited for will not be delivered, and the peers must not wait for
     * them. */
    if (comm->requests != NULL)
        comm_abort(comm);
    if (!comm->broken)
        note_tell_goodbye(comm);
    note_flush(comm, comm->broken ? FAILURE_MS : GOODBYE_MS);
    for (muster_request *request = comm->requests; request != NULL; request = request->next)
        gloo_c_pair_close(comm->context, request->peer);
    reaper_give(comm);
}

/* What is not of Gloo. */
static void comm_release(muster_comm *comm)
{
    pthread_mutex_destroy(&comm->lock);
    pthread_cond_destroy(&comm->told);
    free(comm->peers);
    free(comm);
}

void comm_destroy(muster_comm *comm)
{
    if (comm->context != NULL) {
        gloo_c_context_shut(comm->context);
        message_free_all(comm);
        watch_free(comm);
        gloo_c_context_free(comm->context);
    }
    if (comm->device != NULL)
        device_put(comm->device);
    comm_release(comm);
}

void comm_forget(muster_comm *comm)
{
    /* Gloo's objects are left as they are: their destructors would take the parent's sockets out
     * of the epoll that both processes share. */
    while (comm->requests != NULL) {
        muster_request *next = comm->requests->next;
        free(comm->requests);
        comm->requests = next;
    }
    free(comm->peers);
    free(comm);
}
