/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for another rank's word, and writing the own one.
 *
 * While there is a core for every rank, who waits looks at the word for a while: it comes sooner
 * than a sleeper wakes. Where ranks share cores it lets others run instead. Then it sleeps, and is
 * woken by the rank that it waits for; nobody wakes anybody while none sleeps.
 *
 * Who writes a word must not miss that somebody falls asleep over it. A fence in every writer would
 * wait until all that it has written has reached the others. So who falls asleep has the system
 * fence all writers, where it can.
 */
#ifndef MUSTER_LOCAL_STATION_H
#define MUSTER_LOCAL_STATION_H

#include "hall_memory.h"

/* Whether writers of this process can be fenced by whoever sleeps. */
bool station_sleepers_fence(void);

/* Wakes those who wait for this rank. */
void station_wake(const hall *of);

/* Writes a word of this rank's room, after all that it has written before, and wakes those who wait
 * for this rank. */
static inline void station_write(const hall *of, _Atomic uint32_t *word, uint32_t number)
{
    /* A sleeper counts itself before it looks at the word for the last time, and has a fence
     * between the two. With one here as well, its own or this rank's, one of the two sees the
     * other. */
    if (of->sleepers_fence) {
        atomic_store_explicit(word, number, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        atomic_store(word, number);
    }
    if (atomic_load(&of->lobby->asleep) != 0)
        station_wake(of);
}

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

/* The failure of this rank in a hall that is not whole. */
muster_status station_failure(hall *of, uint32_t state);

/* MUSTER_OK while the hall is whole. */
static inline muster_status station_check(hall *of)
{
    uint32_t state = atomic_load_explicit(&of->lobby->state, memory_order_acquire);
    return state == HALL_WHOLE ? MUSTER_OK : station_failure(of, state);
}

#endif
