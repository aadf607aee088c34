/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues of requests, in each of which one stands at most.
 */
#ifndef MUSTER_LOCAL_QUEUE_H
#define MUSTER_LOCAL_QUEUE_H

#include "comm.h"

static inline void queue_add(request_queue *queue, muster_request *request)
{
    request->in = queue;
    request->next = NULL;
    request->previous = queue->last;
    if (queue->last != NULL)
        queue->last->next = request;
    else
        queue->first = request;
    queue->last = request;
}

/* From the one that it stands in, if any. */
static inline void queue_remove(muster_request *request)
{
    request_queue *queue = request->in;
    if (queue == NULL)
        return;
    if (request->previous != NULL)
        request->previous->next = request->next;
    else
        queue->first = request->next;
    if (request->next != NULL)
        request->next->previous = request->previous;
    else
        queue->last = request->previous;
    request->in = NULL;
}

#endif
