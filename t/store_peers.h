/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of the tcp store share: stores on loopback, bare connections, and peers that are
 * no stores.
 */
#ifndef MUSTER_T_STORE_PEERS_H
#define MUSTER_T_STORE_PEERS_H

#include "muster.h"

/* A store with its server on a free port of 127.0.0.1. Stops the test when there is none. */
muster_store *peer_host(void);

/* A further client of a server on 127.0.0.1. */
muster_store *peer_client(int port);
muster_tcp_store_args peer_args(const char *host, int port, bool listen);

/* A bare connection to 127.0.0.1, and one that has greeted as a client. */
int peer_connect(int port);
int peer_greet(int port);

/* Whether the other end closes the connection within so many ms; what it sends is thrown away. */
bool peer_closes(int fd, int ms);

/* A server that takes up to 64 clients, sends each of them bytes, and closes at once or never. */
typedef struct peer_server peer_server;
peer_server *peer_server_start(const char *bytes, size_t size, bool closes);

int peer_server_port(const peer_server *server);
void peer_server_stop(peer_server *server);

/* The loop of a server by itself, on 127.0.0.1, less patient with who is silent than it usually is:
 * silent_ms is what it usually has, before that. */
typedef struct peer_loop peer_loop;
peer_loop *peer_loop_start(int ms, int *silent_ms);
int peer_loop_port(const peer_loop *one);
void peer_loop_stop(peer_loop *one);

/* Open descriptors, and threads of this process. */
int count_descriptors(void);
int count_threads(void);

/* Whether both are so within a second, since a server that was left alone ends by itself. */
bool counts_return_to(int descriptors, int threads);

#endif
