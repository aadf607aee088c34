/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of integers and of bool.
 *
 * Sums and products wrap: they are taken in the unsigned type of the same size. An average is of
 * the exact sum, in a type that is wide enough for any number of ranks, or in two words.
 */
#include "config.h"

#include "reduce/reduce_kernel.h"

#define READ(x, s) (x)
/* Cut to the type it is the product in the type. */
#define READ_SCALED(x, s) ((uint64_t)(x) * (uint64_t)(s))
#define WRITE(a, n) (a)
/* Of signed types the quotient is cut towards zero. */
#define WRITE_AVG(a, n) ((a) / (n))
#define WRITE_SIGNED_AVG(a, n) ((a) / (int64_t)(n))

/* The exact sum of integers of 64 bits, as one of 128 in two's complement. */
typedef struct two_words {
    uint64_t high;
    uint64_t low;
} two_words;

/* Of n values the high word is below n, and n is below 2^31: the quotient has one word, which comes
 * in two halves, as one divides by hand. */
static inline uint64_t mean_of_words(two_words sum, uint64_t n)
{
    const uint64_t upper = sum.high << 32 | sum.low >> 32;
    const uint64_t lower = (upper % n) << 32 | (sum.low & UINT32_MAX);
    return (upper / n) << 32 | lower / n;
}

static inline int64_t mean_of_signed_words(two_words sum, uint64_t n)
{
    if (sum.high >> 63 == 0)
        return (int64_t)mean_of_words(sum, n);
    const two_words positive = {~sum.high + (sum.low == 0), ~sum.low + 1};
    return (int64_t)(~mean_of_words(positive, n) + 1);
}

#define HIGH_WORD(x) ((x) < 0 ? UINT64_MAX : 0)
#define HIGH_WORD_UNSIGNED(x) 0

/* A kernel as REDUCE_KERNEL makes them, whose accumulator is two words. */
#define MEAN_OF_WORDS(suffix, ctype, HIGH, MEAN)                                                   \
    REDUCE_VERSIONS                                                                                \
    static void avg_##suffix(void *out, const reduce_input *in, size_t n, size_t first,            \
                             size_t count)                                                         \
    {                                                                                              \
        two_words total[REDUCE_BLOCK] = {{0, 0}};                                                  \
        for (size_t r = 0; r < n; r++) {                                                           \
            const ctype *x = (const ctype *)in[r].data + first;                                    \
            for (size_t i = 0; i < count; i++) {                                                   \
                total[i].low += (uint64_t)x[i];                                                    \
                total[i].high += HIGH(x[i]) + (total[i].low < (uint64_t)x[i]);                     \
            }                                                                                      \
        }                                                                                          \
        ctype *result = (ctype *)out + first;                                                      \
        for (size_t i = 0; i < count; i++)                                                         \
            result[i] = MEAN(total[i], n);                                                         \
    }

MEAN_OF_WORDS(int64, int64_t, HIGH_WORD, mean_of_signed_words)
MEAN_OF_WORDS(uint64, uint64_t, HIGH_WORD_UNSIGNED, mean_of_words)

/* wraps is the unsigned type of the same size; avg_<suffix> is there already. */
#define INTEGER(suffix, ctype, wraps)                                                              \
    REDUCE_KERNEL(sum_##suffix, ctype, wraps, ctype, READ, STEP_SUM, WRITE)                        \
    REDUCE_KERNEL(prod_##suffix, ctype, wraps, ctype, READ, STEP_PROD, WRITE)                      \
    REDUCE_KERNEL(min_##suffix, ctype, ctype, ctype, READ, STEP_MIN, WRITE)                        \
    REDUCE_KERNEL(max_##suffix, ctype, ctype, ctype, READ, STEP_MAX, WRITE)                        \
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

/* wide holds any sum */
#define MEAN(suffix, ctype, wide, WRITE_MEAN)                                                      \
    REDUCE_KERNEL(avg_##suffix, ctype, wide, ctype, READ, STEP_SUM, WRITE_MEAN)

MEAN(int8, int8_t, int64_t, WRITE_SIGNED_AVG)
MEAN(uint8, uint8_t, uint64_t, WRITE_AVG)
MEAN(int32, int32_t, int64_t, WRITE_SIGNED_AVG)
MEAN(uint32, uint32_t, uint64_t, WRITE_AVG)

INTEGER(int8, int8_t, uint8_t)
INTEGER(uint8, uint8_t, uint8_t)
INTEGER(int32, int32_t, uint32_t)
INTEGER(uint32, uint32_t, uint32_t)
INTEGER(int64, int64_t, uint64_t)
INTEGER(uint64, uint64_t, uint64_t)

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
