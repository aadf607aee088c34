/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ranks exchange before they connect: who they are, how their Gloo connects, and the
 * addresses that each has prepared for each other.
 */
#ifndef MUSTER_BACKENDS_GLOO_ADDRESSES_H
#define MUSTER_BACKENDS_GLOO_ADDRESSES_H

#include "muster/backend.h"

/* More than any version of Gloo uses. */
enum { ADDRESS_SIZE = 192 };

struct card {
    int rank, size;
    int family;     /* '4' or '6' */
    uint32_t scope; /* the interface of an own address that is link-local, else 0 */
    uint64_t nonce; /* known to the members of the group alone */
    size_t address_size;
    const uint8_t *addresses; /* size of them, address_size bytes each; the own one is ignored */
};

/* *blob is allocated. */
muster_status card_write(const struct card *card, muster_blob *blob);

/*
 * Reads what a rank has written, for reader: *nonce is the writer's, address becomes the one it has
 * prepared for the reader. A card that does not fit the reader's own is MUSTER_ERR_MISMATCH with a
 * sentence that names both.
 */
muster_status card_read(const struct card *reader, int writer, muster_blob blob, uint64_t *nonce,
                        uint8_t *address);

#endif
