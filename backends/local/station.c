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
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "relax.h"
#include "round.h"

enum {
    SPINS = 2000,      /* looks with a core for every rank: some 50 microseconds */
    EAGER_SPINS = 50,  /* without a pause between them: the word mostly comes sooner than it ends */
    YIELD_NS = 100000, /* for so long other ranks may run instead, where they share cores */
    CROWDED_SPINS = 64,        /* looks before it sleeps there: some 2 microseconds */
    CROWDED_WAITS = 256,       /* after a yield that took as long nobody yields for so many waits */
    SPINS_A_CHECK = 64,        /* looks at the word for one at the state of the hall */
    SPINS_A_YIELD = 128,       /* and for a core that two ranks have come to share all the same */
    NAP_NS = 50000000,         /* a sleeper looks about itself so often */
    UNFENCED_NAP_NS = 1000000, /* and where it may have missed a word */
    NAP_WITHOUT_FUTEX_NS = 50000
};

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

bool station_sleepers_fence(void)
{
#ifdef __linux__
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#else
    return false;
#endif
}

/* All threads of ranks whose writers have no fence pass one before it returns; false where the
 * system refuses. */
static bool fence_writers(void)
{
#ifdef __linux__
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
#else
    return true; /* all of them have one */
#endif
}

void station_wake(const hall *of)
{
    for (int r = 0; r < of->size; r++) {
        hall_doorbell *bell = &of->rooms[r].bell;
        uint32_t me = (uint32_t)of->rank + 1;
        /* Once: a sleeper that shares this core wakes long after, and does not sleep before it has
         * looked. */
        if (atomic_load_explicit(&bell->waits_for, memory_order_relaxed) == me &&
            atomic_compare_exchange_strong(&bell->waits_for, &me, 0))
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

muster_status station_failure(hall *of, uint32_t state)
{
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
    int64_t most_ns = fence_writers() ? NAP_NS : UNFENCED_NAP_NS;
    if (!hall_reached(atomic_load(word), target) && atomic_load(&of->lobby->state) == HALL_WHOLE)
        sleep_on(&bell->rings, seen, left_ns < most_ns ? left_ns : most_ns);
    atomic_fetch_sub(&of->lobby->asleep, 1);
    atomic_store(&bell->waits_for, 0);
}

/* It may be about to come from a rank that runs on another core, which else would have to wake this
 * one, and so for each operation that follows. */
static bool look_shortly(const _Atomic uint32_t *word, uint32_t target)
{
    for (int i = 0; i < CROWDED_SPINS; i++) {
        if (is_reached(word, target))
            return true;
        relax();
    }
    return false;
}

/* A yield costs little where only ranks share the core. Where other processes want it too each may
 * take a time slice, and a sleeper comes to its turn much sooner. */
static bool let_others_run(hall *of, const _Atomic uint32_t *word, uint32_t target)
{
    if (of->crowded > 0) {
        of->crowded--;
        return look_shortly(word, target);
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
            if (i > EAGER_SPINS)
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
    if (of->end.at_ns == 0)
        of->end = deadline_in(of->timeout_ms);
    if (of->waits != NULL)
        of->waits(of->waiter);
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
