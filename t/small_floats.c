/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and writing the small floating types: every pattern, every tie between two neighbours and
 * what is next to it, the edges, and many floats at random, against plain arithmetic.
 */
#include "reduce/small_floats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "slow_floats.h"
#include "tap.h"

enum { RANDOM = 2000000 };

#define FAST(suffix, ctype)                                                                        \
    static float read_##suffix(uint32_t bits)                                                      \
    {                                                                                              \
        return suffix##_read((ctype)bits);                                                         \
    }                                                                                              \
    static uint32_t write_##suffix(float value)                                                    \
    {                                                                                              \
        return suffix##_write(value);                                                              \
    }
FAST(float16, uint16_t)
FAST(bfloat16, uint16_t)
FAST(float8_e5m2, uint8_t)
FAST(float8_e4m3, uint8_t)

static const struct {
    float (*read)(uint32_t bits);
    uint32_t (*write)(float value);
    uint32_t patterns;
    uint32_t infinity; /* the first magnitude that is no number */
} fast[SLOW_FORMATS] = {
    [SLOW_FLOAT16] = {read_float16, write_float16, 0x10000, 0x7c00},
    [SLOW_BFLOAT16] = {read_bfloat16, write_bfloat16, 0x10000, 0x7f80},
    [SLOW_FLOAT8_E5M2] = {read_float8_e5m2, write_float8_e5m2, 0x100, 0x7c},
    [SLOW_FLOAT8_E4M3] = {read_float8_e4m3, write_float8_e4m3, 0x100, 0x7f},
};

/* Equal, zeros by their sign too. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static bool writes_right(int f, float value)
{
    uint32_t got = fast[f].write(value), expected = slow_write(&slow_formats[f], (double)value);
    if (got != expected)
        diag("%s of %a is %#x, not %#x", slow_formats[f].name, (double)value, got, expected);
    return got == expected;
}

static bool patterns_right(int f)
{
    bool right = true;
    for (uint32_t bits = 0; right && bits < fast[f].patterns; bits++) {
        double meant = slow_read(&slow_formats[f], bits), read = (double)fast[f].read(bits);
        uint32_t back = isnan(meant) ? slow_formats[f].nan : bits;
        right = same(read, meant) && fast[f].write((float)meant) == back;
        if (!right)
            diag("%s %#x is %a, not %a, and back %#x", slow_formats[f].name, bits, read, meant,
                 fast[f].write((float)meant));
    }
    return right;
}

/* Between each two neighbours, up to the one that would come after the largest. */
static bool ties_right(int f)
{
    bool right = true;
    double last = slow_read(&slow_formats[f], fast[f].infinity - 1);
    double before = slow_read(&slow_formats[f], fast[f].infinity - 2);
    for (uint32_t bits = 0; right && bits < fast[f].infinity; bits++) {
        double here = slow_read(&slow_formats[f], bits);
        double next = bits + 1 < fast[f].infinity ? slow_read(&slow_formats[f], bits + 1)
                                                  : last + (last - before);
        float tie = (float)((here + next) / 2);
        right = writes_right(f, tie) && writes_right(f, -tie) &&
                writes_right(f, nextafterf(tie, INFINITY)) && writes_right(f, nextafterf(tie, 0)) &&
                writes_right(f, -nextafterf(tie, INFINITY)) && writes_right(f, -nextafterf(tie, 0));
    }
    return right;
}

static bool edges_right(int f)
{
    static const uint32_t edges[] = {0,          1,          2,          0x007fffff, 0x00800000,
                                     0x00800001, 0x7f7fffff, 0x7f7ffffe, 0x7f800000, 0x7f800001,
                                     0x7fc00000, 0x7fffffff, 0x3f800000, 0x33000000, 0x33000001};
    bool right = true;
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
        right = right && writes_right(f, float_of_bits(edges[i])) &&
                writes_right(f, float_of_bits(edges[i] | FLOAT_SIGN));
    return right;
}

static bool random_right(int f, uint64_t seed)
{
    bool right = true;
    for (int i = 0; right && i < RANDOM; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        right = writes_right(f, float_of_bits((uint32_t)(seed >> 32)));
    }
    return right;
}

int main(void)
{
    const char *given = getenv("MUSTER_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 1;
    plan(4 * SLOW_FORMATS + 4);
    diag("MUSTER_TEST_SEED=%llu", (unsigned long long)seed);
    for (int f = 0; f < SLOW_FORMATS; f++) {
        ok(patterns_right(f), "all patterns of %s, read and written", slow_formats[f].name);
        ok(ties_right(f), "all ties of %s and what is next to them", slow_formats[f].name);
        ok(edges_right(f), "edges of float as %s", slow_formats[f].name);
        ok(random_right(f, seed), "%d floats as %s", RANDOM, slow_formats[f].name);
    }
    /* As NCCL and torch from 2.12 on write it; before, torch made NaN of these. */
    is_int(float8_e4m3_write(464), 0x7e, "a tie goes to the largest e4m3");
    is_int(float8_e4m3_write(-464.1F), 0xfe, "what is larger is the largest too");
    is_int(float8_e4m3_write(INFINITY), 0x7e, "and so is infinity");
    is_int(float8_e5m2_write(-61440), 0xfc, "the largest tie of e5m2 is infinity");
    return done();
}
