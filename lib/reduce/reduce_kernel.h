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

/*
 * READ(x, s) makes an accumulator of an element, where s is the scalar of its rank as a SCALAR;
 * STEP(a, b) takes one more; WRITE(a, n) makes an element of what n ranks have come to.
 */
#define REDUCE_KERNEL(name, ctype, wide, SCALAR, READ, STEP, WRITE)                                \
    static void name(void *out, const reduce_input *in, size_t n, size_t first, size_t count)      \
    {                                                                                              \
        wide total[REDUCE_BLOCK];                                                                  \
        const ctype *x = (const ctype *)in[0].data + first;                                        \
        SCALAR s = (SCALAR)in[0].scalar;                                                           \
        for (size_t i = 0; i < count; i++)                                                         \
            total[i] = READ(x[i], s);                                                              \
        for (size_t r = 1; r < n; r++) {                                                           \
            x = (const ctype *)in[r].data + first;                                                 \
            s = (SCALAR)in[r].scalar;                                                              \
            for (size_t i = 0; i < count; i++) {                                                   \
                const wide a = total[i], b = READ(x[i], s);                                        \
                total[i] = (wide)STEP(a, b);                                                       \
            }                                                                                      \
        }                                                                                          \
        ctype *result = (ctype *)out + first;                                                      \
        for (size_t i = 0; i < count; i++)                                                         \
            result[i] = (ctype)WRITE(total[i], n);                                                 \
        (void)s;                                                                                   \
    }

#define STEP_SUM(a, b) ((a) + (b))
#define STEP_PROD(a, b) ((a) * (b))
#define STEP_MIN(a, b) ((b) < (a) ? (b) : (a))
#define STEP_MAX(a, b) ((b) > (a) ? (b) : (a))
#define STEP_AND(a, b) ((a) & (b))
#define STEP_OR(a, b) ((a) | (b))
#define STEP_XOR(a, b) ((a) ^ (b))

#endif
