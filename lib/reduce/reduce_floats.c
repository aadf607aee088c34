/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of floating types. Those of 16 and 8 bits are taken in float and rounded once.
 *
 * min and max give NaN where any input is NaN, and of equal values the first, which tells zeros
 * apart. Every NaN in a result is the same one: which of several is handed on depends on the
 * machine, and would not be the same on every rank.
 */
#include "config.h"

#include "reduce/reduce_kernel.h"

#include <math.h>

#include "reduce/small_floats.h"

#define STEP_MIN_NAN(a, b) ((b) < (a) || (b) != (b) ? (b) : (a))
#define STEP_MAX_NAN(a, b) ((b) > (a) || (b) != (b) ? (b) : (a))

/* read makes a wide of an element, write an element of a wide. */
#define FLOATING(suffix, ctype, wide, read, write)                                                 \
    static inline wide scale_##suffix(ctype x, wide s)                                             \
    {                                                                                              \
        const wide scaled = read(x) * s;                                                           \
        return scaled;                                                                             \
    }                                                                                              \
    static inline wide plain_##suffix(ctype x, wide s)                                             \
    {                                                                                              \
        (void)s;                                                                                   \
        return read(x);                                                                            \
    }                                                                                              \
    static inline ctype mean_##suffix(wide a, size_t n)                                            \
    {                                                                                              \
        const wide mean = a / (wide)n;                                                             \
        return write(mean);                                                                        \
    }                                                                                              \
    static inline ctype total_##suffix(wide a, size_t n)                                           \
    {                                                                                              \
        (void)n;                                                                                   \
        return write(a);                                                                           \
    }                                                                                              \
    REDUCE_KERNEL(sum_##suffix, ctype, wide, wide, plain_##suffix, STEP_SUM, total_##suffix)       \
    REDUCE_KERNEL(prod_##suffix, ctype, wide, wide, plain_##suffix, STEP_PROD, total_##suffix)     \
    REDUCE_KERNEL(min_##suffix, ctype, wide, wide, plain_##suffix, STEP_MIN_NAN, total_##suffix)   \
    REDUCE_KERNEL(max_##suffix, ctype, wide, wide, plain_##suffix, STEP_MAX_NAN, total_##suffix)   \
    REDUCE_KERNEL(avg_##suffix, ctype, wide, wide, plain_##suffix, STEP_SUM, mean_##suffix)        \
    REDUCE_KERNEL(scaled_##suffix, ctype, wide, wide, scale_##suffix, STEP_SUM, total_##suffix)    \
    const reduce_row reduce_##suffix = {                                                           \
        [MUSTER_SUM] = sum_##suffix, [MUSTER_PROD] = prod_##suffix,                                \
        [MUSTER_MIN] = min_##suffix, [MUSTER_MAX] = max_##suffix,                                  \
        [MUSTER_AVG] = avg_##suffix, [MUSTER_PREMUL_SUM] = scaled_##suffix,                        \
    };

#define AS_IT_IS(x) (x)

static inline float one_nan_float(float value)
{
    return value != value ? NAN : value;
}

static inline double one_nan_double(double value)
{
    return value != value ? (double)NAN : value;
}

FLOATING(float32, float, float, AS_IT_IS, one_nan_float)
FLOATING(float64, double, double, AS_IT_IS, one_nan_double)
FLOATING(float16, uint16_t, float, float16_read, float16_write)
FLOATING(bfloat16, uint16_t, float, bfloat16_read, bfloat16_write)
FLOATING(float8_e4m3, uint8_t, float, float8_e4m3_read, float8_e4m3_write)
FLOATING(float8_e5m2, uint8_t, float, float8_e5m2_read, float8_e5m2_write)
