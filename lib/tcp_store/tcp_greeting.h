/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first question to the server of a tcp store: whether it speaks a family of torch's protocol.
 * No server takes harm from it, of whatever family it is.
 */
#ifndef MUSTER_LIB_TCP_GREETING_H
#define MUSTER_LIB_TCP_GREETING_H

#include "tcp_store/tcp_client.h"

/* What came back. */
typedef struct tcp_reply {
    bool declined; /* the connection was closed, in order and without a word */
    unsigned char bytes[32];
    size_t size;
} tcp_reply;

/*
 * Asks over a fresh connection; where it goes well, queries of family follow. MUSTER_ERR_PEER_LOST
 * for a connection that was closed, MUSTER_ERR_TIMEOUT for a server that is silent, and
 * MUSTER_ERR_PROTOCOL for one that answers as no store does, with what it said.
 */
muster_status tcp_greeting_make(const tcp_client *client, int fd, protocol_family family,
                                deadline end, tcp_reply *reply);

/* The sentence for a server that closes the connection at every question. */
muster_status tcp_greeting_closed(const tcp_client *client);

/* The family that MUSTER_STORE_FAMILY tells; PROTOCOL_NUM_FAMILIES where it is not set. */
muster_status tcp_greeting_read_family(protocol_family *family);

#endif
