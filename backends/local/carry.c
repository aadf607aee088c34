/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Carrying messages.
 */
#include "config.h"

#include "carry.h"

#include <errno.h>
#include <stdlib.h>

#include "bell.h"
#include "breach.h"
#include "inbound.h"
#include "outbound.h"
#include "queue.h"

/* So much is copied from a sender before others have their turn. */
enum { PULL_MOST = 2 << 20 };

void carry_ring(muster_comm *comm, int rank)
{
    bell_ring(comm_cell(comm, rank));
}

/* Some thread waits for it, this one or another. */
void carry_finish(muster_comm *comm, muster_request *request)
{
    request->state = REQUEST_DONE;
    comm->peers[request->peer].interest--;
    carry_ring(comm, comm->rank);
}

/* What could not be read there may still come through the ring. */
static void pull_in_vain(muster_comm *comm, muster_request *request, int error)
{
    comm_peer *it = &comm->peers[request->peer];
    if (error == EPERM || error == ENOSYS || error == EACCES)
        it->direct = false;
    if (error != ESRCH)
        inbound_gather(comm, request);
    /* else it has ended, and the watch says so */
}

static void pull_done(muster_comm *comm, muster_request *request)
{
    comm_peer *it = &comm->peers[request->peer];
    carry_finish(comm, request);
    atomic_fetch_or(&it->in.shared->done, UINT64_C(1) << request->ticket);
    carry_ring(comm, request->peer);
}

bool carry_pull(muster_comm *comm)
{
    muster_request *request = comm->pulls.first;
    if (request == NULL || comm->broken)
        return false;
    process from = comm->peers[request->peer].process;
    size_t size = request->size - request->moved;
    size = size < PULL_MOST ? size : PULL_MOST;
    queue_remove(request);
    request->busy = true;
    pthread_mutex_unlock(&comm->lock);
    bool read =
        process_read(from, request->address + request->moved, request->data + request->moved, size);
    int error = errno;
    pthread_mutex_lock(&comm->lock);
    request->busy = false;
    pthread_cond_broadcast(&comm->settled);
    /* A sender that has given up may have changed it, and has said so before. */
    if (breach_notice_locked(comm))
        return true;
    if (!read)
        pull_in_vain(comm, request, error);
    else if ((request->moved += size) < request->size) {
        queue_add(&comm->pulls, request);
        carry_ring(comm, comm->rank); /* this thread may have what it waits for, and go */
    } else
        pull_done(comm, request);
    return true;
}

muster_status carry_peer(muster_comm *comm, int peer)
{
    comm_peer *it = &comm->peers[peer];
    muster_status status = inbound_take(comm, peer);
    if (it->tickets_taken != 0)
        outbound_hear(comm, it);
    if (outbound_put(comm, it))
        carry_ring(comm, peer);
    return status;
}

muster_status carry_all(muster_comm *comm)
{
    muster_status status = MUSTER_OK;
    for (int peer = 0; peer < comm->size && status == MUSTER_OK; peer++)
        if (comm->peers[peer].interest > 0)
            status = carry_peer(comm, peer);
    return status;
}

muster_status carry_begin(muster_comm *comm, muster_request *request)
{
    comm_peer *it = &comm->peers[request->peer];
    it->interest++;
    request->older = comm->newest;
    if (request->older != NULL)
        request->older->newer = request;
    comm->newest = request;
    if (!request->send)
        return inbound_begin(comm, request);
    queue_add(&it->sends, request);
    return MUSTER_OK;
}

void carry_drop(muster_comm *comm, muster_request *request)
{
    comm_peer *it = &comm->peers[request->peer];
    queue_remove(request);
    if (request->state != REQUEST_DONE)
        it->interest--;
    if (request->send && request->state != REQUEST_DONE && it->offered[request->ticket] == request)
        it->offered[request->ticket] = NULL;
    if (!request->send && it->gathering[request->ticket] == request)
        it->gathering[request->ticket] = NULL;
    if (request->newer != NULL)
        request->newer->older = request->older;
    else
        comm->newest = request->older;
    if (request->older != NULL)
        request->older->newer = request->newer;
}

void carry_free(muster_comm *comm)
{
    while (comm->newest != NULL) {
        muster_request *older = comm->newest->older;
        free(comm->newest);
        comm->newest = older;
    }
    for (int peer = 0; peer < comm->size; peer++)
        inbound_free(&comm->peers[peer]);
}
