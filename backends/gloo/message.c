/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages: posting one, and waiting for it.
 */
#include "config.h"

#include "message.h"

#include <stdlib.h>

#include "base/signals.h"
#include "failure.h"
#include "note.h"

/* The lock is held. */
static void request_link(muster_comm *comm, muster_request *request)
{
    request->next = comm->requests;
    if (request->next != NULL)
        request->next->previous = request;
    comm->requests = request;
}

static void request_free(muster_comm *comm, muster_request *request)
{
    pthread_mutex_lock(&comm->lock);
    if (request->previous != NULL)
        request->previous->next = request->next;
    else
        comm->requests = request->next;
    if (request->next != NULL)
        request->next->previous = request->previous;
    pthread_mutex_unlock(&comm->lock);
    gloo_c_buffer_free(request->buffer);
    free(request);
}

void message_free_all(muster_comm *comm)
{
    while (comm->requests != NULL)
        request_free(comm, comm->requests);
}

/* Makes the request known, so that whoever breaks the communicator stops it. */
static muster_status request_admit(muster_comm *comm, muster_request *request)
{
    muster_status status = MUSTER_OK;
    pthread_mutex_lock(&comm->lock);
    if (comm->broken)
        status = failure_error(comm);
    else if (comm->peers[request->peer].left)
        status =
            gloo_host->error(MUSTER_ERR_PEER_LOST, "rank %d has left the group", request->peer);
    else
        request_link(comm, request);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

/* Gloo has refused a message. */
static muster_status post_error(muster_comm *comm, int peer, gloo_c_status got,
                                const gloo_c_why *why)
{
    if (got != GLOO_C_IO)
        return comm_error(got, why, "posting a message");
    note_read_all(comm);
    failure_break_if_overdue(comm);
    if (note_peer_left(comm, peer))
        return gloo_host->error(MUSTER_ERR_PEER_LOST, "rank %d has left the group", peer);
    failure_break(comm, MUSTER_ERR_PEER_LOST, peer, "the connection to rank %d was closed: %s",
                  peer, why->text);
    pthread_mutex_lock(&comm->lock);
    muster_status status = failure_error(comm);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

static gloo_c_status hand_to_gloo(muster_request *request, uint64_t slot, gloo_c_why *why)
{
    signals before;
    signals_block(&before, SIGPIPE);
    gloo_c_status got =
        request->send ? gloo_c_send(request->buffer, request->peer, slot, 0, request->size, why)
                      : gloo_c_recv(request->buffer, request->peer, slot, 0, request->size, why);
    signals_restore(&before);
    return got;
}

static muster_status post(muster_comm *comm, uint64_t slot, void *data, muster_request wanted,
                          muster_request **posted)
{
    if (slot >= SLOT_FIRST_RESERVED)
        return gloo_host->error(MUSTER_ERR_UNSUPPORTED,
                                "slot %llu is one of the gloo backend's own",
                                (unsigned long long)slot);
    muster_request *request = malloc(sizeof(*request));
    if (request == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a request");
    *request = wanted;
    gloo_c_why why;
    gloo_c_status got =
        gloo_c_buffer_new(comm->context, data, request->size, &request->buffer, &why);
    if (got != GLOO_C_OK) {
        free(request);
        return comm_error(got, &why, "preparing a message");
    }
    muster_status status = request_admit(comm, request);
    if (status != MUSTER_OK) {
        gloo_c_buffer_free(request->buffer);
        free(request);
        return status;
    }
    got = hand_to_gloo(request, slot, &why);
    if (got != GLOO_C_OK) {
        int peer = request->peer;
        request_free(comm, request);
        return post_error(comm, peer, got, &why);
    }
    *posted = request;
    return MUSTER_OK;
}

muster_status message_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                size_t size, muster_request **request)
{
    muster_request wanted = {.peer = peer, .send = true, .size = size};
    return post(comm, slot, (void *)(uintptr_t)data, wanted, request);
}

muster_status message_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data, size_t size,
                                muster_request **request)
{
    muster_request wanted = {.peer = peer, .send = false, .size = size};
    return post(comm, slot, data, wanted, request);
}

/* Finds out why a wait has failed, from what is known here first and from Gloo's words last, and
 * breaks the communicator for it. */
static void judge(muster_comm *comm, const muster_request *request, gloo_c_status got,
                  const gloo_c_why *why)
{
    const char *doing = request->send ? "a send to" : "a receive from";
    note_read_all(comm);
    if (got == GLOO_C_IO)
        failure_break_if_overdue(comm);
    if (got != GLOO_C_IO)
        failure_break(comm, MUSTER_ERR_INTERNAL, -1, "%s rank %d failed inside Gloo: %s", doing,
                      request->peer, why->text);
    else if (note_peer_left(comm, request->peer))
        failure_break(comm, MUSTER_ERR_PEER_LOST, request->peer,
                      "rank %d has left the group while %s it was open", request->peer, doing);
    else
        failure_break(comm, MUSTER_ERR_PEER_LOST, request->peer,
                      "the connection to rank %d was closed during %s it: %s", request->peer, doing,
                      why->text);
}

/* The wait has failed: its sentence, and the caller's memory back for good. */
static muster_status give_up(muster_comm *comm, const muster_request *request, gloo_c_status got,
                             const gloo_c_why *why)
{
    if (got != GLOO_C_STOPPED)
        judge(comm, request, got, why);
    pthread_mutex_lock(&comm->lock);
    bool mine = comm->cause == MUSTER_ERR_TIMEOUT && deadline_left_ms(request->end) == 0;
    muster_status status = failure_error(comm);
    pthread_mutex_unlock(&comm->lock);

    failure_await_told(comm);
    gloo_c_pair_close(comm->context, request->peer);
    return mine ? MUSTER_ERR_TIMEOUT : status;
}

static gloo_c_status wait_for(const muster_request *request, gloo_c_why *why)
{
    int64_t left = deadline_left_ms(request->end);
    return request->send ? gloo_c_wait_send(request->buffer, left, why)
                         : gloo_c_wait_recv(request->buffer, left, why);
}

muster_status message_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    pthread_mutex_lock(&comm->lock);
    request->end = deadline_in(timeout_ms);
    request->waited_for = true;
    bool broken = comm->broken;
    pthread_mutex_unlock(&comm->lock);

    gloo_c_why why = {""};
    gloo_c_status got = broken ? GLOO_C_STOPPED : wait_for(request, &why);
    muster_status status = got == GLOO_C_OK ? MUSTER_OK : give_up(comm, request, got, &why);
    request_free(comm, request);
    return status;
}
