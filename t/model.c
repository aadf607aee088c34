/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain model of element types and reductions. Integers go by way of 64 bits, where sums and
 * products wrap as in narrower types; small floating types are read and written by slow_floats.c.
 */
#include "config.h"

#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "slow_floats.h"

typedef enum model_kind { SIGNED, UNSIGNED, TRUTH, SMALL, SINGLE, DOUBLE } model_kind;

static const struct {
    size_t size;
    model_kind kind;
    int format; /* of slow_formats */
} rows[MUSTER_NUM_TYPES] = {
    [MUSTER_INT8] = {1, SIGNED, 0},
    [MUSTER_UINT8] = {1, UNSIGNED, 0},
    [MUSTER_INT32] = {4, SIGNED, 0},
    [MUSTER_UINT32] = {4, UNSIGNED, 0},
    [MUSTER_INT64] = {8, SIGNED, 0},
    [MUSTER_UINT64] = {8, UNSIGNED, 0},
    [MUSTER_FLOAT32] = {4, SINGLE, 0},
    [MUSTER_FLOAT64] = {8, DOUBLE, 0},
    [MUSTER_FLOAT16] = {2, SMALL, SLOW_FLOAT16},
    [MUSTER_BFLOAT16] = {2, SMALL, SLOW_BFLOAT16},
    [MUSTER_FLOAT8_E4M3] = {1, SMALL, SLOW_FLOAT8_E4M3},
    [MUSTER_FLOAT8_E5M2] = {1, SMALL, SLOW_FLOAT8_E5M2},
    [MUSTER_BOOL] = {1, TRUTH, 0},
};

uint64_t model_seed(void)
{
    const char *given = getenv("MUSTER_TEST_SEED");
    return given != NULL ? strtoull(given, NULL, 10) : 1;
}

uint64_t model_hash(uint64_t seed, uint64_t number)
{
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15) + number + 1;
    for (int round = 0; round < 2; round++) {
        x ^= x >> 32;
        x *= UINT64_C(0xd6e8feb86659fd93);
    }
    return x ^ x >> 32;
}

bool model_has(muster_type type, muster_reduction kind)
{
    if (kind == MUSTER_BAND || kind == MUSTER_BOR || kind == MUSTER_BXOR)
        return rows[type].kind <= TRUTH;
    return rows[type].kind != TRUTH || (kind != MUSTER_AVG && kind != MUSTER_PREMUL_SUM);
}

/* ---- the bits of elements; little and big machines alike ---- */

static uint64_t load(const void *array, size_t i, size_t size)
{
    const char *at = (const char *)array + i * size;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (size == 1)
        return memcpy(&one, at, size), one;
    if (size == 2)
        return memcpy(&two, at, size), two;
    if (size == 4)
        return memcpy(&four, at, size), four;
    return memcpy(&eight, at, size), eight;
}

static void save(void *array, size_t i, size_t size, uint64_t bits)
{
    char *at = (char *)array + i * size;
    uint8_t one = (uint8_t)bits;
    uint16_t two = (uint16_t)bits;
    uint32_t four = (uint32_t)bits;
    const void *from = size == 1   ? (const void *)&one
                       : size == 2 ? (const void *)&two
                       : size == 4 ? (const void *)&four
                                   : (const void *)&bits;
    memcpy(at, from, size);
}

/* ---- floating types ---- */

static double read_number(muster_type type, uint64_t bits)
{
    float single;
    double wide;
    uint32_t four = (uint32_t)bits;
    if (rows[type].kind == SMALL)
        return slow_read(&slow_formats[rows[type].format], four);
    memcpy(&single, &four, sizeof(single));
    memcpy(&wide, &bits, sizeof(wide));
    return rows[type].kind == SINGLE ? (double)single : wide;
}

static uint64_t write_number(muster_type type, double value)
{
    if (rows[type].kind == SMALL)
        return slow_write(&slow_formats[rows[type].format], value);
    float single = (float)value;
    uint32_t four;
    uint64_t eight;
    memcpy(&four, &single, sizeof(four));
    memcpy(&eight, &value, sizeof(eight));
    if (rows[type].kind == SINGLE)
        return isnan(value) ? UINT32_C(0x7fc00000) : four;
    return isnan(value) ? UINT64_C(0x7ff8000000000000) : eight;
}

/* Every step rounds by itself, in the type that sums of this one are taken in. */
static double rounded(muster_type type, double value)
{
    volatile double wide = value;
    volatile float single = (float)value;
    return rows[type].kind == DOUBLE ? wide : (double)single;
}

static double float_step(double a, double b, muster_type type, muster_reduction kind)
{
    if (kind == MUSTER_PROD)
        return rounded(type, a * b);
    if (kind != MUSTER_MIN && kind != MUSTER_MAX)
        return rounded(type, a + b);
    if (isnan(a) || isnan(b))
        return NAN;
    if (kind == MUSTER_MIN)
        return a <= b ? a : b;
    return a >= b ? a : b;
}

static uint64_t reduce_numbers(const uint64_t *bits, const double *scalars, int n, muster_type type,
                               muster_reduction kind)
{
    double total = 0;
    for (int r = 0; r < n; r++) {
        double mine = read_number(type, bits[r]);
        if (kind == MUSTER_PREMUL_SUM)
            mine = rounded(type, mine * rounded(type, scalars[r]));
        total = r == 0 ? mine : float_step(total, mine, type, kind);
    }
    return write_number(type, kind == MUSTER_AVG ? rounded(type, total / n) : total);
}

/* ---- integers and truth ---- */

/* The bits of an element, with the sign of a narrower one carried on. */
static uint64_t widened(muster_type type, uint64_t bits)
{
    unsigned width = 8 * (unsigned)rows[type].size;
    return rows[type].kind == SIGNED && width < 64 && bits >> (width - 1)
               ? bits - (UINT64_C(1) << width)
               : bits;
}

static bool is_less(uint64_t a, uint64_t b, muster_type type)
{
    return rows[type].kind == SIGNED ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t whole_step(uint64_t a, uint64_t b, muster_type type, muster_reduction kind)
{
    switch (kind) {
    case MUSTER_PROD:
        return a * b;
    case MUSTER_MIN:
        return is_less(a, b, type) ? a : b;
    case MUSTER_MAX:
        return is_less(b, a, type) ? a : b;
    case MUSTER_BAND:
        return a & b;
    case MUSTER_BOR:
        return a | b;
    case MUSTER_BXOR:
        return a ^ b;
    default:
        return a + b;
    }
}

/* The sum of what is left when each is divided, and the sum of the quotients, are small enough. */
static uint64_t mean_of_unsigned(const uint64_t *bits, uint64_t n)
{
    uint64_t quotients = 0, left = 0;
    for (uint64_t r = 0; r < n; r++) {
        quotients += bits[r] / n;
        left += bits[r] % n;
    }
    return quotients + left / n;
}

/* Cut towards zero, which is up where the exact mean is below it. */
static uint64_t mean_of_signed(const uint64_t *bits, muster_type type, int64_t n)
{
    int64_t quotients = 0, left = 0;
    for (int64_t r = 0; r < n; r++) {
        int64_t x = (int64_t)widened(type, bits[r]);
        quotients += x / n;
        left += x % n;
    }
    quotients += left / n;
    left %= n;
    if (quotients > 0 && left < 0)
        quotients--;
    if (quotients < 0 && left > 0)
        quotients++;
    return (uint64_t)quotients;
}

static uint64_t reduce_wholes(const uint64_t *bits, const double *scalars, int n, muster_type type,
                              muster_reduction kind)
{
    if (kind == MUSTER_AVG)
        return rows[type].kind == SIGNED ? mean_of_signed(bits, type, n)
                                         : mean_of_unsigned(bits, (uint64_t)n);
    uint64_t total = 0;
    for (int r = 0; r < n; r++) {
        uint64_t mine = widened(type, bits[r]);
        if (kind == MUSTER_PREMUL_SUM)
            mine *= scalars[r] < 0 ? (uint64_t)(int64_t)scalars[r] : (uint64_t)scalars[r];
        total = r == 0 ? mine : whole_step(total, mine, type, kind);
    }
    return total;
}

static uint64_t reduce_truths(const uint64_t *bits, int n, muster_reduction kind)
{
    int truths = 0;
    for (int r = 0; r < n; r++)
        truths += bits[r] != 0;
    if (kind == MUSTER_BXOR)
        return truths % 2;
    bool all = kind == MUSTER_PROD || kind == MUSTER_MIN || kind == MUSTER_BAND;
    return all ? truths == n : truths > 0;
}

void model_reduce(void *out, const void *const *arrays, const double *scalars, int n, size_t count,
                  muster_type type, muster_reduction kind)
{
    enum { MOST = 64 };
    uint64_t bits[MOST];
    size_t size = rows[type].size;
    for (size_t i = 0; i < count; i++) {
        for (int r = 0; r < n; r++)
            bits[r] = load(arrays[r], i, size);
        uint64_t result = rows[type].kind == TRUTH  ? reduce_truths(bits, n, kind)
                          : rows[type].kind < TRUTH ? reduce_wholes(bits, scalars, n, type, kind)
                                                    : reduce_numbers(bits, scalars, n, type, kind);
        save(out, i, size, result);
    }
}

/* ---- what ranks give ---- */

/* 0, the smallest and largest magnitudes, infinity, NaN, and the same with the other sign. */
static uint64_t edge(muster_type type, uint64_t pick)
{
    static const double numbers[] = {0, 1, INFINITY, NAN, 0.5, 448, 65504, 3.5e38, 1e300};
    enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };
    uint64_t top = UINT64_C(1) << (8 * rows[type].size - 1);
    uint64_t sign = pick & 1 ? top : 0;
    pick >>= 1;
    if (rows[type].kind <= TRUTH)
        return (pick % 3 == 0 ? 0 : pick % 3 == 1 ? top - 1 : 1) ^ sign;
    if (pick % 4 == 0) /* subnormal numbers */
        return (pick / 4 % 3) ^ sign;
    return write_number(type, numbers[pick / 4 % NUMBERS]) ^ sign;
}

static uint64_t moderate(muster_type type, uint64_t pick)
{
    if (rows[type].kind <= TRUTH)
        return (uint64_t)((int64_t)(pick % 201) - 100);
    return write_number(type, ((double)(pick % 4001) - 2000) / 64);
}

void model_fill(void *out, muster_type type, uint64_t seed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t pick = model_hash(seed, i), what = pick % 16;
        pick = model_hash(pick, 0);
        uint64_t bits = what == 0 ? edge(type, pick) : what < 7 ? moderate(type, pick) : pick;
        save(out, i, rows[type].size, bits);
    }
}
