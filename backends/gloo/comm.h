/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A communicator on Gloo: a mesh of connections, the requests in flight, and what is known about
 * the others.
 */
#ifndef MUSTER_BACKENDS_GLOO_COMM_H
#define MUSTER_BACKENDS_GLOO_COMM_H

#include <pthread.h>
#include <stdbool.h>

#include "base/deadline.h"
#include "device.h"
#include "gloo_c.h"
#include "muster/backend.h"

/* The core's functions, from probe on. */
extern const muster_host *gloo_host;

/* Slots that the backend keeps to itself; the core may use all below. */
#define SLOT_WATCH UINT64_MAX
#define SLOT_HELLO (UINT64_MAX - 1)
#define SLOT_PROBE (UINT64_MAX - 2)
#define SLOT_FIRST_RESERVED SLOT_PROBE

/* What one rank tells another on the watch slot, once; see note.c. */
enum { NOTE_SIZE = 8 };

/* Of Gloo's addresses; more than any version uses. */
enum { ADDRESS_SIZE = 192 };

struct muster_request {
    muster_request *next, *previous;
    gloo_c_buffer *buffer;
    int peer;
    bool send;
    size_t size;
    bool waited_for;
    deadline end; /* of the wait, where waited_for */
};

typedef struct comm_peer {
    uint8_t note[NOTE_SIZE]; /* written by Gloo; what this peer told us */
    bool note_read;
    bool left;           /* it said goodbye, or another says that it did */
    bool suspect;        /* its connection was closed without a word of it; see failure.h */
    gloo_c_buffer *told; /* the note to it */
} comm_peer;

struct muster_comm {
    muster_comm_owner *owner;
    int rank, size;
    struct device *device;
    gloo_c_context *context;
    char description[160];

    pthread_mutex_t lock;     /* of all that follows */
    muster_request *requests; /* posted and not waited for yet */
    bool closing;
    bool aborted;
    bool broken;
    /* The first cause, where broken. */
    muster_status cause;
    int cause_rank;
    char cause_text[512];
    bool telling;        /* the others are being told of it */
    pthread_cond_t told; /* that is over */

    comm_peer *peers;
    uint8_t note[NOTE_SIZE]; /* what the others are told */

    pthread_t watch;
    bool watch_runs;
    gloo_c_buffer *watch_buffer;
    gloo_c_buffer *probe_buffer;
    uint8_t probe_byte;

    muster_comm *next; /* in the reaper's queue */
};

muster_status comm_open(muster_comm_owner *owner, const muster_open_args *args, muster_comm **comm);
void comm_abort(muster_comm *comm);
void comm_close(muster_comm *comm);
void comm_forget(muster_comm *comm);

/* Frees everything, closing what is open: up to 10 ms a peer. The watch must not run any more. */
void comm_destroy(muster_comm *comm);

/* The status that Gloo's stands for where the cause is not a peer: sets the sentence. */
muster_status comm_error(gloo_c_status status, const gloo_c_why *why, const char *doing);

/* MUSTER_ERR_SYSTEM: a thread can't be started; purpose is "for ..." or "to ...". */
muster_status comm_no_thread(const char *purpose, const char *why);

#endif
