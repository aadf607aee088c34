/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TCP sockets: connecting with a deadline, moving bytes.
 */
#include "config.h"
#include "net/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* How long one address may take while others wait for their turn, at first. */
enum { FIRST_SLICE_MS = 250, LONGEST_DELAY_MS = 250 };

/* So many addresses of a name fit a sentence. */
enum { MOST_DESCRIBED = 8 };

muster_status socket_prepare(int fd, bool connected)
{
    int flags = fcntl(fd, F_GETFL), on = 1;
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        (connected && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0))
        return error_system("preparing socket %d", fd);
    return MUSTER_OK;
}

static int socket_open(const socket_address *address)
{
    int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* 0 when fd became ready, ETIMEDOUT when it did not. */
static int wait_ready(int fd, short events, deadline end)
{
    struct pollfd one = {fd, events, 0};
    for (;;) {
        int ready = poll(&one, 1, deadline_poll_ms(end));
        if (ready > 0)
            return 0;
        if (ready == 0)
            return ETIMEDOUT;
        if (errno != EINTR)
            return errno;
    }
}

/* One try; the error number, 0 for success. */
static int connect_once(const socket_address *address, deadline end, int *fd)
{
    int made = socket_open(address), error = 0;
    if (made < 0)
        return errno;
    if (connect(made, (const struct sockaddr *)&address->at, address->size) != 0)
        error = errno;
    if (error == EINPROGRESS || error == EINTR) {
        error = wait_ready(made, POLLOUT, end);
        socklen_t size = sizeof(error);
        if (error == 0 && getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = errno;
    }
    /* On one host a socket that tries a free port can meet itself. */
    socket_address self, peer;
    if (error == 0 && socket_local_address(made, &self) && socket_peer_address(made, &peer) &&
        socket_address_equal(&self, &peer))
        error = ECONNREFUSED;
    if (error == 0)
        *fd = made;
    else
        close(made);
    return error;
}

static deadline earlier(deadline a, deadline b)
{
    return a.at_ns < b.at_ns ? a : b;
}

/* What will not become better by waiting. */
static bool hopeless(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EACCES ||
           error == EPERM;
}

/* What the tries of one connection have come to. */
typedef struct connect_tries {
    const socket_address *addresses;
    size_t num;
    const char *what;
    int errors[MOST_DESCRIBED]; /* the latest of each of the first addresses */
    int error;                  /* the one that says most */
    bool slow;                  /* some address did not answer in its turn of the latest round */
} connect_tries;

/* " (192.0.2.1 No route to host, 2001:db8::1 Connection refused)"; "" where what has the address.
 */
static const char *describe_tries(const connect_tries *tries, char *text, size_t size)
{
    size_t used = 0, num = tries->num < MOST_DESCRIBED ? tries->num : MOST_DESCRIBED;
    text[0] = '\0';
    for (size_t i = 0; i < num; i++) {
        char name[SOCKET_TEXT_SIZE];
        socket_address_text(&tries->addresses[i], false, name);
        if (tries->num == 1 && strstr(tries->what, name) != NULL)
            return text;
        int error = tries->errors[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s %s", used == 0 ? " (" : ", ", name,
                                 error == ETIMEDOUT ? "no answer" : strerror(error));
        if (used >= size - 2)
            return text;
    }
    snprintf(text + used, size - used, ")");
    return text;
}

static muster_status connect_error(const connect_tries *tries, int error, bool timed_out)
{
    char words[512];
    describe_tries(tries, words, sizeof(words));
    errno = error;
    if (timed_out && error == ETIMEDOUT)
        return error_set(MUSTER_ERR_TIMEOUT, "%s: no connection in the time given%s: no answer",
                         tries->what, words);
    error_system("%s: no connection%s%s", tries->what, timed_out ? " in the time given" : "",
                 words);
    return timed_out         ? MUSTER_ERR_TIMEOUT
           : hopeless(error) ? MUSTER_ERR_SYSTEM
                             : MUSTER_ERR_PEER_LOST;
}

/* One try of each address; 0, or the error of the last. */
static int connect_round(connect_tries *tries, int64_t slice_ms, deadline end, int *fd)
{
    int failed = 0;
    tries->slow = false;
    for (size_t i = 0; i < tries->num; i++) {
        deadline turn = tries->num == 1 ? end : earlier(end, deadline_in(slice_ms));
        failed = connect_once(&tries->addresses[i], turn, fd);
        if (i < MOST_DESCRIBED && (failed != ETIMEDOUT || tries->errors[i] == 0))
            tries->errors[i] = failed;
        if (failed == 0 || hopeless(failed))
            return failed;
        tries->slow = tries->slow || failed == ETIMEDOUT;
        /* A refusal says more than silence, or than a family that is not there. */
        if (tries->error == ETIMEDOUT || failed == ECONNREFUSED)
            tries->error = failed;
    }
    return failed;
}

muster_status socket_connect(const socket_address *addresses, size_t num, bool retry, deadline end,
                             const char *what, int *fd)
{
    connect_tries tries = {.addresses = addresses, .num = num, .what = what, .error = ETIMEDOUT};
    int delay_ms = 1;
    for (int64_t slice_ms = FIRST_SLICE_MS;; slice_ms *= 2) {
        int failed = connect_round(&tries, slice_ms, end, fd);
        if (failed == 0)
            return MUSTER_OK;
        if (hopeless(failed))
            return connect_error(&tries, failed, false);
        if (deadline_left_ms(end) == 0)
            return connect_error(&tries, tries.error, true);
        if (!retry && !tries.slow)
            return connect_error(&tries, tries.error, false);
        socket_back_off(&delay_ms, end);
    }
}

void socket_back_off(int *delay_ms, deadline end)
{
    deadline turn = earlier(end, deadline_in(*delay_ms));
    while (deadline_left_ms(turn) > 0)
        poll(NULL, 0, deadline_poll_ms(turn));
    *delay_ms = *delay_ms * 2 > LONGEST_DELAY_MS ? LONGEST_DELAY_MS : *delay_ms * 2;
}

static muster_status status_of(int error)
{
    errno = error;
    if (error == ETIMEDOUT)
        return MUSTER_ERR_TIMEOUT;
    return error == ECONNRESET || error == EPIPE ? MUSTER_ERR_PEER_LOST : MUSTER_ERR_SYSTEM;
}

muster_status socket_send(int fd, const void *data, size_t size, deadline end)
{
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            at += sent;
            size -= (size_t)sent;
            continue;
        }
        int error = errno == EAGAIN ? wait_ready(fd, POLLOUT, end) : errno;
        if (error != 0 && error != EINTR)
            return status_of(error);
    }
    return MUSTER_OK;
}

muster_status socket_receive(int fd, void *data, size_t size, deadline end, size_t *received)
{
    for (;;) {
        ssize_t got = recv(fd, data, size, MSG_DONTWAIT);
        if (got > 0) {
            *received = (size_t)got;
            return MUSTER_OK;
        }
        int error = got == 0 ? EPIPE : errno == EAGAIN ? wait_ready(fd, POLLIN, end) : errno;
        if (error != 0 && error != EINTR)
            return status_of(error);
    }
}

muster_status socket_block(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0)
        return error_system("preparing socket %d", fd);
    return MUSTER_OK;
}

static bool set_patience(int fd, int64_t *patience_ms, int64_t left_ms)
{
    int64_t seconds = left_ms / 1000 < INT32_MAX ? left_ms / 1000 : INT32_MAX;
    struct timeval time = {(time_t)seconds, (suseconds_t)(left_ms % 1000 * 1000)};
    *patience_ms = left_ms;
    return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0;
}

muster_status socket_receive_blocking(int fd, int64_t *patience_ms, void *data, size_t size,
                                      deadline end, size_t *received)
{
    for (bool waited = false;; waited = true) {
        int64_t left = deadline_left_ms(end);
        /* It must not block beyond the end; where it blocked for less it is to do so for longer. */
        bool fits = *patience_ms > 0 && *patience_ms <= left && !waited;
        if (left == 0 || (!fits && !set_patience(fd, patience_ms, left)))
            return socket_receive(fd, data, size, end, received);
        ssize_t got = recv(fd, data, size, 0);
        if (got > 0) {
            *received = (size_t)got;
            return MUSTER_OK;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return status_of(got == 0 ? EPIPE : errno);
    }
}
