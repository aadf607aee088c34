/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening, breaking off, closing and freeing a communicator.
 */
#include "config.h"

#include "comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "birth.h"
#include "breach.h"
#include "carry.h"
#include "watch.h"

segment_cell *comm_cell(const muster_comm *comm, int rank)
{
    return segment_at_cell(&comm->memory, rank);
}

static muster_status comm_new(muster_comm_owner *owner, const muster_open_args *args,
                              muster_comm **made)
{
    muster_comm *comm = calloc(1, sizeof(*comm));
    comm_peer *peers = calloc((size_t)args->num_ranks, sizeof(*peers));
    if (comm == NULL || peers == NULL) {
        free(comm);
        free(peers);
        return local_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator of %d ranks",
                                 args->num_ranks);
    }
    comm->owner = owner;
    comm->rank = args->rank;
    comm->size = args->num_ranks;
    comm->timeout_ms = args->timeout_ms;
    comm->peers = peers;
    pthread_mutex_init(&comm->lock, NULL);
    pthread_cond_init(&comm->settled, NULL);
    *made = comm;
    return MUSTER_OK;
}

static void comm_free(muster_comm *comm)
{
    hall_close(comm->hall);
    carry_free(comm);
    segment_unmap(&comm->memory);
    pthread_mutex_destroy(&comm->lock);
    pthread_cond_destroy(&comm->settled);
    free(comm->peers);
    free(comm);
}

muster_status comm_open(muster_comm_owner *owner, const muster_open_args *args, muster_comm **comm)
{
    muster_comm *made = NULL;
    muster_status status = comm_new(owner, args, &made);
    if (status != MUSTER_OK)
        return status;
    if (made->size == 1)
        snprintf(made->description, sizeof(made->description), "one rank, nothing to move");
    else
        status = birth(made, args);
    if (status == MUSTER_OK)
        *comm = made;
    else
        comm_free(made);
    return status;
}

void comm_abort(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->aborted = true;
    pthread_mutex_unlock(&comm->lock);
    breach_make(comm, MUSTER_ERR_FAILED, -1, 0, "the group was broken off on this rank");
}

/* Others may wait for this rank in vain from now on. */
static void leave(muster_comm *comm)
{
    uint32_t present = SEGMENT_PRESENT;
    atomic_store(&comm_cell(comm, comm->rank)->operations, comm->operations);
    if (!atomic_compare_exchange_strong(&comm_cell(comm, comm->rank)->state, &present,
                                        SEGMENT_LEFT))
        return;
    atomic_fetch_add(&segment_at_head(&comm->memory)->gone, 1);
    breach_tell_all(comm);
}

void comm_close(muster_comm *comm)
{
    if (comm->size > 1) {
        /* Messages that nobody has waited for will not be delivered, and the peers must not wait
         * for them. */
        if (comm->newest != NULL)
            comm_abort(comm);
        breach_notice(comm);
        leave(comm);
        watch_leave(comm);
    }
    comm_free(comm);
}

void comm_forget(muster_comm *comm)
{
    comm_free(comm);
}
