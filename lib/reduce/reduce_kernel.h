/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How an array is reduced: a kernel for each pair of type and reduction takes a block of elements
 * through an accumulator, which may be wider than the type, and rounds once in the end.
 *
 * The loops are simple enough for the compiler to make vector code of them. A block and its
 * accumulator stay in the first cache while the inputs pass by.
 */
#ifndef MUSTER_LIB_REDUCE_KERNEL_H
#define MUSTER_LIB_REDUCE_KERNEL_H

#include "reduce/reduce.h"

enum { REDUCE_BLOCK = 512 };

/* Reduces count elements, at most REDUCE_BLOCK, beginning with the one at first. */
typedef void (*reduce_kernel)(void *out, const reduce_input *in, size_t n, size_t first,
                              size_t count);

/* The kernels of one type; NULL where it lacks the reduction. */
typedef reduce_kernel reduce_row[MUSTER_NUM_REDUCTIONS];

extern const reduce_row reduce_int8, reduce_uint8, reduce_int32, reduce_uint32, reduce_int64,
    reduce_uint64, reduce_bool, reduce_float32, reduce_float64, reduce_float16, reduce_bfloat16,
    reduce_float8_e4m3, reduce_float8_e5m2;

/* Versions of a function for several processors, of which the dynamic linker takes the best that is
 * there. The bits are the same in all: products are not contracted with sums. */
#ifdef HAVE_TARGET_CLONES
#define REDUCE_VERSIONS __attribute__((target_clones("avx2", "default")))
#else
#define REDUCE_VERSIONS
#endif

/* What is written never lies above what is still to be read, so that a loop may take several
 * elements at once. */
#if defined(__clang__)
#define REDUCE_FORWARD _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define REDUCE_FORWARD _Pragma("GCC ivdep")
#else
#define REDUCE_FORWARD
#endif

/*
 * READ(x, s) makes an accumulator of an element, where s is the scalar of its rank as a SCALAR;
 * STEP(a, b) takes one more; WRITE(a, n) makes an element of what n ranks have come to.
 *
 * Two inputs, which most blocks have, go through no accumulator in memory where the type needs no
 * wider one; of more the first two begin it, and what the last one adds is written at once.
 */
#define REDUCE_KERNEL(name, ctype, wide, SCALAR, READ, STEP, WRITE)                                \
    REDUCE_VERSIONS                                                                                \
    static void name(void *out, const reduce_input *in, size_t n, size_t first, size_t count)      \
    {                                                                                              \
        const ctype *x = (const ctype *)in[0].data + first;                                        \
        const ctype *y = (const ctype *)in[n - 1].data + first;                                    \
        SCALAR s = (SCALAR)in[0].scalar, u = (SCALAR)in[n - 1].scalar;                             \
        ctype *result = (ctype *)out + first;                                                      \
        wide total[REDUCE_BLOCK];                                                                  \
        (void)s, (void)u;                                                                          \
        if (n == 1) {                                                                              \
            REDUCE_FORWARD                                                                         \
            for (size_t i = 0; i < count; i++) {                                                   \
                const wide a = READ(x[i], s);                                                      \
                result[i] = (ctype)WRITE(a, n);                                                    \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        if (n == 2 && sizeof(wide) == sizeof(ctype)) {                                             \
            REDUCE_FORWARD                                                                         \
            for (size_t i = 0; i < count; i++) {                                                   \
                const wide a = READ(x[i], s), b = READ(y[i], u);                                   \
                const wide both = (wide)STEP(a, b);                                                \
                result[i] = (ctype)WRITE(both, n);                                                 \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        const ctype *z = (const ctype *)in[1].data + first;                                        \
        SCALAR v = (SCALAR)in[1].scalar;                                                           \
        if (n == 2)                                                                                \
            for (size_t i = 0; i < count; i++)                                                     \
                total[i] = READ(x[i], s);                                                          \
        else                                                                                       \
            for (size_t i = 0; i < count; i++) {                                                   \
                const wide a = READ(x[i], s), b = READ(z[i], v);                                   \
                total[i] = (wide)STEP(a, b);                                                       \
            }                                                                                      \
        for (size_t r = 2; r < n - 1; r++) {                                                       \
            z = (const ctype *)in[r].data + first;                                                 \
            v = (SCALAR)in[r].scalar;                                                              \
            for (size_t i = 0; i < count; i++) {                                                   \
                const wide a = total[i], b = READ(z[i], v);                                        \
                total[i] = (wide)STEP(a, b);                                                       \
            }                                                                                      \
        }                                                                                          \
        (void)v;                                                                                   \
        REDUCE_FORWARD                                                                             \
        for (size_t i = 0; i < count; i++) {                                                       \
            const wide a = total[i], b = READ(y[i], u);                                            \
            const wide all = (wide)STEP(a, b);                                                     \
            result[i] = (ctype)WRITE(all, n);                                                      \
        }                                                                                          \
    }

#define STEP_SUM(a, b) ((a) + (b))
#define STEP_PROD(a, b) ((a) * (b))
#define STEP_MIN(a, b) ((b) < (a) ? (b) : (a))
#define STEP_MAX(a, b) ((b) > (a) ? (b) : (a))
#define STEP_AND(a, b) ((a) & (b))
#define STEP_OR(a, b) ((a) | (b))
#define STEP_XOR(a, b) ((a) ^ (b))

#endif
