/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The strangers of a tcp server: connections of which it is not known yet whether they are clients.
 * How many there may be and for how long, who goes first, and the lines of the log that say who was
 * turned away.
 */
#ifndef MUSTER_LIB_TCP_DOOR_H
#define MUSTER_LIB_TCP_DOOR_H

#include "net/socket.h"
#include "tcp_store/tcp_entry.h"

typedef struct tcp_stranger tcp_stranger;

/* Part of every connection, and in the door's list until it is known. */
struct tcp_stranger {
    tcp_entry entry;
    socket_address from;
    int64_t born_ns;
    bool listed;
    bool spoke; /* at least a byte */
    tcp_stranger *older, *newer;
};

/* So many lines in so much time; then one line for the rest. */
enum { TCP_DOOR_LINES = 8, TCP_DOOR_LINES_MS = 10000 };

typedef struct tcp_door {
    job_secret secret;
    char where[SOCKET_TEXT_SIZE]; /* the server's address, for the log */
    tcp_stranger *oldest, *newest;
    size_t num;
    int64_t lines_since_ns;
    unsigned lines, untold;
    socket_address last; /* of those that were not told one by one */
    const char *last_reason;
} tcp_door;

void tcp_door_open(tcp_door *door, int listen_fd);
void tcp_door_close(tcp_door *door);

/* A connection that was just accepted. */
void tcp_door_add(tcp_door *door, tcp_stranger *stranger, int64_t now_ns);

/* It is known now, or it has gone; nothing if that was so before. */
void tcp_door_remove(tcp_door *door, tcp_stranger *stranger);

/*
 * The one to be cut off when descriptors are short: the oldest that has not said a word, since a
 * client speaks at once, else the oldest. NULL where there is none.
 */
tcp_stranger *tcp_door_first_to_go(const tcp_door *door);

/* Whether there are more than this process can afford: a part of the descriptors that it may have,
 * which are the program's too. */
bool tcp_door_is_full(const tcp_door *door);

/* The oldest, if it was born at that time or before. */
tcp_stranger *tcp_door_overdue(const tcp_door *door, int64_t born_ns);

/* Says in the log who was turned away and why (a text that stays), or counts it. */
void tcp_door_turned_away(tcp_door *door, const tcp_stranger *stranger, const char *reason);

/* Says how many were only counted, once it is time; true while there is something to say. */
bool tcp_door_tell(tcp_door *door, int64_t now_ns);

#endif
