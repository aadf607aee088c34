/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guests: connections that have come in and have not yet said who they are.
 */
#ifndef MUSTER_BACKENDS_GLOO_GUESTS_H
#define MUSTER_BACKENDS_GLOO_GUESTS_H

#include <poll.h>

#include "card.h"
#include "comm.h"

/* What the two ends of a connection tell each other: who speaks, to whom, and that one's secret. */
enum { GREETING_SIZE = 28 };

void greeting_write(uint8_t bytes[GREETING_SIZE], int from, const struct card *to);

/* The rank that has sent a greeting meant for the card's; -1 where it is none of that. */
int greeting_read(const uint8_t bytes[GREETING_SIZE], const struct card *to);

/* More than this many at once, and the one that has been silent for longest has to go. */
enum { GUESTS_MOST = 64 };

typedef struct guest {
    int fd;
    size_t heard;
    uint8_t greeting[GREETING_SIZE];
    struct sockaddr_storage from;
} guest;

typedef struct guests {
    int door;       /* the listening socket, or -1 */
    deadline knock; /* not looked at before */
    int rank;
    int count;
    int turned_away;
    guest list[GUESTS_MOST]; /* the oldest first */
} guests;

/* Who has come in and is a member: the connection is then the receiver's. */
typedef void (*guests_welcome)(void *user, int rank, int fd);

/* Listens at address, and puts there where that is. */
muster_status guests_expect(guests *all, int rank, const char *text,
                            struct sockaddr_storage *address);

/* What guests_serve wants to know: 1 + GUESTS_MOST of polls at most. Returns how many. */
nfds_t guests_poll(const guests *all, struct pollfd *polls);

/* Lets in, hears and turns away; welcome is called for each greeting meant for the card's. */
void guests_serve(guests *all, const struct pollfd *polls, const struct card *card,
                  guests_welcome welcome, void *user);

/* Turns all away and listens no longer. */
void guests_end(guests *all);

#endif
