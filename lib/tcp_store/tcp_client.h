/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The connections of one tcp store. An operation takes an idle one or opens a new one, so that a
 * thread that waits does not hold up the others.
 */
#ifndef MUSTER_LIB_TCP_CLIENT_H
#define MUSTER_LIB_TCP_CLIENT_H

#include <pthread.h>

#include "tcp_store/job_secret.h"
#include "net/socket.h"
#include "tcp_store/tcp_protocol.h"

typedef struct tcp_link tcp_link;

typedef struct tcp_client {
    const char *name; /* "tcp store 192.0.2.1:29500", for messages */
    socket_address *addresses;
    size_t num_addresses;
    int64_t timeout_ms;     /* for connecting, and for each answer */
    protocol_family family; /* that the server speaks; found by the first connection */
    bool knows_await;       /* the server is muster's */
    bool own_server;        /* it runs in this process */
    bool reached;           /* a connection came about, whatever became of it */
    bool greeted;           /* what listens there has answered as a store */
    job_secret secret;      /* that of the environment when it was opened */
    socket_address local;   /* of the first connection */
    pthread_mutex_t lock;   /* over what follows */
    tcp_link *links;        /* all of them, busy or idle */
    _Atomic bool silent;    /* the latest answer did not come in time */
    _Atomic pid_t process;  /* whose connections these are: a forked child opens its own */
} tcp_client;

/* Makes the first connection, trying until the deadline. addresses, for free(), belong to
 * the client if that succeeds. */
muster_status tcp_client_open(tcp_client *client, const char *name, socket_address *addresses,
                              size_t num_addresses, int64_t timeout_ms, deadline end,
                              bool own_server, const job_secret *secret);
void tcp_client_close(tcp_client *client);

/* A connection for the caller alone. */
muster_status tcp_client_take(tcp_client *client, deadline end, tcp_link **link);

/* Gives it back; one that is not in step with its server (an answer is still to come, or was not
 * understood) is closed. */
void tcp_client_give(tcp_client *client, tcp_link *link, bool in_step);

/* Sends a message whole. what names the query for the sentence of an error. */
muster_status tcp_link_send(const tcp_client *client, tcp_link *link, const char *what,
                            const buffer *message, deadline end);

/* Reads exactly so many bytes. */
muster_status tcp_link_read(const tcp_client *client, tcp_link *link, const char *what, void *data,
                            size_t size, deadline end);

/* Reads a length that must not be over that of a value, and so many bytes to the end of value. */
muster_status tcp_link_read_value(const tcp_client *client, tcp_link *link, const char *what,
                                  buffer *value, size_t *size, deadline end);

/* Connections now, busy or idle. */
int tcp_client_count(tcp_client *client);

/* Why an answer did not come in time, as far as can be told from here, for a sentence. */
const char *tcp_client_silence(const tcp_client *client);

#endif
