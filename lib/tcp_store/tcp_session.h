/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tcp server keeps for each client, and how it finds the queries in what a client sends.
 * Knows nothing of sockets: bytes come in and go out through buffers.
 *
 * Clients of all families come to one port. Which one a client is of follows from its first bytes:
 * torch 2.2 and later greet. The two before that are told apart by the first query whose number
 * they do not share; until then it does not matter.
 */
#ifndef MUSTER_LIB_TCP_SESSION_H
#define MUSTER_LIB_TCP_SESSION_H

#include "base/buffer.h"
#include "tcp_store/queue_map.h"
#include "tcp_store/tcp_protocol.h"
#include "tcp_store/tcp_waits.h"
#include "tcp_store/tcp_watches.h"
#include "store/value_map.h"

/* A client whose answers pile up to this is not listened to until it has read some of them. */
enum { SESSION_MAX_OUTPUT = 1 << 20 };

typedef struct tcp_session tcp_session;

/* What all sessions share. */
typedef struct tcp_store_data {
    value_map values;
    queue_map queues;
    wait_table waits;
    watch_table watches;
    uint64_t deletions; /* of keys, so far */
    /* Called for a session that received an answer without having asked just now. */
    void (*woken)(tcp_session *session);
} tcp_store_data;

/* All zeros is a client that has just connected. */
struct tcp_session {
    waiter wait; /* first, so that a waiter is its session */
    watcher watches;
    buffer in, out;
    protocol_scan scan;
    bool known;   /* it has made a query, or greeted: it is a client */
    bool settled; /* its family is certain */
    /* in holds what is a whole DELETE of torch 1.13 and the start of an APPEND of 2.1. If nothing
     * more comes within a moment it is the former: tcp_session_settle(). */
    bool puzzling;
    protocol_family family;
    struct {
        bool waits;    /* for one key: the one behind so many bytes of its arguments */
        size_t there;  /* bytes whose keys are there, or have been */
        uint64_t left; /* keys behind them */
        uint64_t deletions;
    } await;         /* an AWAIT at the start of in; zeros: not begun */
    size_t answered; /* of the MULTI_GET at the start of in: how many bytes of it are done */
    uint64_t unanswered;
};

/*
 * Answers whole queries in session->in, until there is none or the answers pile up. False: the
 * client is no client or asked for what can't be done, and is to be cut off.
 */
bool tcp_session_answer(tcp_store_data *data, tcp_session *session);

/* Ends the puzzle; tcp_session_answer() then goes on. */
void tcp_session_settle(tcp_session *session);

/* The client has gone. */
void tcp_session_end(tcp_store_data *data, tcp_session *session);

/* For a store without sessions. */
void tcp_store_data_free(tcp_store_data *data);

static inline tcp_session *tcp_session_of_watcher(watcher *who)
{
    return (tcp_session *)(void *)((char *)who - offsetof(tcp_session, watches));
}

#endif
