/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The floating-point modes that C begins with, for the length of a computation: rounding to
 * nearest, subnormal numbers as they are. What the caller had comes back, exceptions too.
 *
 * The functions of C's fenv.h also save and load what no code here depends on, which on x86 takes
 * longer than the reduction of a short array.
 */
#ifndef MUSTER_LIB_FLOAT_MODES_H
#define MUSTER_LIB_FLOAT_MODES_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)

enum { FLOAT_MODES_FLAGS = 0x3f, FLOAT_MODES_AT_FIRST = 0x1f80 };

typedef struct float_modes {
    unsigned callers;
} float_modes;

static inline float_modes float_modes_set(void)
{
    float_modes kept = {__builtin_ia32_stmxcsr()};
    if ((kept.callers & ~(unsigned)FLOAT_MODES_FLAGS) != FLOAT_MODES_AT_FIRST)
        __builtin_ia32_ldmxcsr(FLOAT_MODES_AT_FIRST);
    return kept;
}

static inline void float_modes_restore(float_modes kept)
{
    if (__builtin_ia32_stmxcsr() != kept.callers)
        __builtin_ia32_ldmxcsr(kept.callers);
}

#else

#include <fenv.h>

typedef struct float_modes {
    fenv_t callers;
    bool changed;
} float_modes;

static inline float_modes float_modes_set(void)
{
    float_modes kept;
    kept.changed = fegetenv(&kept.callers) == 0 && fesetenv(FE_DFL_ENV) == 0;
    return kept;
}

static inline void float_modes_restore(float_modes kept)
{
    if (kept.changed)
        fesetenv(&kept.callers);
}

#endif

#endif
