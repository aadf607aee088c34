/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tcp server's thread: one epoll loop for the listening socket and all clients.
 */
#ifndef MUSTER_LIB_TCP_LOOP_H
#define MUSTER_LIB_TCP_LOOP_H

#include <pthread.h>

#include "tcp_store/tcp_door.h"
#include "tcp_store/tcp_large.h"
#include "tcp_store/tcp_session.h"

/* A client that has not shown itself as one is cut off after this, unless it may be the second
 * connection of a client of torch 1.13, which is silent for ever; how long a query that may be two
 * of them is waited with; and more addresses than so many are not listened on. */
enum { TCP_LOOP_SILENT_MS = 10000, TCP_LOOP_PUZZLE_MS = 30, TCP_LOOP_MOST_LISTENERS = 16 };

typedef struct tcp_connection tcp_connection;

typedef struct tcp_loop {
    tcp_store_data data; /* first, so that a session's data is its loop */
    int listen_fds[TCP_LOOP_MOST_LISTENERS];
    size_t num_listen_fds;
    int epoll_fd, wake_fd;
    int silent_ms;
    tcp_large large;
    tcp_door door; /* whose secret is for the owner to set before the loop runs */
    /* The list is changed by the thread alone, with the lock held, and read elsewhere with it. */
    pthread_mutex_t lock;
    tcp_connection *connections;
    size_t num_connections, num_puzzling;
    tcp_connection *pending, *doomed;
    int64_t accept_again_ns; /* when no descriptor was left; 0 while clients are accepted */
    /* Asked after a wake, and then whenever a client has gone, until it says that there is nothing
     * to settle: whether the thread is to go on, to ask again, or to end. */
    enum tcp_loop_verdict {
        TCP_LOOP_GO_ON,
        TCP_LOOP_ASK_AGAIN,
        TCP_LOOP_END
    } (*settle)(void *owner, size_t num_connections);
    void *owner;
} tcp_loop;

/* Takes 1 to TCP_LOOP_MOST_LISTENERS listening sockets over if it succeeds. */
muster_status tcp_loop_open(tcp_loop *loop, const int *listen_fds, size_t num);

/* Serves until settle says TCP_LOOP_END. */
void tcp_loop_run(tcp_loop *loop);

/* Makes the loop ask settle soon. From any thread. */
void tcp_loop_wake(tcp_loop *loop);

/* Leaves the addresses that it listens on: for the thread that is about to end. */
void tcp_loop_stop_listening(tcp_loop *loop);

/* Closes all and frees what the loop holds; not while it runs. */
void tcp_loop_close(tcp_loop *loop);

/* Only closes descriptors: for a forked child of the process that runs the loop, whose memory may
 * have been copied in the middle of a change. lock must have been held across the fork. */
void tcp_loop_close_copies(tcp_loop *loop);

#endif
