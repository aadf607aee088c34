/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks of one group of the rigged backend share: messages on their way, receives that
 * wait for one, and who has left.
 */
#ifndef MUSTER_T_PLUGINS_ROOM_H
#define MUSTER_T_PLUGINS_ROOM_H

#include <pthread.h>

#include "muster/backend.h"

/* Between which ranks, and in which slot. */
typedef struct address {
    int from, to;
    uint64_t slot;
} address;

typedef struct message {
    struct message *next;
    address where;
    size_t size;
    char bytes[];
} message;

/* A send is done when it is posted; a receive waits in its room. */
struct muster_request {
    muster_request *next;
    address where;
    void *data;
    size_t size;
    bool done;
    bool mismatch; /* the sender's size was another */
};

typedef struct room {
    struct room *next;
    uint64_t number;
    int num_ranks;
    int users; /* ranks that have not left */
    pthread_mutex_t lock;
    pthread_cond_t changed;   /* of CLOCK_MONOTONIC */
    message *messages;        /* sent and not yet received, in order */
    muster_request *receives; /* posted and not yet served, in order */
    char *left;               /* by rank */
    int aborted;              /* the first rank that did, or -1 */
} room;

/* A room of its own for so many ranks; NULL without memory. */
room *room_make(int num_ranks);

/* The room of that number in this process, or NULL. */
room *room_find(uint64_t number, int num_ranks);

/* The rank leaves; the last one ends the room. */
void room_leave(room *shared, int rank);

/* With the lock held: serve a receive or keep a copy; false without memory. */
bool room_send(room *shared, address where, const void *data, size_t size);

/* With the lock held: serve the receive from what was sent, or let it wait. */
void room_receive(room *shared, muster_request *request);

/* With the lock held: the receive waits no longer. */
void room_forget(room *shared, const muster_request *request);

#endif
