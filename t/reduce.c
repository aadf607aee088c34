/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every reduction of every type against a model in wider arithmetic, at the edges of each type.
 */
#include "collective/reduce.h"

#include <math.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* What an integer type makes of a number, by its size and sign alone. */
static wide wrapped(wide value, unsigned bits, bool is_signed)
{
    unsigned_wide range = (unsigned_wide)1 << bits;
    unsigned_wide low = (unsigned_wide)value % range;
    return is_signed && low >= range / 2 ? (wide)low - (wide)range : (wide)low;
}

static wide model(wide a, wide b, muster_reduction redop)
{
    switch (redop) {
    case MUSTER_SUM:
        return a + b;
    case MUSTER_PROD:
        return (wide)((unsigned_wide)a * (unsigned_wide)b);
    case MUSTER_MIN:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

/* All pairs of values at the edges, in one call; the elements behind them must stay. */
#define INTEGER_CHECK(name, ctype, type, bits, is_signed)                                          \
    static bool name(muster_reduction redop)                                                       \
    {                                                                                              \
        const wide top = ((wide)1 << ((bits) - (is_signed))) - 1;                                  \
        const wide edges[] = {                                                                     \
            (is_signed) ? -top - 1 : 0, (is_signed) ? -1 : 2, 0, 1, 3, 7, top / 2, top - 1, top};  \
        ctype into[COUNT(edges) * COUNT(edges) + 1], from[COUNT(edges) * COUNT(edges) + 1];        \
        size_t count = COUNT(into) - 1;                                                            \
        for (size_t i = 0; i < count; i++) {                                                       \
            into[i] = (ctype)edges[i / COUNT(edges)];                                              \
            from[i] = (ctype)edges[i % COUNT(edges)];                                              \
        }                                                                                          \
        into[count] = from[count] = 5;                                                             \
        reduce_fold(into, from, count, type, redop);                                               \
        bool right = into[count] == 5;                                                             \
        for (size_t i = 0; i < count; i++)                                                         \
            right = right && (wide)into[i] == wrapped(model(edges[i / COUNT(edges)],               \
                                                            edges[i % COUNT(edges)], redop),       \
                                                      bits, is_signed);                            \
        return right;                                                                              \
    }

INTEGER_CHECK(check_int8, int8_t, MUSTER_INT8, 8, 1)
INTEGER_CHECK(check_uint8, uint8_t, MUSTER_UINT8, 8, 0)
INTEGER_CHECK(check_int32, int32_t, MUSTER_INT32, 32, 1)
INTEGER_CHECK(check_uint32, uint32_t, MUSTER_UINT32, 32, 0)
INTEGER_CHECK(check_int64, int64_t, MUSTER_INT64, 64, 1)
INTEGER_CHECK(check_uint64, uint64_t, MUSTER_UINT64, 64, 0)

static double float_model(double a, double b, muster_reduction redop)
{
    switch (redop) {
    case MUSTER_SUM:
        return a + b;
    case MUSTER_PROD:
        return a * b;
    case MUSTER_MIN:
        return isnan(a) || isnan(b) ? NAN : fmin(a, b);
    default:
        return isnan(a) || isnan(b) ? NAN : fmax(a, b);
    }
}

/* Values whose sums and products are exact in float, so that one model serves both types. */
static const double floats[] = {-INFINITY, -1024.5, -1, 0, 0.25, 1, 3, 65536, INFINITY, NAN};

#define FLOAT_CHECK(name, ctype, type)                                                             \
    static bool name(muster_reduction redop)                                                       \
    {                                                                                              \
        bool right = true;                                                                         \
        for (size_t i = 0; i < COUNT(floats) * COUNT(floats); i++) {                               \
            double a = floats[i / COUNT(floats)], b = floats[i % COUNT(floats)];                   \
            ctype into = (ctype)a, from = (ctype)b;                                                \
            double expected = float_model(a, b, redop);                                            \
            reduce_fold(&into, &from, 1, type, redop);                                             \
            right = right && (isnan(expected) ? isnan(into) : (double)into == expected);           \
        }                                                                                          \
        return right;                                                                              \
    }

FLOAT_CHECK(check_float32, float, MUSTER_FLOAT32)
FLOAT_CHECK(check_float64, double, MUSTER_FLOAT64)

static const struct {
    const char *name;
    bool (*check)(muster_reduction redop);
    size_t size;
} types[MUSTER_NUM_TYPES] = {
    [MUSTER_INT8] = {"int8", check_int8, 1},
    [MUSTER_UINT8] = {"uint8", check_uint8, 1},
    [MUSTER_INT32] = {"int32", check_int32, 4},
    [MUSTER_UINT32] = {"uint32", check_uint32, 4},
    [MUSTER_INT64] = {"int64", check_int64, 8},
    [MUSTER_UINT64] = {"uint64", check_uint64, 8},
    [MUSTER_FLOAT32] = {"float32", check_float32, 4},
    [MUSTER_FLOAT64] = {"float64", check_float64, 8},
};

static void names(void)
{
    static const char *const reductions[] = {"sum", "prod", "min", "max"};
    bool right = true;
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        right = right && strcmp(muster_type_name((muster_type)t), types[t].name) == 0 &&
                muster_type_size((muster_type)t) == types[t].size;
    for (int r = 0; r < MUSTER_NUM_REDUCTIONS; r++)
        right = right && strcmp(muster_reduction_name((muster_reduction)r), reductions[r]) == 0;
    ok(right, "names and sizes");
    is_str(muster_type_name(MUSTER_NUM_TYPES), "unknown", "what is no type");
    is_str(muster_type_name((muster_type)-1), "unknown", "what is below all types");
    is_int((long long)muster_type_size(MUSTER_NUM_TYPES), 0, "has no size");
    is_int((long long)muster_type_size((muster_type)-1), 0, "nor has that");
    is_str(muster_reduction_name(MUSTER_NUM_REDUCTIONS), "unknown", "what is no reduction");
    is_str(muster_reduction_name((muster_reduction)-1), "unknown", "and below all of them");
}

int main(void)
{
    plan(MUSTER_NUM_TYPES * MUSTER_NUM_REDUCTIONS + 9);
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        for (int r = 0; r < MUSTER_NUM_REDUCTIONS; r++)
            ok(types[t].check((muster_reduction)r), "%s %s", types[t].name,
               muster_reduction_name((muster_reduction)r));
    double nothing = 1;
    reduce_fold(&nothing, &nothing, 0, MUSTER_FLOAT64, MUSTER_SUM);
    ok(nothing == 1, "no element");
    float zeros[] = {-0.0F, 0.0F}, others[] = {0.0F, -0.0F};
    reduce_fold(zeros, others, 2, MUSTER_FLOAT32, MUSTER_MIN);
    ok(signbit(zeros[0]) && !signbit(zeros[1]), "of equal values the first stays");
    names();
    return done();
}
