/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Element types and reductions: a kernel for each pair, made from one row a type.
 *
 * Integers wrap: signed sums and products are taken in the unsigned type of the same size. min and
 * max of floating types propagate NaN, so that the result does not depend on which rank holds it.
 */
#include "collective/reduce.h"

typedef void (*fold_fn)(void *into, const void *from, size_t count);

#define FOLD(name, ctype, wide, expression)                                                        \
    static void name(void *into, const void *from, size_t count)                                   \
    {                                                                                              \
        ctype *restrict x = into;                                                                  \
        const ctype *restrict y = from;                                                            \
        for (size_t i = 0; i < count; i++) {                                                       \
            const wide a = (wide)x[i], b = (wide)y[i];                                             \
            x[i] = (ctype)(expression);                                                            \
        }                                                                                          \
    }

/* wide is a type in which sum and product can't overflow into undefined behaviour. */
#define INTEGER_FOLDS(suffix, ctype, wide)                                                         \
    FOLD(sum_##suffix, ctype, wide, a + b)                                                         \
    FOLD(prod_##suffix, ctype, wide, a *b)                                                         \
    FOLD(min_##suffix, ctype, ctype, b < a ? b : a)                                                \
    FOLD(max_##suffix, ctype, ctype, b > a ? b : a)

#define FLOAT_FOLDS(suffix, ctype)                                                                 \
    FOLD(sum_##suffix, ctype, ctype, a + b)                                                        \
    FOLD(prod_##suffix, ctype, ctype, a *b)                                                        \
    FOLD(min_##suffix, ctype, ctype, b < a || b != b ? b : a)                                      \
    FOLD(max_##suffix, ctype, ctype, b > a || b != b ? b : a)

INTEGER_FOLDS(int8, int8_t, uint32_t)
INTEGER_FOLDS(uint8, uint8_t, uint32_t)
INTEGER_FOLDS(int32, int32_t, uint32_t)
INTEGER_FOLDS(uint32, uint32_t, uint32_t)
INTEGER_FOLDS(int64, int64_t, uint64_t)
INTEGER_FOLDS(uint64, uint64_t, uint64_t)
FLOAT_FOLDS(float32, float)
FLOAT_FOLDS(float64, double)

#define FOLD_ROW(suffix)                                                                           \
    {                                                                                              \
        sum_##suffix, prod_##suffix, min_##suffix, max_##suffix                                    \
    }

static const struct type_row {
    const char *name;
    size_t size;
    fold_fn folds[MUSTER_NUM_REDUCTIONS];
} types[MUSTER_NUM_TYPES] = {
    [MUSTER_INT8] = {"int8", 1, FOLD_ROW(int8)},
    [MUSTER_UINT8] = {"uint8", 1, FOLD_ROW(uint8)},
    [MUSTER_INT32] = {"int32", 4, FOLD_ROW(int32)},
    [MUSTER_UINT32] = {"uint32", 4, FOLD_ROW(uint32)},
    [MUSTER_INT64] = {"int64", 8, FOLD_ROW(int64)},
    [MUSTER_UINT64] = {"uint64", 8, FOLD_ROW(uint64)},
    [MUSTER_FLOAT32] = {"float32", 4, FOLD_ROW(float32)},
    [MUSTER_FLOAT64] = {"float64", 8, FOLD_ROW(float64)},
};

static const char *const reduction_names[MUSTER_NUM_REDUCTIONS] = {"sum", "prod", "min", "max"};

void reduce_fold(void *into, const void *from, size_t count, muster_type type,
                 muster_reduction redop)
{
    types[type].folds[redop](into, from, count);
}

static bool is_type(muster_type type)
{
    return (unsigned)type < MUSTER_NUM_TYPES;
}

size_t muster_type_size(muster_type type)
{
    return is_type(type) ? types[type].size : 0;
}

const char *muster_type_name(muster_type type)
{
    return is_type(type) ? types[type].name : "unknown";
}

const char *muster_reduction_name(muster_reduction redop)
{
    return (unsigned)redop < MUSTER_NUM_REDUCTIONS ? reduction_names[redop] : "unknown";
}
