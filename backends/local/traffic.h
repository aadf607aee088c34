/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a rank has given to the others of its host in whole operations, and taken from them.
 */
#ifndef MUSTER_LOCAL_TRAFFIC_H
#define MUSTER_LOCAL_TRAFFIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "muster/backend.h"

/* Written by the thread that runs an operation, read by any. */
typedef struct traffic {
    _Atomic uint64_t operations;
    _Atomic uint64_t given; /* bytes put where others read them, once however many do */
    _Atomic uint64_t taken; /* bytes read of what others have put there */
} traffic;

/* There is one writer, so no other can come between. */
static inline void traffic_add_to(_Atomic uint64_t *sum, uint64_t more)
{
    uint64_t before = atomic_load_explicit(sum, memory_order_relaxed);
    atomic_store_explicit(sum, before + more, memory_order_relaxed);
}

static inline void traffic_add_bytes(traffic *sum, uint64_t given, uint64_t taken)
{
    traffic_add_to(&sum->operations, 1);
    traffic_add_to(&sum->given, given);
    traffic_add_to(&sum->taken, taken);
}

/* Adds an operation that went well, on that rank of size; in slots is one that small_run carried
 * out. */
void traffic_add(traffic *sum, const muster_call *call, int rank, int size, bool in_slots);

#endif
