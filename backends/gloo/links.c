/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links: a TCP connection for each pair of ranks.
 *
 * Each rank listens before it publishes where, and dials those below it. The one that dials greets
 * with the other's secret, and is greeted back with its own. A rank that refuses a call has ended
 * or given up, and so has one that closes a link; one that hangs up before it has greeted may have
 * been too busy with strangers, and is called again.
 */
#include "config.h"

#include "links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "guests.h"

/* How often the core is asked whether to go on, and how soon a rank is called again. */
enum { ASK_MS = 50, AGAIN_MS = 20, AGAIN_LONGEST_MS = 500 };

typedef enum link_state {
    LINK_WAITING, /* for the other's call, or for the time to call it */
    LINK_CALLING, /* TCP's answer has not come */
    LINK_GREETED, /* its greeting has not come */
    LINK_UP
} link_state;

typedef struct tcp_link {
    link_state state;
    size_t heard;
    uint8_t greeting[GREETING_SIZE];
    struct card card;
    deadline next_call;
    int64_t pause_ms;
} tcp_link;

struct links {
    muster_comm *comm;
    struct card mine;
    guests coming;
    int up; /* links that are */
    tcp_link *list;
    int *fds;
    struct pollfd *polls; /* of the links by rank, then of the guests */
};

static muster_status links_allocate(links *all)
{
    size_t size = (size_t)all->comm->size;
    all->list = calloc(size, sizeof(*all->list));
    all->fds = calloc(size, sizeof(*all->fds));
    all->polls = calloc(size + 1 + GUESTS_MOST, sizeof(*all->polls));
    if (all->list == NULL || all->fds == NULL || all->polls == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for connections with %zu ranks",
                                size);
    for (size_t i = 0; i < size; i++) {
        all->list[i].pause_ms = AGAIN_MS;
        all->fds[i] = -1;
    }
    if (getrandom(all->mine.secret, SECRET_SIZE, 0) != SECRET_SIZE)
        return gloo_host->error(MUSTER_ERR_SYSTEM, "the kernel gives no random numbers");
    return MUSTER_OK;
}

muster_status links_new(muster_comm *comm, const char *address, links **made)
{
    links *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for connections");
    all->comm = comm;
    all->coming.door = -1;
    all->mine.rank = comm->rank;
    all->mine.size = comm->size;
    muster_status status = links_allocate(all);
    if (status == MUSTER_OK)
        status = guests_expect(&all->coming, comm->rank, address, &all->mine.address);
    if (status == MUSTER_OK)
        *made = all;
    else
        links_free(all);
    return status;
}

void links_free(links *all)
{
    guests_end(&all->coming);
    for (int peer = 0; all->fds != NULL && peer < all->comm->size; peer++)
        if (all->fds[peer] >= 0)
            close(all->fds[peer]);
    free(all->list);
    free(all->fds);
    free(all->polls);
    free(all);
}

const struct card *links_card(const links *all)
{
    return &all->mine;
}

int *links_fds(links *all)
{
    return all->fds;
}

muster_status links_take_cards(links *all, const muster_blob *cards)
{
    muster_status status = MUSTER_OK;
    for (int peer = 0; peer < all->comm->size && status == MUSTER_OK; peer++)
        if (peer != all->comm->rank)
            status = card_read(&all->mine, peer, cards[peer], &all->list[peer].card);
    return status;
}

static void hang_up(links *all, int peer)
{
    tcp_link *it = &all->list[peer];
    if (all->fds[peer] >= 0)
        close(all->fds[peer]);
    all->up -= it->state == LINK_UP;
    all->fds[peer] = -1;
    it->state = LINK_WAITING;
    it->heard = 0;
    it->next_call = deadline_in(it->pause_ms);
    it->pause_ms = it->pause_ms * 2 < AGAIN_LONGEST_MS ? it->pause_ms * 2 : AGAIN_LONGEST_MS;
}

static bool greet(const links *all, int peer, int fd)
{
    uint8_t bytes[GREETING_SIZE];
    greeting_write(bytes, all->comm->rank, &all->list[peer].card);
    return send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) == (ssize_t)sizeof(bytes);
}

/* A member has called. If it calls again, the first call has come to nothing. */
static void welcome(void *user, int peer, int fd)
{
    links *all = user;
    if (peer <= all->comm->rank || !greet(all, peer, fd)) {
        close(fd);
        return;
    }
    hang_up(all, peer);
    all->fds[peer] = fd;
    all->list[peer].state = LINK_UP;
    all->up++;
}

static muster_status lost(int peer, const char *how, int error)
{
    return gloo_host->error(MUSTER_ERR_PEER_LOST,
                            "rank %d %s while the group was being connected%s%s; it may have "
                            "ended or given up, or a firewall may be between",
                            peer, how, error != 0 ? ": " : "", error != 0 ? strerror(error) : "");
}

/* Which addresses were chosen is what a wrong interface is known by. */
static const char *address_text(const struct card *card, char text[INET6_ADDRSTRLEN])
{
    const void *at = &card->address;
    const void *number = card->address.ss_family == AF_INET
                             ? (const void *)&((const struct sockaddr_in *)at)->sin_addr
                             : (const void *)&((const struct sockaddr_in6 *)at)->sin6_addr;
    if (inet_ntop(card->address.ss_family, number, text, INET6_ADDRSTRLEN) == NULL)
        snprintf(text, INET6_ADDRSTRLEN, "?");
    return text;
}

static muster_status unreached(const links *all, int peer, int error)
{
    char how[160], there[INET6_ADDRSTRLEN], here[INET6_ADDRSTRLEN];
    snprintf(how, sizeof(how), "at %s could not be reached from %s",
             address_text(&all->list[peer].card, there), address_text(&all->mine, here));
    return lost(peer, how, error);
}

static muster_status call(links *all, int peer)
{
    tcp_link *it = &all->list[peer];
    const struct sockaddr_storage *at = &it->card.address;
    socklen_t size =
        at->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    all->fds[peer] = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (all->fds[peer] < 0)
        return gloo_host->error(MUSTER_ERR_SYSTEM, "can't make a socket: %s", strerror(errno));
    it->state = LINK_CALLING;
    if (connect(all->fds[peer], (const struct sockaddr *)at, size) != 0 && errno != EINPROGRESS &&
        errno != EINTR)
        return unreached(all, peer, errno);
    return MUSTER_OK;
}

static muster_status answered(links *all, int peer)
{
    tcp_link *it = &all->list[peer];
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(all->fds[peer], SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error != 0)
        return unreached(all, peer, error);
    if (greet(all, peer, all->fds[peer]))
        it->state = LINK_GREETED;
    else
        hang_up(all, peer);
    return MUSTER_OK;
}

static muster_status hear(links *all, int peer)
{
    tcp_link *it = &all->list[peer];
    ssize_t got =
        recv(all->fds[peer], it->greeting + it->heard, GREETING_SIZE - it->heard, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return MUSTER_OK;
    if (got <= 0) {
        hang_up(all, peer);
        return MUSTER_OK;
    }
    it->heard += (size_t)got;
    if (it->heard < GREETING_SIZE)
        return MUSTER_OK;
    if (greeting_read(it->greeting, &all->mine) != peer)
        return lost(peer, "is not who answers at its port", 0);
    it->state = LINK_UP;
    all->up++;
    return MUSTER_OK;
}

/* What happened on the socket of one link. */
static muster_status link_serve(links *all, int peer)
{
    switch (all->list[peer].state) {
    case LINK_CALLING:
        return answered(all, peer);
    case LINK_GREETED:
        return hear(all, peer);
    case LINK_UP: /* it was polled for its end alone */
        return lost(peer, "closed its connection", 0);
    case LINK_WAITING:
        break;
    }
    return MUSTER_OK;
}

/* Calls whom it is time to call; *nap_ms is shortened to the next such time. */
static muster_status call_all(links *all, int64_t *nap_ms)
{
    muster_status status = MUSTER_OK;
    for (int peer = 0; peer < all->comm->rank && status == MUSTER_OK; peer++) {
        const tcp_link *it = &all->list[peer];
        if (it->state != LINK_WAITING)
            continue;
        int64_t left = deadline_left_ms(it->next_call);
        if (left == 0)
            status = call(all, peer);
        else if (left < *nap_ms)
            *nap_ms = left;
    }
    return status;
}

static nfds_t fill_polls(links *all)
{
    static const short events[] = {0, POLLOUT, POLLIN, POLLRDHUP};
    for (int peer = 0; peer < all->comm->size; peer++)
        all->polls[peer] =
            (struct pollfd){.fd = all->fds[peer], .events = events[all->list[peer].state]};
    return (nfds_t)all->comm->size + guests_poll(&all->coming, all->polls + all->comm->size);
}

static muster_status serve(links *all)
{
    muster_status status = MUSTER_OK;
    for (int peer = 0; peer < all->comm->size && status == MUSTER_OK; peer++)
        if (all->polls[peer].revents != 0)
            status = link_serve(all, peer);
    if (status == MUSTER_OK)
        guests_serve(&all->coming, all->polls + all->comm->size, &all->mine, welcome, all);
    return status;
}

static muster_status step(links *all, deadline end)
{
    int64_t nap_ms = deadline_left_ms(end) < ASK_MS ? deadline_left_ms(end) : ASK_MS;
    muster_status status = call_all(all, &nap_ms);
    if (status != MUSTER_OK)
        return status;
    int ready = poll(all->polls, fill_polls(all), (int)nap_ms);
    if (ready < 0 && errno != EINTR)
        return gloo_host->error(MUSTER_ERR_SYSTEM, "poll: %s", strerror(errno));
    return ready > 0 ? serve(all) : MUSTER_OK;
}

static muster_status timed_out(const links *all, int64_t timeout_ms)
{
    char missing[400] = "", at[INET6_ADDRSTRLEN];
    size_t used = 0;
    bool several = all->comm->size - 1 - all->up > 1;
    for (int peer = 0; peer < all->comm->size && used < sizeof(missing); peer++)
        if (peer != all->comm->rank && all->list[peer].state != LINK_UP)
            used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%d at %s",
                                     used == 0 ? "" : ", ", peer,
                                     address_text(&all->list[peer].card, at));
    return gloo_host->error(MUSTER_ERR_TIMEOUT,
                            "timed out after %lld ms with no connection from %s to rank%s %s "
                            "(strangers turned away: %d); %s may hang, or a firewall may be "
                            "between",
                            (long long)timeout_ms, address_text(&all->mine, at), several ? "s" : "",
                            missing, all->coming.turned_away + all->coming.count,
                            several ? "they" : "it");
}

muster_status links_connect(links *all, int64_t timeout_ms, deadline end)
{
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && all->up < all->comm->size - 1) {
        if (gloo_host->cancelled(all->comm->owner))
            return gloo_host->error(MUSTER_ERR_FAILED, "another rank has given up");
        if (deadline_left_ms(end) == 0)
            return timed_out(all, timeout_ms);
        status = step(all, end);
    }
    guests_end(&all->coming);
    return status;
}
