/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks exchange before they connect: who they are, where they can be reached, and a
 * number by which they know whoever has read it from a stranger.
 */
#ifndef MUSTER_BACKENDS_GLOO_CARD_H
#define MUSTER_BACKENDS_GLOO_CARD_H

#include <sys/socket.h>

#include "muster/backend.h"

enum { SECRET_SIZE = 16, CARD_SIZE = 52 };

struct card {
    int rank, size;
    struct sockaddr_storage address; /* where the rank listens */
    uint8_t secret[SECRET_SIZE];     /* known to the members of the group alone */
};

void card_write(const struct card *card, uint8_t bytes[CARD_SIZE]);

/*
 * Reads what the rank writer has written. What does not fit the reader's own card is
 * MUSTER_ERR_MISMATCH or MUSTER_ERR_PROTOCOL with a sentence that names both.
 */
muster_status card_read(const struct card *reader, int writer, muster_blob blob, struct card *card);

#endif
