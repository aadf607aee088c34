/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guests: connections that have come in and have not yet said who they are.
 */
#include "config.h"

#include "guests.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* So many strangers are told of one by one. */
enum { TELL_OF = 8, BACKLOG = 4096, ADDRESS_TEXT = 80 };

/* magic 4, from 4, to 4, secret 16 */
enum { AT_FROM = 4, AT_TO = 8, AT_SECRET = 12 };

static const char magic[4] = {'M', 'G', 'h', 'i'};

static void put_rank(uint8_t *at, int rank)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)((uint32_t)rank >> 8 * (3 - i));
}

static int get_rank(const uint8_t *at)
{
    uint32_t rank = 0;
    for (int i = 0; i < 4; i++)
        rank = rank << 8 | at[i];
    return (int)rank;
}

void greeting_write(uint8_t bytes[GREETING_SIZE], int from, const struct card *to)
{
    memcpy(bytes, magic, sizeof(magic));
    put_rank(bytes + AT_FROM, from);
    put_rank(bytes + AT_TO, to->rank);
    memcpy(bytes + AT_SECRET, to->secret, SECRET_SIZE);
}

int greeting_read(const uint8_t bytes[GREETING_SIZE], const struct card *to)
{
    uint8_t right[GREETING_SIZE];
    unsigned differs = 0;
    int from = get_rank(bytes + AT_FROM);
    greeting_write(right, from, to);
    /* In a time that does not tell how much of it was right. */
    for (int i = 0; i < GREETING_SIZE; i++)
        differs |= (unsigned)(bytes[i] ^ right[i]);
    return differs == 0 && from >= 0 && from < to->size && from != to->rank ? from : -1;
}

muster_status guests_expect(guests *all, int rank, const char *text,
                            struct sockaddr_storage *address)
{
    socklen_t size = device_address(text, address);
    all->rank = rank;
    all->door = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (all->door < 0 || bind(all->door, (struct sockaddr *)address, size) != 0 ||
        listen(all->door, BACKLOG) != 0 ||
        getsockname(all->door, (struct sockaddr *)address, &size) != 0)
        return gloo_host->error(MUSTER_ERR_SYSTEM, "can't listen at %s: %s", text, strerror(errno));
    return MUSTER_OK;
}

static void turn_away(guests *all, int index, const char *why)
{
    guest *it = &all->list[index];
    char host[ADDRESS_TEXT], port[16];
    if (all->turned_away++ < TELL_OF &&
        getnameinfo((struct sockaddr *)&it->from, sizeof(it->from), host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        gloo_host->log(MUSTER_LOG_WARNING, "rank %d: a stranger at %s port %s was turned away: %s",
                       all->rank, host, port, why);
    close(it->fd);
    memmove(it, it + 1, (size_t)(--all->count - index) * sizeof(*it));
}

nfds_t guests_poll(const guests *all, struct pollfd *polls)
{
    nfds_t count = 0;
    bool open = deadline_left_ms(all->knock) == 0;
    polls[count++] = (struct pollfd){.fd = open ? all->door : -1, .events = POLLIN};
    for (int i = 0; i < all->count; i++)
        polls[count++] = (struct pollfd){.fd = all->list[i].fd, .events = POLLIN};
    return count;
}

/* Hears what there is of a guest's greeting. False: the guest is not there any more. */
static bool hear(guests *all, int index, const struct card *card, guests_welcome welcome,
                 void *user)
{
    guest *it = &all->list[index];
    ssize_t got = recv(it->fd, it->greeting + it->heard, GREETING_SIZE - it->heard, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (got <= 0) {
        turn_away(all, index, "it left without a greeting");
        return false;
    }
    it->heard += (size_t)got;
    if (it->heard < GREETING_SIZE)
        return true;
    int rank = greeting_read(it->greeting, card);
    if (rank < 0) {
        turn_away(all, index, "what it says is no greeting of this group");
        return false;
    }
    int fd = it->fd;
    memmove(it, it + 1, (size_t)(--all->count - index) * sizeof(*it));
    welcome(user, rank, fd);
    return false;
}

/* There are no descriptors left, or no memory. */
static void make_room(guests *all)
{
    enum { LATER_MS = 50 };
    while (all->count > 0)
        turn_away(all, 0, "there are too many connections");
    all->knock = deadline_in(LATER_MS);
}

static void let_in(guests *all, const struct card *card, guests_welcome welcome, void *user)
{
    for (int i = 0; i < GUESTS_MOST; i++) {
        guest it = {.heard = 0};
        socklen_t size = sizeof(it.from);
        it.fd =
            accept4(all->door, (struct sockaddr *)&it.from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (it.fd < 0) {
            if (errno != EAGAIN && errno != EINTR)
                make_room(all);
            return;
        }
        if (all->count == GUESTS_MOST)
            turn_away(all, 0, "it has said nothing for longer than others");
        all->list[all->count++] = it;
        hear(all, all->count - 1, card, welcome, user);
    }
}

void guests_serve(guests *all, const struct pollfd *polls, const struct card *card,
                  guests_welcome welcome, void *user)
{
    /* From the last on, since those that go move the later ones. */
    for (int i = all->count - 1; i >= 0; i--)
        if (polls[1 + i].revents != 0)
            hear(all, i, card, welcome, user);
    if (polls[0].revents != 0)
        let_in(all, card, welcome, user);
}

void guests_end(guests *all)
{
    while (all->count > 0)
        turn_away(all, all->count - 1, "it said nothing, or not all of a greeting");
    if (all->turned_away > TELL_OF)
        gloo_host->log(MUSTER_LOG_WARNING, "rank %d: %d strangers were turned away in all",
                       all->rank, all->turned_away);
    if (all->door >= 0)
        close(all->door);
    all->door = -1;
}
