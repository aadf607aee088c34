/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks.
 */
#include "config.h"

#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "note.h"

/* A peer that is waited for though the time for it is over, or -1; size is the message's. */
static int find_overdue(muster_comm *comm, size_t *size)
{
    int peer = -1;
    pthread_mutex_lock(&comm->lock);
    for (muster_request *request = comm->requests; request != NULL; request = request->next)
        if (request->waited_for && deadline_left_ms(request->end) == 0) {
            peer = request->peer;
            if (size != NULL)
                *size = request->size;
        }
    pthread_mutex_unlock(&comm->lock);
    return peer;
}

/* Keeps the cause if it is the first; then the caller has to tell the others. */
static bool keep_cause(muster_comm *comm, muster_status cause, int rank, const char *format,
                       va_list arguments)
{
    pthread_mutex_lock(&comm->lock);
    bool first = !comm->broken;
    if (first) {
        comm->broken = true;
        comm->cause = cause;
        comm->cause_rank = rank;
        vsnprintf(comm->cause_text, sizeof(comm->cause_text), format, arguments);
        comm->telling = true;
    }
    pthread_mutex_unlock(&comm->lock);
    return first;
}

bool failure_is_closed(muster_comm *comm, int peer)
{
    /* Found by posting a message that nobody receives. */
    gloo_c_why why;
    return gloo_c_send(comm->probe_buffer, peer, SLOT_PROBE, 0, 1, &why) != GLOO_C_OK;
}

static void suspect(muster_comm *comm, int peer)
{
    pthread_mutex_lock(&comm->lock);
    comm_peer *it = &comm->peers[peer];
    it->suspect = !it->note_read && !it->left;
    pthread_mutex_unlock(&comm->lock);
}

/* What a peer has told came before its connection was closed. Where a wait's time is over Gloo has
 * closed them all, which says nothing of anybody. */
static void find_suspects(muster_comm *comm, int blamed)
{
    bool overdue = find_overdue(comm, NULL) >= 0;
    for (int peer = 0; peer < comm->size; peer++) {
        if (peer == comm->rank || (peer != blamed && (overdue || !failure_is_closed(comm, peer))))
            continue;
        note_read(comm, peer);
        suspect(comm, peer);
    }
}

bool failure_suspects(muster_comm *comm, int peer)
{
    failure_await_told(comm);
    pthread_mutex_lock(&comm->lock);
    bool suspected = comm->peers[peer].suspect;
    pthread_mutex_unlock(&comm->lock);
    return suspected;
}

/* The others have been told. */
static void wake_all(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->telling = false;
    pthread_cond_broadcast(&comm->told);
    for (muster_request *request = comm->requests; request != NULL; request = request->next)
        gloo_c_stop(request->buffer);
    pthread_mutex_unlock(&comm->lock);
}

void failure_break(muster_comm *comm, muster_status cause, int rank, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool first = keep_cause(comm, cause, rank, format, arguments);
    va_end(arguments);
    if (!first)
        return;
    if (cause == MUSTER_ERR_PEER_LOST)
        find_suspects(comm, rank);
    /* A wait that fails resets its connection, so the others are told before any does. */
    note_tell_failure(comm);
    wake_all(comm);
}

void failure_break_if_overdue(muster_comm *comm)
{
    size_t size = 0;
    int peer = find_overdue(comm, &size);
    if (peer >= 0)
        failure_break(comm, MUSTER_ERR_TIMEOUT, peer,
                      "timed out waiting for rank %d to take part in a message of %zu bytes", peer,
                      size);
}

void failure_await_told(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    while (comm->telling)
        pthread_cond_wait(&comm->told, &comm->lock);
    pthread_mutex_unlock(&comm->lock);
}

bool failure_is_broken(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool broken = comm->broken;
    pthread_mutex_unlock(&comm->lock);
    return broken;
}

muster_status failure_error(const muster_comm *comm)
{
    muster_status status =
        comm->cause == MUSTER_ERR_PEER_LOST ? MUSTER_ERR_PEER_LOST : MUSTER_ERR_FAILED;
    return gloo_host->error(status, "%s", comm->cause_text);
}
