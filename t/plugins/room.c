/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mailboxes of ranks that are threads of one process.
 */
#include "room.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t rooms_lock = PTHREAD_MUTEX_INITIALIZER;
static room *rooms;
static uint64_t rooms_made;

static void room_init_locks(room *made)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&made->lock, NULL);
}

room *room_make(int num_ranks)
{
    room *made = calloc(1, sizeof(*made));
    char *left = calloc((size_t)num_ranks, 1);
    if (made == NULL || left == NULL) {
        free(made);
        free(left);
        return NULL;
    }
    room_init_locks(made);
    made->num_ranks = made->users = num_ranks;
    made->left = left;
    made->aborted = -1;
    pthread_mutex_lock(&rooms_lock);
    made->number = ++rooms_made;
    made->next = rooms;
    rooms = made;
    pthread_mutex_unlock(&rooms_lock);
    return made;
}

room *room_find(uint64_t number, int num_ranks)
{
    pthread_mutex_lock(&rooms_lock);
    room *found = rooms;
    while (found != NULL && (found->number != number || found->num_ranks != num_ranks))
        found = found->next;
    pthread_mutex_unlock(&rooms_lock);
    return found;
}

static void room_free(room *shared)
{
    for (message *sent; (sent = shared->messages) != NULL;) {
        shared->messages = sent->next;
        free(sent);
    }
    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->changed);
    free(shared->left);
    free(shared);
}

/* Frees the receives of the rank that nobody has waited for. */
static void room_drop_receives(room *shared, int rank)
{
    for (muster_request **link = &shared->receives; *link != NULL;) {
        muster_request *request = *link;
        if (request->where.to != rank) {
            link = &request->next;
            continue;
        }
        *link = request->next;
        free(request);
    }
}

void room_leave(room *shared, int rank)
{
    pthread_mutex_lock(&rooms_lock); /* held throughout, so that the last one to leave is alone */
    pthread_mutex_lock(&shared->lock);
    shared->left[rank] = 1;
    room_drop_receives(shared, rank);
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    room **link = &rooms;
    if (--shared->users == 0) {
        while (*link != shared)
            link = &(*link)->next;
        *link = shared->next;
        room_free(shared);
    }
    pthread_mutex_unlock(&rooms_lock);
}

static bool room_same(address a, address b)
{
    return a.from == b.from && a.to == b.to && a.slot == b.slot;
}

static void room_serve(muster_request *request, const void *data, size_t size)
{
    request->mismatch = size != request->size;
    if (!request->mismatch)
        memcpy(request->data, data, size);
    request->done = true;
}

bool room_send(room *shared, address where, const void *data, size_t size)
{
    for (muster_request **link = &shared->receives; *link != NULL; link = &(*link)->next)
        if (room_same((*link)->where, where)) {
            muster_request *request = *link;
            *link = request->next;
            room_serve(request, data, size);
            pthread_cond_broadcast(&shared->changed);
            return true;
        }
    message *copy = malloc(sizeof(*copy) + size);
    if (copy == NULL)
        return false;
    copy->next = NULL;
    copy->where = where;
    copy->size = size;
    memcpy(copy->bytes, data, size);
    message **end = &shared->messages;
    while (*end != NULL)
        end = &(*end)->next;
    *end = copy;
    return true;
}

void room_receive(room *shared, muster_request *request)
{
    for (message **link = &shared->messages; *link != NULL; link = &(*link)->next)
        if (room_same((*link)->where, request->where)) {
            message *sent = *link;
            *link = sent->next;
            room_serve(request, sent->bytes, sent->size);
            free(sent);
            return;
        }
    muster_request **end = &shared->receives;
    while (*end != NULL)
        end = &(*end)->next;
    *end = request;
}

void room_forget(room *shared, const muster_request *request)
{
    for (muster_request **link = &shared->receives; *link != NULL; link = &(*link)->next)
        if (*link == request) {
            *link = request->next;
            return;
        }
}
