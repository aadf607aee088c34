/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of integers and of bool.
 *
 * Sums and products wrap: they are taken in the unsigned type of the same size. An average is of
 * the exact sum, in a type that is wide enough for any number of ranks.
 */
#include "reduce/reduce_kernel.h"

__extension__ typedef __int128 wide_signed;
__extension__ typedef unsigned __int128 wide_unsigned;

#define READ(x, s) (x)
/* Cut to the type it is the product in the type. */
#define READ_SCALED(x, s) ((uint64_t)(x) * (uint64_t)(s))
#define WRITE(a, n) (a)
/* Of signed types the quotient is cut towards zero. */
#define WRITE_AVG(a, n) ((a) / (n))
#define WRITE_SIGNED_AVG(a, n) ((a) / (int64_t)(n))

/* wraps is the unsigned type of the same size, wide one that holds any sum. */
#define INTEGER(suffix, ctype, wraps, wide, WRITE_MEAN)                                            \
    REDUCE_KERNEL(sum_##suffix, ctype, wraps, ctype, READ, STEP_SUM, WRITE)                        \
    REDUCE_KERNEL(prod_##suffix, ctype, wraps, ctype, READ, STEP_PROD, WRITE)                      \
    REDUCE_KERNEL(min_##suffix, ctype, ctype, ctype, READ, STEP_MIN, WRITE)                        \
    REDUCE_KERNEL(max_##suffix, ctype, ctype, ctype, READ, STEP_MAX, WRITE)                        \
    REDUCE_KERNEL(avg_##suffix, ctype, wide, ctype, READ, STEP_SUM, WRITE_MEAN)                    \
    REDUCE_KERNEL(and_##suffix, ctype, wraps, ctype, READ, STEP_AND, WRITE)                        \
    REDUCE_KERNEL(or_##suffix, ctype, wraps, ctype, READ, STEP_OR, WRITE)                          \
    REDUCE_KERNEL(xor_##suffix, ctype, wraps, ctype, READ, STEP_XOR, WRITE)                        \
    REDUCE_KERNEL(scaled_##suffix, ctype, wraps, ctype, READ_SCALED, STEP_SUM, WRITE)              \
    const reduce_row reduce_##suffix = {                                                           \
        [MUSTER_SUM] = sum_##suffix,                                                               \
        [MUSTER_PROD] = prod_##suffix,                                                             \
        [MUSTER_MIN] = min_##suffix,                                                               \
        [MUSTER_MAX] = max_##suffix,                                                               \
        [MUSTER_AVG] = avg_##suffix,                                                               \
        [MUSTER_BAND] = and_##suffix,                                                              \
        [MUSTER_BOR] = or_##suffix,                                                                \
        [MUSTER_BXOR] = xor_##suffix,                                                              \
        [MUSTER_PREMUL_SUM] = scaled_##suffix,                                                     \
    };

INTEGER(int8, int8_t, uint8_t, int64_t, WRITE_SIGNED_AVG)
INTEGER(uint8, uint8_t, uint8_t, uint64_t, WRITE_AVG)
INTEGER(int32, int32_t, uint32_t, int64_t, WRITE_SIGNED_AVG)
INTEGER(uint32, uint32_t, uint32_t, uint64_t, WRITE_AVG)
INTEGER(int64, int64_t, uint64_t, wide_signed, WRITE_SIGNED_AVG)
INTEGER(uint64, uint64_t, uint64_t, wide_unsigned, WRITE_AVG)

/* Any bits but 0 are true; a result is 0 or 1. */
#define READ_TRUTH(x, s) ((x) != 0)
REDUCE_KERNEL(and_bool, uint8_t, uint8_t, uint8_t, READ_TRUTH, STEP_AND, WRITE)
REDUCE_KERNEL(or_bool, uint8_t, uint8_t, uint8_t, READ_TRUTH, STEP_OR, WRITE)
REDUCE_KERNEL(xor_bool, uint8_t, uint8_t, uint8_t, READ_TRUTH, STEP_XOR, WRITE)
const reduce_row reduce_bool = {
    [MUSTER_SUM] = or_bool,   [MUSTER_PROD] = and_bool, [MUSTER_MIN] = and_bool,
    [MUSTER_MAX] = or_bool,   [MUSTER_BAND] = and_bool, [MUSTER_BOR] = or_bool,
    [MUSTER_BXOR] = xor_bool,
};
