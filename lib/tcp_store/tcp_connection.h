/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One client of a tcp server, as the server's loop has it.
 */
#ifndef MUSTER_LIB_TCP_CONNECTION_H
#define MUSTER_LIB_TCP_CONNECTION_H

#include "net/socket.h"
#include "tcp_store/tcp_loop.h"

struct tcp_connection {
    tcp_session session; /* first, so that a session is its connection */
    tcp_stranger stranger;
    tcp_large_sender sender;
    tcp_loop *loop;
    int fd;
    uint32_t events;
    bool is_pending, is_doomed;
    bool is_puzzling; /* counted as that in the loop */
    bool is_second;   /* of a client that has another connection */
    int64_t puzzling_ns;
    tcp_connection *previous, *next;
    tcp_connection *next_pending, *next_doomed;
};

/* Takes fd over, which was just accepted, and what has come from it already. */
void tcp_connection_add(tcp_loop *loop, int fd, const socket_address *from);
void tcp_connection_free(tcp_connection *one);

/* Something has come from its socket, or can be sent. */
void tcp_connection_event(tcp_connection *one, uint32_t events);

/* Answers and sends until the client has to send more, or has to read. */
void tcp_connection_serve(tcp_connection *one);

/* It is to be served at the end of the round. */
void tcp_connection_pend(tcp_session *session);

/* Cut off at the end of the round, since events of this round may still name it. */
void tcp_connection_doom(tcp_connection *one);

/* The same, and the log says why. */
void tcp_connection_turn_away(tcp_connection *one, const char *reason);

/* The same, to make room for others. */
void tcp_connection_refuse(tcp_connection *one);

tcp_connection *tcp_connection_of_stranger(tcp_stranger *stranger);
tcp_connection *tcp_connection_of_sender(tcp_large_sender *sender);

#endif
