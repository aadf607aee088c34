/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A backend over the sockets that the processes of one host have between them: a connection for
 * each two ranks of a group, and in each rank a thread that reads and writes all of its own.
 *
 *   sockets.c   the table that muster finds, and what the backend says of itself
 *   open.c      from nothing to a connection with every rank
 *   message.c   posting and waiting, and how a communicator breaks
 *   thread.c    the thread: messages in packets, what ranks tell each other, and how one leaves
 */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <muster/backend.h>
#include <pthread.h>

enum { NOBODY = -1, PIECE_MOST = 64 << 10, LEAVE_MS = 500 };

typedef enum direction {
    OUT,
    IN,
    KEPT /* it has come, or begun to, before it was asked for */
} direction;

/* One message. */
struct muster_request {
    muster_request *before, *after; /* in the order in which they were posted */
    direction direction;
    int peer;
    uint64_t slot;
    char *data;
    size_t size;
    size_t moved; /* bytes that have gone, or come */
    bool done;
};

/* Another rank. */
typedef struct peer {
    int fd;                   /* -1: closed, or this rank itself */
    bool told;                /* that this rank leaves, or has failed */
    bool left, failed;        /* it has said so */
    bool lost;                /* its connection has ended without a word, or others say so */
    muster_request *arriving; /* what its next piece belongs to */
} peer;

/* The lock is for all that follows, and is never held where something blocks. */
struct muster_comm {
    muster_comm_owner *owner;
    int rank, num_ranks;
    pthread_t thread;
    struct pollfd *polled; /* by the thread: the bell, and a connection for each rank */
    int bell;              /* an eventfd, for what the thread is to look at */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    muster_request *first, *last;
    size_t piece;      /* the most bytes of a message in one packet */
    uint64_t close_ns; /* when the thread ends; 0: not yet */

    /* The first failure: what later calls return, and what the core has not been told yet. */
    muster_status status, untold;
    int cause; /* the first rank that has failed, or was lost */
    char sentence[256];

    peer peers[]; /* num_ranks */
};

extern const muster_host *sockets_host;

/* The time in so many milliseconds, on the clock of comm->changed. */
uint64_t sockets_time(int64_t in_ms);

muster_status sockets_open(muster_comm_owner *owner, const muster_open_args *args,
                           muster_comm **comm);
void sockets_free(muster_comm *comm); /* where no thread runs */

muster_status sockets_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                size_t size, muster_request **request);
muster_status sockets_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data, size_t size,
                                muster_request **request);
muster_status sockets_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms);
void sockets_abort(muster_comm *comm);
void sockets_close(muster_comm *comm);

void *thread_run(void *comm);
void thread_ring(muster_comm *comm);

/* From here on with the lock held. */

/* Sends the next packet to a rank, where there is one and it has room. */
void thread_put(muster_comm *comm, int peer);

/* The first failure breaks the communicator; later ones change nothing. untold is what the core is
 * told, MUSTER_OK where it knows. */
void sockets_break(muster_comm *comm, muster_status status, muster_status untold, int cause,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

void message_add(muster_comm *comm, muster_request *message);
void message_remove(muster_comm *comm, muster_request *message);

/* The first one that nothing has come of, for IN; that is not wholly sent, for OUT, of any slot;
 * any, for KEPT. NULL where there is none. */
muster_request *message_find(const muster_comm *comm, direction direction, int peer, uint64_t slot);

#endif
