/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Posting and waiting, and how a communicator breaks.
 */
#include "sockets.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void message_add(muster_comm *comm, muster_request *message)
{
    message->before = comm->last;
    if (comm->last != NULL)
        comm->last->after = message;
    else
        comm->first = message;
    comm->last = message;
}

void message_remove(muster_comm *comm, muster_request *message)
{
    if (message->before != NULL)
        message->before->after = message->after;
    else
        comm->first = message->after;
    if (message->after != NULL)
        message->after->before = message->before;
    else
        comm->last = message->before;
    free(message);
}

muster_request *message_find(const muster_comm *comm, direction direction, int peer, uint64_t slot)
{
    for (muster_request *one = comm->first; one != NULL; one = one->after) {
        if (one->direction != direction || one->peer != peer)
            continue;
        if (direction == OUT ? !one->done : one->slot == slot && (direction == KEPT || !one->moved))
            return one;
    }
    return NULL;
}

void sockets_break(muster_comm *comm, muster_status status, muster_status untold, int cause,
                   const char *format, ...)
{
    va_list arguments;
    if (comm->status != MUSTER_OK)
        return;
    comm->status = status;
    comm->untold = untold;
    comm->cause = cause;
    va_start(arguments, format);
    vsnprintf(comm->sentence, sizeof(comm->sentence), format, arguments);
    va_end(arguments);
    pthread_cond_broadcast(&comm->changed);
    thread_ring(comm); /* the other ranks are to be told */
}

void sockets_abort(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    sockets_break(comm, MUSTER_ERR_FAILED, MUSTER_OK, comm->rank,
                  "rank %d has broken the group off", comm->rank);
    pthread_mutex_unlock(&comm->lock);
}

/* Where the communicator is broken nothing is posted; where the peer has left, nothing but for what
 * it has sent before. */
static muster_status post(muster_comm *comm, muster_request message, const muster_request *kept,
                          muster_request **request)
{
    if (comm->status != MUSTER_OK)
        return sockets_host->error(comm->status, "%s", comm->sentence);
    if (comm->peers[message.peer].left && kept == NULL)
        return sockets_host->error(MUSTER_ERR_PEER_LOST, "rank %d has left the group",
                                   message.peer);
    muster_request *posted = malloc(sizeof(*posted));
    if (posted == NULL)
        return sockets_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a message");
    *posted = message;
    message_add(comm, posted);
    *request = posted;
    return MUSTER_OK;
}

muster_status sockets_post_send(muster_comm *comm, int number, uint64_t slot, const void *data,
                                size_t size, muster_request **request)
{
    muster_request message = {
        .direction = OUT, .peer = number, .slot = slot, .data = (char *)data, .size = size};
    pthread_mutex_lock(&comm->lock);
    muster_status status = post(comm, message, NULL, request);
    if (status == MUSTER_OK)
        thread_put(comm, number); /* what goes at once need not wait for the thread */
    if (status == MUSTER_OK && !(*request)->done)
        thread_ring(comm);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

/* What has come of it before it was asked for; the rest comes to its new place. */
static void take_over(muster_comm *comm, muster_request *kept, muster_request *request)
{
    peer *peer = &comm->peers[request->peer];
    if (kept->size == request->size) {
        memcpy(request->data, kept->data, kept->moved);
        request->moved = kept->moved;
        request->done = kept->done;
        if (peer->arriving == kept)
            peer->arriving = request;
        message_remove(comm, kept);
    } else {
        sockets_break(comm, MUSTER_ERR_FAILED, MUSTER_OK, comm->rank,
                      "rank %d has sent %zu bytes where %zu are expected", request->peer,
                      kept->size, request->size);
    }
}

muster_status sockets_post_recv(muster_comm *comm, int number, uint64_t slot, void *data,
                                size_t size, muster_request **request)
{
    muster_request message = {
        .direction = IN, .peer = number, .slot = slot, .data = data, .size = size};
    pthread_mutex_lock(&comm->lock);
    muster_request *kept = message_find(comm, KEPT, number, slot);
    muster_status status = post(comm, message, kept, request);
    if (status == MUSTER_OK && kept != NULL)
        take_over(comm, kept, *request);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

/* Why a message with this rank is not waited for any longer. */
static muster_status give_up(muster_comm *comm, int number)
{
    if (comm->peers[number].left) {
        sockets_break(comm, MUSTER_ERR_PEER_LOST, MUSTER_OK, comm->rank,
                      "rank %d has left the group", number);
        return MUSTER_ERR_PEER_LOST;
    }
    sockets_break(comm, MUSTER_ERR_FAILED, MUSTER_OK, comm->rank,
                  "rank %d has waited too long for a message with rank %d", comm->rank, number);
    return MUSTER_ERR_TIMEOUT;
}

/* Where the communicator is broken no message is complete, wherever its bytes are. */
muster_status sockets_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    uint64_t end_ns = sockets_time(timeout_ms);
    struct timespec end = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};
    const peer *peer = &comm->peers[request->peer];
    bool in_time = true;
    pthread_mutex_lock(&comm->lock);
    while (comm->status == MUSTER_OK && !request->done && !peer->left && in_time)
        in_time = pthread_cond_timedwait(&comm->changed, &comm->lock, &end) != ETIMEDOUT;
    muster_status status = comm->status;
    if (status == MUSTER_OK && !request->done)
        status = give_up(comm, request->peer);
    if (status != MUSTER_OK)
        sockets_host->error(status, "%s", comm->sentence);
    message_remove(comm, request);
    pthread_mutex_unlock(&comm->lock);
    return status;
}
