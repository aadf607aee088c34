/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading other ranks' memory where it is: one copy, made by the kernel for the one who reads.
 *
 * Nobody ever writes into another rank's memory: a rank that gave up its operation may have put
 * something else there. For the same reason who reads looks whether the hall is still whole when it
 * has read all, before it says that its operation went well.
 */
#ifndef MUSTER_LOCAL_DIRECT_H
#define MUSTER_LOCAL_DIRECT_H

#include "blocks.h"

/* Says in a slot where this rank's send is; and what another has said. */
static inline void direct_offer(hall_slot *slot, const void *send)
{
    uint64_t address = (uint64_t)(uintptr_t)send;
    memcpy(slot->payload, &address, sizeof(address));
}

static inline uint64_t direct_send_of(const hall_slot *slot)
{
    uint64_t address;
    memcpy(&address, slot->payload, sizeof(address));
    return address;
}

/* Reads so many bytes at an address of peer. */
muster_status direct_read(hall *of, int peer, void *to, uint64_t from, size_t bytes);

/* The operations that move blocks. */
muster_status direct_move(hall *of);

#endif
