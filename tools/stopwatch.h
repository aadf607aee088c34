/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time for measurements.
 */
#ifndef MUSTER_TOOLS_STOPWATCH_H
#define MUSTER_TOOLS_STOPWATCH_H

#include <time.h>

static inline double stopwatch_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#endif
