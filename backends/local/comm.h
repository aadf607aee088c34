/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A communicator of ranks of one host: memory that they share, what is known about the others, and
 * the messages on their way.
 */
#ifndef MUSTER_LOCAL_COMM_H
#define MUSTER_LOCAL_COMM_H

#include <pthread.h>

#include "base/deadline.h"
#include "card.h"
#include "hall.h"
#include "muster/backend.h"
#include "ring.h"
#include "segment.h"

/* The core's functions, from probe on. */
extern const muster_host *local_host;

/* As many offers can be on their way from one rank to another: one bit each. */
enum { TICKETS = 64 };

struct watched;

typedef struct request_queue {
    muster_request *first, *last;
} request_queue;

typedef enum request_state {
    REQUEST_POSTED,    /* send: not in the ring yet; receive: nothing has come */
    REQUEST_ANNOUNCED, /* send: the receiver knows that there is one, and may have asked for it */
    REQUEST_ASKING,    /* receive: the sender is to be asked for an offer */
    REQUEST_ASKED,     /* receive: it has been */
    REQUEST_OFFERED,   /* send: the receiver knows where it is */
    REQUEST_PUSHING,   /* send: goes through the ring in pieces */
    REQUEST_PULLING,   /* receive: is copied from the sender's memory */
    REQUEST_GATHERED,  /* receive: comes through the ring in pieces */
    REQUEST_DONE
} request_state;

struct muster_request {
    muster_request *next, *previous;
    request_queue *in;             /* the one that it stands in, or NULL */
    muster_request *older, *newer; /* of all of the communicator */
    int peer;
    bool send;
    bool busy; /* a thread copies for it, without the lock */
    request_state state;
    uint8_t ticket;
    uint64_t slot;
    unsigned char *data;
    size_t size;
    size_t moved;
    uint64_t address; /* receive: where it is with the sender */
    uint64_t serial;  /* of one that was announced */
};

/* A message that nobody has asked for yet. */
typedef struct arrival {
    struct arrival *next;
    letter letter;
    unsigned char inside[];
} arrival;

typedef struct comm_peer {
    process process;
    char ear[sizeof(((card *)NULL)->ear)];
    struct watched *watched; /* NULL for ranks of this process */
    bool direct;             /* its memory can be read */
    int interest;            /* requests that are not done */
    ring out, in;
    request_queue sends; /* not in the ring, or not all of it, in order; and questions */
    request_queue announced, wanted; /* sends that were only announced; those that are asked for */
    request_queue asked;             /* receives of such */
    uint64_t next_serial;
    request_queue receives;
    arrival *arrivals, *last_arrival;
    uint64_t whole_sent;    /* bytes of whole messages */
    uint64_t tickets_taken; /* a bit each */
    muster_request *offered[TICKETS];
    muster_request *gathering[TICKETS];
} comm_peer;

struct muster_comm {
    muster_comm_owner *owner;
    int rank, size;
    int64_t timeout_ms; /* that open had */
    process self;
    uint8_t nonce[CARD_NONCE]; /* the others read it here, to see whether they can */
    segment memory;
    hall *hall;
    bool cores_for_all;
    char description[160];

    pthread_mutex_t lock;     /* of all that follows, but for what is atomic */
    pthread_cond_t settled;   /* a request is not busy any more */
    _Atomic int in_vain;      /* so often on end who waited looked and had to sleep */
    muster_request *newest;   /* of those posted and not waited for yet */
    request_queue pulls;      /* receives to be copied */
    _Atomic uint64_t running; /* the number of the whole operation that waits; 0: none */
    uint64_t operations;      /* begun */
    bool aborted;
    bool broken;
    /* The first cause, where broken. */
    muster_status cause;
    int cause_rank;
    char cause_text[512];
    comm_peer *peers;

    /* The watch's, under its lock. */
    muster_comm *next;
    bool listed;
    bool looked_at;
    bool reported;
};

muster_status comm_open(muster_comm_owner *owner, const muster_open_args *args, muster_comm **comm);
void comm_abort(muster_comm *comm);
void comm_close(muster_comm *comm);
void comm_forget(muster_comm *comm);

segment_cell *comm_cell(const muster_comm *comm, int rank);

#endif
