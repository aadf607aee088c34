/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: sockets between the ranks
 * of one host.
 */
#include "config.h"

#include "nccl_wire.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WIRE_PAUSE_MS = 5 };

static void wire_pause(void)
{
    struct timespec pause = {0, WIRE_PAUSE_MS * 1000000};
    nanosleep(&pause, NULL);
}

/* ---- connections ---- */

/* In the names that are no files. */
static socklen_t wire_address(struct sockaddr_un *address, const char *name)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int wire_listen(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = wire_address(&address, name);
    int at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (at >= 0 && bind(at, (struct sockaddr *)&address, length) == 0 && listen(at, 256) == 0)
        return at;
    if (at >= 0)
        close(at);
    return -1;
}

int wire_connect(const char *name, const atomic_bool *ended)
{
    struct sockaddr_un address;
    socklen_t length = wire_address(&address, name);
    while (!atomic_load(ended)) {
        int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (to >= 0 && connect(to, (struct sockaddr *)&address, length) == 0)
            return to;
        if (to >= 0)
            close(to);
        wire_pause();
    }
    return -1;
}

static int wire_accept(int at, const atomic_bool *ended)
{
    struct pollfd waiting = {.fd = at, .events = POLLIN};
    while (!atomic_load(ended)) {
        int from = poll(&waiting, 1, WIRE_PAUSE_MS) > 0
                       ? accept4(at, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)
                       : -1;
        if (from >= 0)
            return from;
    }
    return -1;
}

/* The number that a connection begins with; -1 where none comes. */
static int wire_read_number(int from, const atomic_bool *ended)
{
    struct pollfd waiting = {.fd = from, .events = POLLIN};
    int number = -1;
    while (!atomic_load(ended) && poll(&waiting, 1, WIRE_PAUSE_MS) <= 0)
        continue;
    return recv(from, &number, sizeof(number), 0) == (ssize_t)sizeof(number) ? number : -1;
}

static nccl_result wire_connect_lower(const nccl_wire *wire, const char *key)
{
    char name[100];
    for (int peer = 0; peer < wire->rank; peer++) {
        snprintf(name, sizeof(name), "%s/%d", key, peer);
        int to = wire_connect(name, wire->ended);
        if (to < 0)
            return NCCL_INTERNAL_ERROR;
        wire->sockets[peer] = to;
        if (send(to, &wire->rank, sizeof(wire->rank), MSG_NOSIGNAL) != sizeof(wire->rank))
            return NCCL_REMOTE_ERROR;
    }
    return NCCL_SUCCESS;
}

static nccl_result wire_accept_higher(const nccl_wire *wire, int at)
{
    for (int left = wire->size - wire->rank - 1; left > 0; left--) {
        int from = wire_accept(at, wire->ended);
        if (from < 0)
            return NCCL_INTERNAL_ERROR;
        int peer = wire_read_number(from, wire->ended);
        if (peer <= wire->rank || peer >= wire->size || wire->sockets[peer] >= 0) {
            close(from);
            return NCCL_REMOTE_ERROR;
        }
        wire->sockets[peer] = from;
    }
    return NCCL_SUCCESS;
}

nccl_result wire_open(const nccl_wire *wire, const char *key)
{
    char name[100];
    snprintf(name, sizeof(name), "%s/%d", key, wire->rank);
    int at = wire_listen(name);
    if (at < 0)
        return NCCL_SYSTEM_ERROR;
    nccl_result result = wire_connect_lower(wire, key);
    if (result == NCCL_SUCCESS)
        result = wire_accept_higher(wire, at);
    close(at);
    return result;
}

/* ---- transfers ---- */

/* The first transfer with the peer in this direction that is not complete, from one on. */
static nccl_transfer *wire_next(nccl_transfer *transfers, size_t count, int peer, bool sends)
{
    for (size_t i = 0; i < count; i++)
        if (transfers[i].peer == peer && (transfers[i].send != NULL) == sends &&
            transfers[i].done < transfers[i].size)
            return &transfers[i];
    return NULL;
}

/* The rank's own messages to itself. */
static void wire_move_own(const nccl_wire *wire, nccl_transfer *transfers, size_t count)
{
    nccl_transfer *from, *to;
    while ((from = wire_next(transfers, count, wire->rank, true)) != NULL &&
           (to = wire_next(transfers, count, wire->rank, false)) != NULL) {
        size_t size = from->size < to->size ? from->size : to->size;
        memmove(to->receive, from->send, size);
        from->done = from->size;
        to->done = to->size;
    }
}

/* As much as goes now; false if the peer has gone. */
static bool wire_move_some(int with, nccl_transfer *transfer)
{
    size_t left = transfer->size - transfer->done;
    ssize_t moved =
        transfer->send != NULL
            ? send(with, (const char *)transfer->send + transfer->done, left, MSG_NOSIGNAL)
            : recv(with, (char *)transfer->receive + transfer->done, left, 0);
    if (moved > 0)
        transfer->done += (size_t)moved;
    return moved > 0 || (moved < 0 && (errno == EAGAIN || errno == EINTR));
}

typedef struct wire_step {
    struct pollfd *polls; /* one a rank */
    bool *gone;           /* one a rank */
    int waiting;
} wire_step;

/* What each peer is waited for. */
static void wire_look(const nccl_wire *wire, nccl_transfer *transfers, size_t count,
                      wire_step *step)
{
    step->waiting = 0;
    for (int peer = 0; peer < wire->size; peer++) {
        nccl_transfer *sent = wire_next(transfers, count, peer, true);
        nccl_transfer *received = wire_next(transfers, count, peer, false);
        bool is_there = peer != wire->rank && !step->gone[peer];
        step->polls[peer].fd = is_there && (sent || received) ? wire->sockets[peer] : -1;
        step->polls[peer].events = (short)((sent ? POLLOUT : 0) | (received ? POLLIN : 0));
        step->waiting += sent != NULL || received != NULL;
    }
}

static nccl_result wire_do_step(const nccl_wire *wire, nccl_transfer *transfers, size_t count,
                                wire_step *step)
{
    for (int peer = 0; peer < wire->size; peer++) {
        short ready = step->polls[peer].fd >= 0 ? step->polls[peer].revents : 0;
        nccl_transfer *sent = wire_next(transfers, count, peer, true);
        nccl_transfer *received = wire_next(transfers, count, peer, false);
        bool fine = true;
        if (sent != NULL && (ready & (POLLOUT | POLLERR)))
            fine = wire_move_some(wire->sockets[peer], sent);
        if (received != NULL && (ready & (POLLIN | POLLHUP | POLLERR)))
            fine = wire_move_some(wire->sockets[peer], received) && fine;
        if (!fine && !wire->patient)
            return NCCL_REMOTE_ERROR;
        step->gone[peer] = step->gone[peer] || !fine;
    }
    return NCCL_SUCCESS;
}

nccl_result wire_move(const nccl_wire *wire, nccl_transfer *transfers, size_t count)
{
    size_t ranks = (size_t)wire->size;
    wire_step step = {calloc(ranks, sizeof(*step.polls)), calloc(ranks, sizeof(*step.gone)), 1};
    nccl_result result = step.polls && step.gone ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
    if (result == NCCL_SUCCESS)
        wire_move_own(wire, transfers, count);
    while (result == NCCL_SUCCESS) {
        wire_look(wire, transfers, count, &step);
        if (step.waiting == 0)
            break;
        if (atomic_load(wire->ended))
            result = NCCL_INTERNAL_ERROR;
        else if (poll(step.polls, (nfds_t)ranks, WIRE_PAUSE_MS) > 0)
            result = wire_do_step(wire, transfers, count, &step);
    }
    free(step.polls);
    free(step.gone);
    return result;
}

nccl_result wire_all_gather(const nccl_wire *wire, const void *mine, size_t size, void *all)
{
    size_t ranks = (size_t)wire->size;
    nccl_transfer *transfers = calloc(2 * ranks, sizeof(*transfers));
    if (transfers == NULL)
        return NCCL_SYSTEM_ERROR;
    for (size_t i = 0; i < ranks; i++) {
        transfers[2 * i] = (nccl_transfer){.peer = (int)i, .send = mine, .size = size};
        transfers[2 * i + 1] =
            (nccl_transfer){.peer = (int)i, .receive = (char *)all + i * size, .size = size};
    }
    nccl_result result = wire_move(wire, transfers, 2 * ranks);
    free(transfers);
    return result;
}
