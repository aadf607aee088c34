/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks.
 */
#include "config.h"

#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

#include "note.h"

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
    /* A wait that fails resets its connection, so the others are told before any does. */
    note_tell_failure(comm);
    wake_all(comm);
}

void failure_break_if_overdue(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    int peer = -1;
    size_t size = 0;
    for (muster_request *request = comm->requests; request != NULL; request = request->next)
        if (request->waited_for && deadline_left_ms(request->end) == 0) {
            peer = request->peer;
            size = request->size;
        }
    pthread_mutex_unlock(&comm->lock);
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
