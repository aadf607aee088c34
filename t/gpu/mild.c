/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers of the floating types that a GPU may add in any order.
 */
#include "config.h"

#include "gpu/mild.h"

#include <math.h>
#include <string.h>

#include "model.h"
#include "slow_floats.h"

/* The small type's format; NULL for float and double. */
static const slow_format *format_of(muster_type type)
{
    switch (type) {
    case MUSTER_FLOAT16:
        return &slow_formats[SLOW_FLOAT16];
    case MUSTER_BFLOAT16:
        return &slow_formats[SLOW_BFLOAT16];
    case MUSTER_FLOAT8_E5M2:
        return &slow_formats[SLOW_FLOAT8_E5M2];
    case MUSTER_FLOAT8_E4M3:
        return &slow_formats[SLOW_FLOAT8_E4M3];
    default:
        return NULL;
    }
}

static void put(unsigned char *at, muster_type type, double number)
{
    const slow_format *format = format_of(type);
    float single = (float)number;
    if (format != NULL) {
        uint32_t bits = slow_write(format, number);
        uint16_t two = (uint16_t)bits;
        uint8_t one = (uint8_t)bits;
        memcpy(at, muster_type_size(type) == 2 ? (void *)&two : &one, muster_type_size(type));
    } else if (type == MUSTER_FLOAT32) {
        memcpy(at, &single, sizeof(single));
    } else {
        memcpy(at, &number, sizeof(number));
    }
}

static double get(const unsigned char *at, muster_type type)
{
    const slow_format *format = format_of(type);
    uint16_t two;
    float single;
    double number;
    if (format != NULL) {
        memcpy(&two, at, muster_type_size(type) == 2 ? 2 : 1);
        return slow_read(format, muster_type_size(type) == 2 ? two : at[0]);
    }
    if (type == MUSTER_FLOAT32) {
        memcpy(&single, at, sizeof(single));
        return single;
    }
    memcpy(&number, at, sizeof(number));
    return number;
}

/* Sums stay within 16, which the smallest type counts to without a gap; products are powers of 2.
 */
void mild_fill(void *out, muster_type type, muster_reduction kind, uint64_t seed, size_t count)
{
    static const double factors[] = {1, -1, 2, -2};
    unsigned char *at = out;
    for (size_t i = 0; i < count; i++, at += muster_type_size(type)) {
        uint64_t pick = model_hash(seed, i);
        put(at, type, kind == MUSTER_PROD ? factors[pick % 4] : (double)(pick % 3) - 1);
    }
}

/* What the roundings of a sum over so many ranks, of operands of about one, may come to. */
static double rounding(muster_type type, int num_ranks)
{
    const slow_format *format = format_of(type);
    int bits = format != NULL ? format->mantissa : type == MUSTER_FLOAT32 ? 23 : 52;
    return ldexp(num_ranks * num_ranks, -bits);
}

bool mild_same(const void *got, const void *expected, muster_type type, muster_reduction kind,
               int num_ranks, size_t count)
{
    const unsigned char *a = got, *b = expected;
    size_t size = muster_type_size(type);
    bool rounds = kind == MUSTER_AVG || kind == MUSTER_PREMUL_SUM;
    double allowed = rounds ? rounding(type, num_ranks) : 0;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(get(a + i * size, type) - get(b + i * size, type)) <= allowed))
            return false;
    return true;
}
