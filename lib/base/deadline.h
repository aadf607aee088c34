/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A point in time by which something must be done: one for a whole operation, so that its many
 * waits share one time-out.
 */
#ifndef MUSTER_LIB_DEADLINE_H
#define MUSTER_LIB_DEADLINE_H

#include <stdint.h>
#include <time.h>

/* Longer time-outs are taken as this: 50 years, which no clock overflows on, be its seconds of 32
 * bits. */
#define DEADLINE_LONGEST_MS (INT64_C(50) * 365 * 24 * 3600 * 1000)

typedef struct deadline {
    int64_t at_ns; /* CLOCK_MONOTONIC */
} deadline;

static inline int64_t deadline_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The same, up to DEADLINE_COARSE_NS ago: a reading of the clock that costs next to nothing. */
#define DEADLINE_COARSE_NS 10000000

static inline int64_t deadline_coarse_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* timeout_ms from now; negative counts as 0. */
static inline deadline deadline_in(int64_t timeout_ms)
{
    if (timeout_ms < 0)
        timeout_ms = 0;
    if (timeout_ms > DEADLINE_LONGEST_MS)
        timeout_ms = DEADLINE_LONGEST_MS;
    deadline end = {deadline_now_ns() + timeout_ms * 1000000};
    return end;
}

/* The same by the coarse clock, late rather than early. */
static inline deadline deadline_in_about(int64_t timeout_ms)
{
    if (timeout_ms < 0)
        timeout_ms = 0;
    if (timeout_ms > DEADLINE_LONGEST_MS)
        timeout_ms = DEADLINE_LONGEST_MS;
    deadline end = {deadline_coarse_now_ns() + DEADLINE_COARSE_NS + timeout_ms * 1000000};
    return end;
}

/* Milliseconds left, rounded up, so that 0 means that the time is over. */
static inline int64_t deadline_left_ms(deadline end)
{
    int64_t left = end.at_ns - deadline_now_ns();
    return left <= 0 ? 0 : (left + 999999) / 1000000;
}

/* A second before end, or half way there: for what one rank does alone while others wait for it, so
 * that they hear what went wrong instead of finding out that they waited in vain. */
static inline deadline deadline_early(deadline end)
{
    int64_t half_ns = (end.at_ns - deadline_now_ns()) / 2, most_ns = 1000000000;
    int64_t sooner_ns = half_ns < 0 ? 0 : half_ns < most_ns ? half_ns : most_ns;
    deadline early = {end.at_ns - sooner_ns};
    return early;
}

/* What is left for poll(2) and epoll_wait(2). */
static inline int deadline_poll_ms(deadline end)
{
    int64_t left = deadline_left_ms(end);
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

/* For pthread_cond_timedwait on a condition of CLOCK_MONOTONIC. */
static inline struct timespec deadline_timespec(deadline end)
{
    struct timespec at = {(time_t)(end.at_ns / 1000000000), (long)(end.at_ns % 1000000000)};
    return at;
}

#endif
