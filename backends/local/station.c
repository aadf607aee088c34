/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for another rank's word.
 */
#include "config.h"

#include "station.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "round.h"

enum {
    SPINS = 2000,        /* looks with a core for every rank: some 50 microseconds */
    YIELD_NS = 100000,   /* for so long other ranks may run instead, where they share cores */
    CROWDED_WAITS = 256, /* after a yield that took as long nobody yields for so many waits */
    SPINS_A_CHECK = 64,  /* looks at the word for one at the state of the hall */
    SPINS_A_YIELD = 128, /* and for a core that two ranks have come to share all the same */
    NAP_NS = 50000000,   /* a sleeper looks about itself so often */
    NAP_WITHOUT_FUTEX_NS = 50000
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleeps until the bell rings, or for a nap. */
static void sleep_on(const _Atomic uint32_t *rings, uint32_t seen, int64_t ns)
{
#ifdef __linux__
    struct timespec nap = {0, (long)ns};
    syscall(SYS_futex, rings, FUTEX_WAIT, seen, &nap, NULL, 0);
#else
    struct timespec nap = {0, ns < NAP_WITHOUT_FUTEX_NS ? (long)ns : NAP_WITHOUT_FUTEX_NS};
    if (atomic_load(rings) == seen)
        nanosleep(&nap, NULL);
#endif
}

static void ring(hall_doorbell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
#ifdef __linux__
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, 1, NULL, NULL, 0);
#endif
}

void station_write(hall *of, _Atomic uint32_t *word, uint32_t number)
{
    /* A sleeper counts itself before it looks at the word for the last time. All four accesses are
     * sequentially consistent, so that one of the two sees the other. */
    atomic_store(word, number);
    if (atomic_load(&of->lobby->asleep) == 0)
        return;
    for (int r = 0; r < of->size; r++) {
        hall_doorbell *bell = &of->rooms[r].bell;
        if (atomic_load_explicit(&bell->waits_for, memory_order_relaxed) == (uint32_t)of->rank + 1)
            ring(bell);
    }
}

void station_break(const hall *of, hall_state state)
{
    uint32_t whole = HALL_WHOLE;
    atomic_compare_exchange_strong(&of->lobby->state, &whole, (uint32_t)state);
    for (int r = 0; r < of->size; r++)
        if (r != of->rank)
            ring(&of->rooms[r].bell);
    ring(&hall_my_room(of)->bell);
}

muster_status station_check(hall *of)
{
    uint32_t state = atomic_load_explicit(&of->lobby->state, memory_order_acquire);
    if (state == HALL_WHOLE)
        return MUSTER_OK;
    if (state == HALL_MISMATCHED)
        return round_find_mismatch(of);
    return of->host->error(MUSTER_ERR_FAILED,
                           "the memory that the ranks of this host share was given up");
}

/* Times out. Those that have not even come are named, or who was waited for. */
static muster_status give_up(hall *of, int peer)
{
    char names[256] = "";
    size_t length = 0;
    bool any = false;
    for (int r = 0; r < of->size; r++) {
        of->waited_for[r] = r != of->rank && !round_has_come(of, r);
        any = any || of->waited_for[r];
    }
    if (!any)
        of->waited_for[peer] = true;
    for (int r = 0; r < of->size && length < sizeof(names) - 16; r++)
        if (of->waited_for[r])
            length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%d",
                                       length > 0 ? ", " : "", r);
    station_break(of, HALL_BROKEN);
    return of->host->error(MUSTER_ERR_TIMEOUT,
                           "waited for rank %s of this host in vain, in shared memory", names);
}

static bool is_reached(const _Atomic uint32_t *word, uint32_t target)
{
    return hall_reached(atomic_load_explicit(word, memory_order_acquire), target);
}

/* One nap at most. */
static void nap(hall *of, int peer, const _Atomic uint32_t *word, uint32_t target, int64_t left_ns)
{
    hall_doorbell *bell = &hall_my_room(of)->bell;
    uint32_t seen = atomic_load(&bell->rings);
    atomic_store(&bell->waits_for, (uint32_t)peer + 1);
    atomic_fetch_add(&of->lobby->asleep, 1);
    if (!hall_reached(atomic_load(word), target) && atomic_load(&of->lobby->state) == HALL_WHOLE)
        sleep_on(&bell->rings, seen, left_ns < NAP_NS ? left_ns : NAP_NS);
    atomic_fetch_sub(&of->lobby->asleep, 1);
    atomic_store(&bell->waits_for, 0);
}

/* A yield costs little where only ranks share the core. Where other processes want it too each may
 * take a time slice, and a sleeper comes to its turn much sooner. */
static bool let_others_run(hall *of, const _Atomic uint32_t *word, uint32_t target)
{
    if (of->crowded > 0) {
        of->crowded--;
        return false;
    }
    int64_t begin = deadline_now_ns(), before = begin, now = begin;
    while (now - begin < YIELD_NS && atomic_load(&of->lobby->state) == HALL_WHOLE) {
        sched_yield();
        if (is_reached(word, target))
            return true;
        before = now;
        now = deadline_now_ns();
    }
    if (now - before >= YIELD_NS)
        of->crowded = CROWDED_WAITS;
    return false;
}

/* Looks for a while without sleeping. */
static bool watch(hall *of, const _Atomic uint32_t *word, uint32_t target)
{
    if (of->cores_for_all) {
        for (int i = 0; i < SPINS; i++) {
            if (is_reached(word, target))
                return true;
            if (i % SPINS_A_CHECK == 0 && atomic_load(&of->lobby->state) != HALL_WHOLE)
                return false;
            if (i % SPINS_A_YIELD == SPINS_A_YIELD - 1)
                sched_yield();
            relax();
        }
        return false;
    }
    return let_others_run(of, word, target);
}

muster_status station_wait_long(hall *of, int peer, const _Atomic uint32_t *word, uint32_t target)
{
    if (watch(of, word, target))
        return MUSTER_OK;
    while (!is_reached(word, target)) {
        muster_status status = station_check(of);
        if (status != MUSTER_OK)
            return status;
        int64_t left_ns = of->end.at_ns - deadline_now_ns();
        if (left_ns <= 0)
            return give_up(of, peer);
        nap(of, peer, word, target, left_ns);
    }
    return MUSTER_OK;
}
