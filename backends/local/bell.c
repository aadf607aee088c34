/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bells, which are futexes.
 */
#include "config.h"

#include "bell.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void bell_sleep_on(_Atomic uint32_t *word, uint32_t number, deadline end)
{
    /* A minute is no more than a bound: who sleeps looks again and comes back. */
    int64_t left = deadline_left_ms(end);
    left = left > 60000 ? 60000 : left;
    struct timespec most = {(time_t)(left / 1000), (long)(left % 1000 * 1000000)};
    syscall(SYS_futex, word, FUTEX_WAIT, number, &most, NULL, 0);
}

void bell_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

uint32_t bell_answer(segment_cell *cell)
{
    uint32_t number = atomic_load(&cell->bell);
    atomic_fetch_add(&cell->sleepers, 1);
    return number;
}

void bell_stay_awake(segment_cell *cell)
{
    atomic_fetch_sub(&cell->sleepers, 1);
}

void bell_sleep(segment_cell *cell, uint32_t number, deadline end)
{
    bell_sleep_on(&cell->bell, number, end);
    bell_stay_awake(cell);
}

void bell_ring(segment_cell *cell)
{
    if (atomic_load(&cell->sleepers) == 0)
        return;
    atomic_fetch_add(&cell->bell, 1);
    bell_wake_all(&cell->bell);
}
