/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for messages that have not come whole yet, over all connections of a tcp server: a few may
 * send a large one at a time, the others wait for their turn. So a crowd of large messages, sent
 * or only begun, takes what those few take, however many connections there are.
 */
#ifndef MUSTER_LIB_TCP_LARGE_H
#define MUSTER_LIB_TCP_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many at once, each up to PROTOCOL_MAX_MESSAGE; everybody else holds up to TCP_LARGE_FROM and
 * what is read at once. */
enum { TCP_LARGE_AT_ONCE = 8, TCP_LARGE_FROM = 128 << 10 };

typedef struct tcp_large_sender tcp_large_sender;

/* Part of every connection. All zeros is not large. */
struct tcp_large_sender {
    bool has_turn, waits;
    int64_t since_ns; /* when it got its turn */
    tcp_large_sender *next;
};

/* All zeros is nobody. */
typedef struct tcp_large {
    tcp_large_sender *turns; /* those who have one */
    size_t num_turns;
    tcp_large_sender *first; /* of those that wait, in their order */
    tcp_large_sender **last;
} tcp_large;

/* Whether one that holds so many bytes of an unfinished message may read on; if not it waits. */
bool tcp_large_may_read(tcp_large *all, tcp_large_sender *one, size_t held, int64_t now_ns);

/* It holds so many bytes now: fewer than it would need a turn for, and the turn is over. */
void tcp_large_settle(tcp_large *all, tcp_large_sender *one, size_t held);

/* The connection has gone. */
void tcp_large_leave(tcp_large *all, tcp_large_sender *one);

/* The next one that may read on, no longer waiting; NULL where there is none or no turn is free. */
tcp_large_sender *tcp_large_next(tcp_large *all);

/* One that has had its turn since that time or before, while others wait; or NULL. */
tcp_large_sender *tcp_large_overdue(const tcp_large *all, int64_t since_ns);

#endif
