/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The servers of this process's tcp stores: one for each address and port, shared by all stores
 * that ask for it, each with a thread.
 *
 * A server whose last store has been freed ends at once if nobody else is connected; otherwise it
 * goes on, may be taken up again, and ends with its last client.
 */
#ifndef MUSTER_LIB_TCP_SERVER_H
#define MUSTER_LIB_TCP_SERVER_H

#include "net/socket.h"
#include "tcp_store/job_secret.h"

typedef struct tcp_server tcp_server;

/* Listens on all addresses of host that this machine has, by one port, or shares the server that
 * listens on one of them. */
muster_status tcp_server_open(tcp_server **server, const char *host, int port,
                              const job_secret *secret);

/* Serves on a socket that listens already, and takes it over if that succeeds. */
muster_status tcp_server_adopt(tcp_server **server, int listen_fd, const job_secret *secret);

/* The first address on which it listens, with its real port. */
const socket_address *tcp_server_address(const tcp_server *server);

/* Gives up one use. The connections of the store that used it must have been closed. */
void tcp_server_release(tcp_server *server);

/* Servers that run in this process, those without a store included. */
int tcp_server_count(void);

#endif
