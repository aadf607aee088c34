/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asking again and again.
 */
#include "config.h"

#include "pause.h"

#include <sched.h>
#include <time.h>

int64_t pause_next_ns(int *times)
{
    enum { YIELDS = 50, SLEEPS = 100, STEP_NS = 10000 };
    if (*times < YIELDS + SLEEPS)
        ++*times;
    return *times <= YIELDS ? 0 : (int64_t)(*times - YIELDS) * STEP_NS;
}

void pause_before_next(int *times)
{
    struct timespec nap = {0, (long)pause_next_ns(times)};
    if (nap.tv_nsec == 0)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}
