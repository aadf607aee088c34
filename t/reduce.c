/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every reduction of every type against a plain model, bit by bit: awkward lengths, all pairs of
 * the small types, results in place, and threads with other floating-point modes.
 */
#include "reduce/reduce.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "tap.h"
#include "reduce/types.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MOST_ARRAYS = 17, MOST = 65536 };

static uint64_t in[MOST_ARRAYS][MOST], out[MOST + 1], expected[MOST];
static const double scalars[MOST_ARRAYS] = {1, 3, 0, 7, 2, 5};
static long long checked;

static bool reduces(int n, size_t count, muster_type type, muster_reduction kind, int in_place)
{
    const void *arrays[MOST_ARRAYS];
    reduce_input inputs[MOST_ARRAYS];
    size_t bytes = count * muster_type_size(type);
    for (int r = 0; r < n; r++) {
        arrays[r] = in[r];
        inputs[r] = (reduce_input){in[r], scalars[r]};
    }
    model_reduce(expected, arrays, scalars, n, count, type, kind);
    memset(out, 0xa5, bytes + 1);
    if (in_place >= 0) {
        memcpy(out, in[in_place], bytes);
        inputs[in_place].data = out;
    }
    reduce_arrays(out, inputs, (size_t)n, count, type, kind);
    checked++;
    bool right = memcmp(out, expected, bytes) == 0 && ((unsigned char *)out)[bytes] == 0xa5;
    if (!right)
        diag("%s of %zu %s, %d arrays, in place %d", muster_reduction_name(kind), count,
             muster_type_name(type), n, in_place);
    return right;
}

/* Lengths about a block, and numbers of ranks. */
static bool lengths(muster_type type, muster_reduction kind, uint64_t seed)
{
    static const size_t counts[] = {0, 1, 2, 7, 511, 512, 513, 1025};
    static const int ns[] = {1, 2, 3, 8, 17};
    bool right = true;
    for (size_t i = 0; right && i < COUNT(counts) * COUNT(ns); i++) {
        size_t count = counts[i % COUNT(counts)];
        int n = ns[i / COUNT(counts)];
        for (int r = 0; r < n; r++)
            model_fill(in[r], type, model_hash(seed, i * 32 + (uint64_t)r), count);
        right = reduces(n, count, type, kind, -1) &&
                reduces(n, count, type, kind, (int)(count % (size_t)n));
    }
    return right;
}

/* Every pair of an 8-bit type; every pattern of a 16-bit one with some others. */
static bool pairs(muster_type type, muster_reduction kind)
{
    for (size_t i = 0; i < MOST; i++)
        if (muster_type_size(type) == 1) {
            ((uint8_t *)in[0])[i] = (uint8_t)i;
            ((uint8_t *)in[1])[i] = (uint8_t)(i >> 8);
        } else {
            ((uint16_t *)in[0])[i] = (uint16_t)i;
            ((uint16_t *)in[1])[i] = (uint16_t)(i * 40503);
        }
    return reduces(2, MOST, type, kind, -1);
}

static void every_pair(uint64_t seed)
{
    for (int t = 0; t < MUSTER_NUM_TYPES; t++)
        for (int k = 0; k < MUSTER_NUM_REDUCTIONS; k++) {
            muster_type type = (muster_type)t;
            muster_reduction kind = (muster_reduction)k;
            const char *name = muster_type_name(type), *redop = muster_reduction_name(kind);
            muster_status status = reduce_check(type, kind, 2);
            if (!model_has(type, kind)) {
                is_int(status, MUSTER_ERR_ARGUMENT, "%s has no %s: %s", name, redop,
                       muster_last_error());
                continue;
            }
            bool right = status == MUSTER_OK && lengths(type, kind, seed);
            ok(right && (muster_type_size(type) > 2 || pairs(type, kind)), "%s %s", name, redop);
        }
}

/* In place as MPI means it: the result lies where the first of several slices began, however little
 * below, so that it overtakes what is read. */
static bool is_right_below(int n, int offset)
{
    enum { LONG = 2000 };
    float *array = (float *)in[0];
    reduce_input inputs[4];
    for (int i = 0; i < LONG + offset; i++)
        array[i] = (float)i;
    for (int r = 0; r < n; r++)
        inputs[r] = (reduce_input){array + offset, 1};
    reduce_arrays(array, inputs, (size_t)n, LONG, MUSTER_FLOAT32, MUSTER_SUM);
    for (int i = 0; i < LONG; i++)
        if (array[i] != (float)(n * (i + offset)))
            return false;
    return true;
}

static void below(void)
{
    static const int offsets[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 300, 511, 512, 513};
    bool right = true;
    for (int n = 1; n <= 4; n++)
        for (size_t i = 0; i < COUNT(offsets); i++)
            right = right && is_right_below(n, offsets[i]);
    ok(right, "a result that begins below an input");
}

static void modes(void)
{
    const float one[] = {1}, tiny[] = {0x1p-24F};
    float sum;
    fesetround(FE_UPWARD);
    reduce_arrays(&sum, (reduce_input[]){{one, 1}, {tiny, 1}}, 2, 1, MUSTER_FLOAT32, MUSTER_SUM);
    ok(fegetround() == FE_UPWARD, "the caller's rounding mode is as before");
    fesetround(FE_TONEAREST);
    ok(sum == 1, "and has no effect");
    feclearexcept(FE_ALL_EXCEPT);
    const float huge[] = {0x1p127F};
    reduce_arrays(&sum, (reduce_input[]){{huge, 1}, {huge, 1}}, 2, 1, MUSTER_FLOAT32, MUSTER_SUM);
    ok(isinf(sum) && fetestexcept(FE_ALL_EXCEPT) == 0, "nor does it see exceptions");
}

static void scalars_checked(void)
{
    static const struct {
        muster_type type;
        double scalar;
        bool fits;
    } cases[] = {
        {MUSTER_INT8, -128, true},        {MUSTER_INT8, 128, false},
        {MUSTER_UINT8, 255, true},        {MUSTER_UINT8, -1, false},
        {MUSTER_INT64, -0x1p63, true},    {MUSTER_INT64, 0x1p63, false},
        {MUSTER_UINT64, 0x1p63, true},    {MUSTER_UINT64, 0x1p64, false},
        {MUSTER_INT32, 0.5, false},       {MUSTER_INT32, NAN, false},
        {MUSTER_UINT32, INFINITY, false}, {MUSTER_FLOAT32, NAN, true},
        {MUSTER_FLOAT8_E4M3, 0.1, true},  {MUSTER_FLOAT64, -INFINITY, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        is_int(reduce_check(cases[i].type, MUSTER_PREMUL_SUM, cases[i].scalar),
               cases[i].fits ? MUSTER_OK : MUSTER_ERR_ARGUMENT, "%g times %s", cases[i].scalar,
               muster_type_name(cases[i].type));
    reduce_check(MUSTER_INT32, MUSTER_PREMUL_SUM, 0.5);
    has_str(muster_last_error(), "0.5 is no int32", "it says so");
}

static void names(void)
{
    static const struct {
        const char *name;
        size_t size;
        bool floating;
    } types[] = {{"int8", 1, false},    {"uint8", 1, false},      {"int32", 4, false},
                 {"uint32", 4, false},  {"int64", 8, false},      {"uint64", 8, false},
                 {"float32", 4, true},  {"float64", 8, true},     {"float16", 2, true},
                 {"bfloat16", 2, true}, {"float8_e4m3", 1, true}, {"float8_e5m2", 1, true},
                 {"bool", 1, false}};
    static const char *const reductions[] = {"sum",  "prod", "min",  "max",       "avg",
                                             "band", "bor",  "bxor", "premul_sum"};
    bool right = COUNT(types) == MUSTER_NUM_TYPES && COUNT(reductions) == MUSTER_NUM_REDUCTIONS;
    for (int t = 0; right && t < MUSTER_NUM_TYPES; t++)
        right = strcmp(muster_type_name((muster_type)t), types[t].name) == 0 &&
                muster_type_size((muster_type)t) == types[t].size &&
                type_is_floating((muster_type)t) == types[t].floating;
    for (int r = 0; right && r < MUSTER_NUM_REDUCTIONS; r++)
        right = strcmp(muster_reduction_name((muster_reduction)r), reductions[r]) == 0;
    ok(right, "names and sizes");
    is_str(muster_type_name(MUSTER_NUM_TYPES), "unknown", "what is no type");
    is_str(muster_type_name((muster_type)-1), "unknown", "what is below all types");
    is_int((long long)muster_type_size(MUSTER_NUM_TYPES), 0, "has no size");
    is_int((long long)muster_type_size((muster_type)-1), 0, "nor has that");
    is_str(muster_reduction_name(MUSTER_NUM_REDUCTIONS), "unknown", "what is no reduction");
    is_str(muster_reduction_name((muster_reduction)-1), "unknown", "and below all of them");
    is_str(muster_reduction_name((muster_reduction)(7 << REDUCTION_NUMBER_SHIFT)), "unknown",
           "a sum has no number");
    is_str(
        muster_reduction_name((muster_reduction)(7 << REDUCTION_NUMBER_SHIFT | MUSTER_PREMUL_SUM)),
        "premul_sum", "a pre-multiplied one has");
}

int main(void)
{
    uint64_t seed = model_seed();
    plan(MUSTER_NUM_TYPES * MUSTER_NUM_REDUCTIONS + 28);
    every_pair(seed);
    diag("MUSTER_TEST_SEED=%llu: %lld arrays compared", (unsigned long long)seed, checked);
    below();
    modes();
    scalars_checked();
    names();
    return done();
}
