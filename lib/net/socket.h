/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TCP sockets: names into addresses, listening, connecting with a deadline, moving bytes, and
 * addresses as text. All sockets made here are close-on-exec, without delay and not blocking.
 */
#ifndef MUSTER_LIB_SOCKET_H
#define MUSTER_LIB_SOCKET_H

#include <sys/socket.h>

#include "base/deadline.h"
#include "muster.h"

/* Room for "[address%interface]:port" and its end. */
enum { SOCKET_TEXT_SIZE = 96 };

typedef struct socket_address {
    struct sockaddr_storage at;
    socklen_t size;
} socket_address;

bool socket_address_equal(const socket_address *a, const socket_address *b);

/* The same but for the port. */
bool socket_address_same_host(const socket_address *a, const socket_address *b);
int socket_address_port(const socket_address *address);
socket_address socket_address_with_port(const socket_address *address, int port);

/* "192.0.2.1:80" or "[2001:db8::1]:80"; without the port "192.0.2.1" or "2001:db8::1". An IPv4
 * address mapped into IPv6 is shown as IPv4. */
const char *socket_address_text(const socket_address *address, bool with_port,
                                char text[SOCKET_TEXT_SIZE]);

/* The wildcard of its family becomes that family's loopback: where a client of this host goes. */
socket_address socket_address_reachable(const socket_address *address);

/* 127.0.0.0/8 or ::1. */
bool socket_address_is_loopback(const socket_address *address);

/*
 * The addresses of host (a name or a numeric address) with port; *addresses is for free(). Those of
 * the loopback come last: a host whose own name is both 127.0.1.1 and an address of a network is
 * then met by all at the latter.
 */
muster_status socket_resolve(const char *host, int port, socket_address **addresses, size_t *num);

/* The same for one who goes there: a name that has no address yet, as that of a host which is being
 * started, is looked up again until the deadline, and a warning is logged once. */
muster_status socket_resolve_until(const char *host, int port, deadline end,
                                   socket_address **addresses, size_t *num);

/* The socket's own address and that of its peer; false when the socket has none. */
bool socket_local_address(int fd, socket_address *address);
bool socket_peer_address(int fd, socket_address *address);

/* Listens on exactly this address (port 0: any free one). A port in use and an address that is none
 * of this host's are said as such. */
muster_status socket_listen(const socket_address *address, int *fd);

/*
 * Listens on those of the addresses, all with one port, that this host has: at least one, or
 * MUSTER_ERR_SYSTEM with a sentence on the first. A port that is in use on one of them is an error,
 * since clients would come to whoever has it. Port 0 is the same free one on all.
 */
muster_status socket_listen_all(const socket_address *addresses, size_t num, int *fds, size_t most,
                                size_t *listening);

/* Makes a socket that somebody else opened one of ours: close-on-exec, not blocking; with without
 * delay where it is connected. */
muster_status socket_prepare(int fd, bool connected);

/*
 * Connects to one of the addresses, trying each of them in turn, longer each time around, until the
 * deadline; a host that refuses is tried again until then when retry is set.
 * MUSTER_ERR_TIMEOUT, or MUSTER_ERR_PEER_LOST when all refuse and retry is not set; what is the
 * name of the whole thing for the sentence.
 */
muster_status socket_connect(const socket_address *addresses, size_t num, bool retry, deadline end,
                             const char *what, int *fd);

/* Sends all or receives from 1 to size bytes. MUSTER_ERR_TIMEOUT, MUSTER_ERR_PEER_LOST (reset, or
 * closed in order, which is EPIPE in errno) or MUSTER_ERR_SYSTEM with errno set, without a
 * sentence: the caller knows what it is about. */
muster_status socket_send(int fd, const void *data, size_t size, deadline end);
muster_status socket_receive(int fd, void *data, size_t size, deadline end, size_t *received);

/* Makes a socket of ours one that blocks, for socket_receive_blocking. */
muster_status socket_block(int fd);

/* socket_receive() in one system call rather than three where the bytes are still to come.
 * *patience_ms is how long the socket blocks at a time, 0 at first; kept here for the next call. */
muster_status socket_receive_blocking(int fd, int64_t *patience_ms, void *data, size_t size,
                                      deadline end, size_t *received);

/* Waits for so long before a further try, and makes *delay_ms longer, up to 250 ms. */
void socket_back_off(int *delay_ms, deadline end);

#endif
