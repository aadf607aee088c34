/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TCP sockets that listen.
 */
#include "config.h"
#include "net/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "base/error.h"
#include "net/socket_here.h"

/* How often another free port is tried where the one that an address got is in use on the next. */
enum { FREE_PORT_TRIES = 16 };

static muster_status listen_error(const socket_address *address, int error)
{
    char text[SOCKET_TEXT_SIZE], here[512];
    socket_address_text(address, true, text);
    if (error == EADDRINUSE)
        return error_set(MUSTER_ERR_SYSTEM,
                         "can't listen on %s: the port is in use, by another program or another "
                         "process of this job; choose a free one",
                         text);
    if (error == EADDRNOTAVAIL)
        return error_set(MUSTER_ERR_SYSTEM,
                         "can't listen on %s: this host has no such address; it has %s", text,
                         socket_addresses_here(here, sizeof(here)));
    if (error == EACCES && socket_address_port(address) < 1024)
        return error_set(MUSTER_ERR_SYSTEM,
                         "can't listen on %s: user %d may not, as ports below 1024 are for root; "
                         "choose one from there on",
                         text, (int)geteuid());
    errno = error;
    return error_system("can't listen on %s", text);
}

/* The error number, 0 for success. */
static int listen_once(const socket_address *address, int *fd)
{
    int on = 1;
    int made = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return errno;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(made, (const struct sockaddr *)&address->at, address->size) == 0 &&
        listen(made, SOMAXCONN) == 0) {
        *fd = made;
        return 0;
    }
    int error = errno;
    close(made);
    return error;
}

muster_status socket_listen(const socket_address *address, int *fd)
{
    int error = listen_once(address, fd);
    return error == 0 ? MUSTER_OK : listen_error(address, error);
}

/* Whether the host lacks an address, or all of its family. */
static bool is_not_here(int error)
{
    return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
}

static bool came_before(const socket_address *addresses, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (socket_address_equal(&addresses[before], &addresses[i]))
            return true;
    return false;
}

/* Once around; 0, or the error number of addresses[*at]. */
static int listen_round(const socket_address *addresses, size_t num, int *fds, size_t most,
                        size_t *listening, size_t *at)
{
    int port = socket_address_port(&addresses[0]), first_error = 0;
    *listening = *at = 0;
    for (size_t i = 0; i < num && *listening < most; i++) {
        socket_address address = socket_address_with_port(&addresses[i], port), own;
        if (came_before(addresses, i))
            continue;
        int error = listen_once(&address, &fds[*listening]);
        if (error == 0) {
            if (port == 0 && socket_local_address(fds[*listening], &own))
                port = socket_address_port(&own);
            ++*listening;
        } else if (!is_not_here(error)) {
            *at = i;
            return error;
        } else if (first_error == 0) {
            first_error = error;
        }
    }
    return *listening > 0 ? 0 : first_error;
}

muster_status socket_listen_all(const socket_address *addresses, size_t num, int *fds, size_t most,
                                size_t *listening)
{
    size_t at;
    for (int tries = 1;; tries++) {
        int error = listen_round(addresses, num, fds, most, listening, &at);
        if (error == 0)
            return MUSTER_OK;
        while (*listening > 0)
            close(fds[--*listening]);
        bool any_port = socket_address_port(&addresses[0]) == 0;
        if (error != EADDRINUSE || !any_port || tries == FREE_PORT_TRIES)
            return listen_error(&addresses[at], error);
    }
}
