/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Giving Gloo a connection that has been made without it.
 *
 * Gloo makes its connections itself, and its older versions take whoever is the first to connect to
 * a port for the peer, and end the process if that one resets the connection in the wrong moment.
 * So Gloo never listens to the network. For each peer it is let listen, but a filter in the kernel
 * lets only one socket of this process, the plug, through to it, and until the filter is in place
 * Gloo's thread is paused; whoever has slipped in by then is turned away. Once Gloo has taken the
 * plug's connection for the peer's, its descriptor is made to stand for the real one.
 */
#include "config.h"

#include "handover.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptors.h"
#include "plug.h"

/* Where nothing but the plug gets in the first try succeeds. */
enum { TRIES = 5, PAUSE_MS = 5000 };

/* So many are handed over in one pause, which costs more than they do; not all at once, since the
 * kernel takes long to find ports where thousands are listened to. */
enum { BATCH = 32 };

/* Gloo's address ends in a number that newer versions want to hear from whoever connects; in older
 * ones all its bits are set. */
enum { NUMBER_SIZE = 8 };

typedef struct handing {
    muster_comm *comm;
    int peer;
    plug plug;
    int theirs;              /* Gloo's descriptor of the plug's connection, or -1 */
    bool plugged;            /* nothing but the plug can be what Gloo takes next */
    struct endpoint gloo_at; /* where Gloo listens */
    uint8_t bytes[ADDRESS_SIZE];
    size_t size; /* of bytes */
} handing;

typedef struct batch {
    int count;
    handing list[BATCH];
} batch;

static bool is_listener(const handing *it, int fd)
{
    struct endpoint at;
    int listens = 0;
    socklen_t size = sizeof(listens);
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
           endpoint_own(fd, &at) && endpoint_equal(&at, &it->gloo_at);
}

/* A search for Gloo's listening socket. */
struct search {
    const handing *of;
    int found;
};

static void try_listener(void *user, int fd)
{
    struct search *search = user;
    if (search->found < 0 && is_listener(search->of, fd))
        search->found = fd;
}

/* It is likely to be near. */
static int find_listener(const handing *it, int near)
{
    enum { NEIGHBOURS = 16 };
    for (int fd = near; fd < near + NEIGHBOURS; fd++)
        if (is_listener(it, fd))
            return fd;
    struct search search = {it, -1};
    descriptors_each(try_listener, &search);
    return search.found;
}

/* Whether fd is Gloo's end of one of the plugs' connections. */
static void try_other_end(void *user, int fd)
{
    batch *all = user;
    struct endpoint at;
    if (!endpoint_peer(fd, &at))
        return;
    for (int i = 0; i < all->count; i++)
        if (endpoint_equal(&at, &all->list[i].plug.at))
            all->list[i].theirs = fd;
}

/* Those who came before the filter. */
static void turn_away(const handing *it, int listener)
{
    enum { ENOUGH = 64 }; /* where there is no filter they may keep coming */
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    for (int i = 0; i < ENOUGH && poll(&waiting, 1, 0) == 1; i++) {
        int stranger = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (stranger < 0)
            break;
        close(stranger);
        gloo_host->log(MUSTER_LOG_WARNING,
                       "rank %d: a stranger who had connected to a port of Gloo's was turned away",
                       it->comm->rank);
    }
}

/* Says the number that Gloo wants to hear, if it wants one. */
static bool say_number(const handing *it)
{
    const uint8_t *number = it->bytes + it->size - NUMBER_SIZE;
    bool wanted = false;
    for (int i = 0; i < NUMBER_SIZE; i++)
        wanted = wanted || number[i] != 0xff;
    return !wanted || send(it->plug.fd, number, NUMBER_SIZE, MSG_NOSIGNAL) == NUMBER_SIZE;
}

/* Where Gloo listens for the peer, from its own address. */
static muster_status listen_for(handing *it)
{
    gloo_c_why why;
    it->size = sizeof(it->bytes);
    gloo_c_status got = gloo_c_pair_new(it->comm->context, it->peer, it->bytes, &it->size, &why);
    if (got != GLOO_C_OK)
        return comm_error(got, &why, "preparing a connection");
    if (it->size < sizeof(it->gloo_at.at) + NUMBER_SIZE)
        return gloo_host->error(MUSTER_ERR_INTERNAL, "Gloo has an address of %zu bytes", it->size);
    memcpy(&it->gloo_at.at, it->bytes, sizeof(it->gloo_at.at));
    it->gloo_at.size = it->plug.at.size;
    return MUSTER_OK;
}

/* Gloo's thread is paused. *cleared is the listening socket at which nobody but a plug can be, for
 * newer versions of Gloo have but one. */
static muster_status plug_in(handing *it, int *cleared)
{
    muster_status status = listen_for(it);
    if (status != MUSTER_OK)
        return status;
    int listener = find_listener(it, *cleared < 0 ? it->plug.fd + 1 : *cleared);
    if (listener >= 0)
        plug_admit(&it->plug, listener);
    if (listener >= 0 && listener != *cleared)
        turn_away(it, listener);
    *cleared = listener;
    it->plugged = plug_connect(&it->plug, &it->gloo_at) && say_number(it);
    return MUSTER_OK;
}

static muster_status plug_in_all(batch *all)
{
    gloo_c_pause *pause = NULL;
    gloo_c_why why;
    gloo_c_status got =
        gloo_c_device_pause(device_handle(all->list[0].comm->device), PAUSE_MS, &pause, &why);
    if (got != GLOO_C_OK)
        return comm_error(got == GLOO_C_IO ? GLOO_C_FAULT : got, &why, "pausing the device");
    int cleared = -1;
    muster_status status = MUSTER_OK;
    for (int i = 0; i < all->count && status == MUSTER_OK; i++)
        status = plug_in(&all->list[i], &cleared);
    gloo_c_device_resume(pause);
    return status;
}

/* Waits until Gloo has taken what came, and finds out whether it was the plugs' connections. The
 * last is waited for first: when it is there, so are the others. */
static muster_status await_all(batch *all)
{
    for (int i = all->count - 1; i >= 0; i--) {
        handing *it = &all->list[i];
        gloo_c_why why;
        gloo_c_status got = GLOO_C_IO;
        if (it->plugged)
            got = gloo_c_pair_await(it->comm->context, it->peer, it->size, &why);
        if (got == GLOO_C_NO_MEMORY)
            return comm_error(got, &why, "connecting");
    }
    descriptors_each(try_other_end, all);
    return MUSTER_OK;
}

/* Gloo's descriptor comes to stand for *fd, which is closed. */
static muster_status swap(const handing *it, int *fd)
{
    const int on = 1;
    gloo_c_why why;
    setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* as Gloo does */
    if (dup3(*fd, it->theirs, O_CLOEXEC) < 0)
        return plug_error("replace");
    close(*fd);
    *fd = -1;
    gloo_c_status got = gloo_c_pair_watch(it->comm->context, it->peer, it->theirs, &why);
    return got == GLOO_C_OK ? MUSTER_OK : comm_error(got, &why, "handing a connection to Gloo");
}

static muster_status hand_over_batch(batch *all, int *fds, const char *address)
{
    muster_status status = MUSTER_OK;
    for (int i = 0; i < all->count && status == MUSTER_OK; i++)
        status = plug_make(&all->list[i].plug, address);
    if (status == MUSTER_OK)
        status = plug_in_all(all);
    if (status == MUSTER_OK)
        status = await_all(all);
    for (int i = 0; i < all->count; i++) {
        const handing *it = &all->list[i];
        if (status == MUSTER_OK && it->theirs >= 0)
            status = swap(it, &fds[it->peer]);
        if (it->plug.fd >= 0)
            close(it->plug.fd);
        /* Also so that the next try finds nothing to close while the thread is paused. */
        if (fds[it->peer] >= 0 && it->size > 0)
            gloo_c_pair_close(it->comm->context, it->peer);
    }
    return status;
}

/* All that are left, a batch at a time; *left is how many remain. */
static muster_status hand_over_all(muster_comm *comm, int *fds, const char *address, int *left)
{
    batch all = {.count = 0};
    muster_status status = MUSTER_OK;
    for (int peer = 0; peer < comm->size && status == MUSTER_OK; peer++) {
        if (fds[peer] >= 0)
            all.list[all.count++] =
                (handing){.comm = comm, .peer = peer, .plug = {.fd = -1}, .theirs = -1};
        if (all.count == 0 || (all.count < BATCH && peer + 1 < comm->size))
            continue;
        status = hand_over_batch(&all, fds, address);
        all.count = 0;
    }
    *left = 0;
    for (int peer = 0; peer < comm->size; peer++)
        *left += fds[peer] >= 0;
    return status;
}

muster_status handover(muster_comm *comm, int *fds, const char *address, deadline end)
{
    int left = comm->size - 1;
    muster_status status = MUSTER_OK;
    pthread_mutex_lock(device_lock(comm->device));
    for (int i = 0; i < TRIES && status == MUSTER_OK && left > 0 && deadline_left_ms(end) > 0; i++)
        status = hand_over_all(comm, fds, address, &left);
    pthread_mutex_unlock(device_lock(comm->device));
    if (status != MUSTER_OK || left == 0)
        return status;
    return gloo_host->error(deadline_left_ms(end) == 0 ? MUSTER_ERR_TIMEOUT : MUSTER_ERR_SYSTEM,
                            "%d connections could not be handed to Gloo; something connects to "
                            "each port of this process before the process itself does",
                            left);
}
