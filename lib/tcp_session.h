/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tcp server keeps for each client, and how it answers a client's queries. Knows nothing
 * of sockets: bytes come in and go out through buffers.
 */
#ifndef MUSTER_LIB_TCP_SESSION_H
#define MUSTER_LIB_TCP_SESSION_H

#include "buffer.h"
#include "tcp_protocol.h"
#include "tcp_waits.h"
#include "value_map.h"

/* A client whose answers pile up to this is not listened to until it has read some of them. */
enum { SESSION_MAX_OUTPUT = 1 << 20 };

typedef struct tcp_session tcp_session;

/* What all sessions share. */
typedef struct tcp_store_data {
    value_map values;
    wait_table waits;
    /* Called for a session that received an answer without having asked just now. */
    void (*woken)(tcp_session *session);
} tcp_store_data;

/* All zeros is a client that has just connected. */
struct tcp_session {
    waiter wait; /* first, so that a waiter is its session */
    buffer in, out;
    protocol_scan scan;
    bool validated;
    size_t answered; /* of the MULTI_GET at the start of in: how many bytes of it are done */
    uint64_t unanswered;
};

/*
 * Answers whole queries in session->in, until there is none or the answers pile up. False: the
 * client is no client or asked for what can't be done, and is to be cut off.
 */
bool tcp_session_answer(tcp_store_data *data, tcp_session *session);

/* The client has gone. */
void tcp_session_end(tcp_store_data *data, tcp_session *session);

#endif
