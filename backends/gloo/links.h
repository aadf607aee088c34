/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Links: a TCP connection for each pair of ranks, on which both have proved that they are members
 * of the group. Whoever else connects is turned away.
 */
#ifndef MUSTER_BACKENDS_GLOO_LINKS_H
#define MUSTER_BACKENDS_GLOO_LINKS_H

#include "card.h"
#include "comm.h"

typedef struct links links;

/* Begins to listen at a free port of the address. */
muster_status links_new(muster_comm *comm, const char *address, links **made);

/* The own card, to be published. */
const struct card *links_card(const links *all);

/* Takes over what the other ranks have published, a blob for each. */
muster_status links_take_cards(links *all, const muster_blob *cards);

/* Connects with every other rank, and listens no longer. timeout_ms is what end was made from. */
muster_status links_connect(links *all, int64_t timeout_ms, deadline end);

/* The sockets of the links by rank, -1 for the own; what is there in links_free is closed. */
int *links_fds(links *all);

void links_free(links *all);

#endif
