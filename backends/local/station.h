/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for another rank's word, and writing the own one.
 *
 * While there is a core for every rank, who waits looks at the word for a while: it comes sooner
 * than a sleeper wakes. Where ranks share cores it lets others run instead. Then it sleeps, and is
 * woken by the rank that it waits for; nobody wakes anybody while none sleeps.
 */
#ifndef MUSTER_LOCAL_STATION_H
#define MUSTER_LOCAL_STATION_H

#include "hall_memory.h"

/* Writes a word of this rank's room, after all that it has written before, and wakes those who wait
 * for this rank. */
void station_write(hall *of, _Atomic uint32_t *word, uint32_t number);

/* Until the word of peer's room has reached target. Fails as hall_run does. */
muster_status station_wait_long(hall *of, int peer, const _Atomic uint32_t *word, uint32_t target);

static inline muster_status station_wait(hall *of, int peer, const _Atomic uint32_t *word,
                                         uint32_t target)
{
    if (hall_reached(atomic_load_explicit(word, memory_order_acquire), target))
        return MUSTER_OK;
    return station_wait_long(of, peer, word, target);
}

/* Breaks the hall for all ranks and wakes them; the first state stays. */
void station_break(const hall *of, hall_state state);

/* MUSTER_OK while the hall is whole, else the failure of this rank. */
muster_status station_check(hall *of);

#endif
