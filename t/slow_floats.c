/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The small floating types by what their bits mean, in doubles, which hold every value that occurs.
 */
#include "slow_floats.h"

#include <math.h>

const slow_format slow_formats[SLOW_FORMATS] = {
    [SLOW_FLOAT16] = {"float16", 5, 10, true, 0x7e00},
    [SLOW_BFLOAT16] = {"bfloat16", 8, 7, true, 0x7fc0},
    [SLOW_FLOAT8_E5M2] = {"float8_e5m2", 5, 2, true, 0x7f},
    [SLOW_FLOAT8_E4M3] = {"float8_e4m3", 4, 3, false, 0x7f},
};

static int bias_of(const slow_format *format)
{
    return (1 << (format->exponent - 1)) - 1;
}

double slow_read(const slow_format *format, uint32_t bits)
{
    uint32_t ones = (UINT32_C(1) << format->exponent) - 1;
    uint32_t parts = UINT32_C(1) << format->mantissa;
    uint32_t exponent = bits >> format->mantissa & ones, mantissa = bits % parts;
    double value;
    if (format->infinite && exponent == ones)
        value = mantissa == 0 ? INFINITY : NAN;
    else if (!format->infinite && exponent == ones && mantissa == parts - 1)
        value = NAN;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - bias_of(format) - format->mantissa);
    else
        value = ldexp(parts + mantissa, (int)exponent - bias_of(format) - format->mantissa);
    return bits >> (format->exponent + format->mantissa) & 1 ? -value : value;
}

/* The bits of a value that the format holds, without sign. */
static uint32_t exact(const slow_format *format, double value)
{
    int least = 1 - bias_of(format);
    if (value < ldexp(1, least))
        return (uint32_t)ldexp(value, format->mantissa - least);
    int exponent = ilogb(value);
    double mantissa = ldexp(value, format->mantissa - exponent) - ldexp(1, format->mantissa);
    return ((uint32_t)(exponent + bias_of(format)) << format->mantissa) + (uint32_t)mantissa;
}

uint32_t slow_write(const slow_format *format, double value)
{
    uint32_t ones = (UINT32_C(1) << format->exponent) - 1;
    uint32_t sign = signbit(value) ? UINT32_C(1) << (format->exponent + format->mantissa) : 0;
    /* Where there is none, the largest number is in its place. */
    uint32_t infinity = format->infinite ? ones << format->mantissa : format->nan - 1;
    if (isnan(value))
        return format->nan;
    if (value == 0 || isinf(value))
        return sign | (value == 0 ? 0 : infinity);
    double magnitude = fabs(value);
    int least = 1 - bias_of(format), exponent = ilogb(magnitude);
    int place = (exponent < least ? least : exponent) - format->mantissa;
    double rounded = ldexp(nearbyint(ldexp(magnitude, -place)), place);
    double largest = slow_read(format, format->infinite ? infinity - 1 : infinity);
    return sign | (rounded > largest ? infinity : exact(format, rounded));
}
