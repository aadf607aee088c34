/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The 16-bit and 8-bit floating types, by way of float: reading them is exact, writing them rounds
 * once to nearest, ties to even. Plain arithmetic without branches, so that loops over arrays
 * become vector code.
 *
 * float16 is IEEE 754's binary16, bfloat16 the upper half of a float. float8_e5m2 and float8_e4m3
 * are those of the Open Compute Project; e4m3 has no infinities (torch's e4m3fn). What is too large
 * becomes infinity, in e4m3 the largest number, as with NCCL and torch from 2.12 on. Every NaN is
 * written as the one of the type that is positive and quiet.
 */
#ifndef MUSTER_LIB_SMALL_FLOATS_H
#define MUSTER_LIB_SMALL_FLOATS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A loop that calls a function is no vector code, however often the function is written out. */
#ifdef __GNUC__
#define SMALL_FLOAT_INLINE static inline __attribute__((always_inline))
#else
#define SMALL_FLOAT_INLINE static inline
#endif

SMALL_FLOAT_INLINE uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

SMALL_FLOAT_INLINE float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

#define FLOAT_SIGN UINT32_C(0x80000000)
#define FLOAT_INFINITY UINT32_C(0x7f800000)
#define FLOAT_NAN UINT32_C(0x7fc00000)

/* 2 to the power of e as bits; e from -126 to 127. */
#define FLOAT_POWER(e) ((uint32_t)((e) + 127) << 23)

/* Sign, exponent and mantissa in this order, down to the lowest bit. */
typedef struct small_format {
    int mantissa; /* bits */
    int bias;     /* of the exponent */
    uint32_t sign;
    uint32_t largest;  /* the magnitude of the largest number */
    uint32_t overflow; /* the magnitude of infinity; without one, the largest again */
    uint32_t nan;
} small_format;

static const small_format float16_format = {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00};
static const small_format float8_e5m2_format = {2, 15, 0x80, 0x7b, 0x7c, 0x7f};
static const small_format float8_e4m3_format = {3, 7, 0x80, 0x7e, 0x7e, 0x7f};

/* a where the condition holds, else b; without a branch, which no loop of vector code has. */
SMALL_FLOAT_INLINE uint32_t small_float_pick(bool condition, uint32_t a, uint32_t b)
{
    uint32_t mask = 0 - (uint32_t)condition;
    return (a & mask) | (b & ~mask);
}

/* Magnitudes have no sign bit and are compared as signed numbers, which is cheaper for many. */
SMALL_FLOAT_INLINE float small_float_read(uint32_t bits, const small_format format)
{
    const int shift = 23 - format.mantissa;
    int32_t magnitude = (int32_t)(bits & (format.sign - 1));
    uint32_t normal = ((uint32_t)magnitude << shift) + ((uint32_t)(127 - format.bias) << 23);
    /* By way of an integer, since a processor may take its time for a float that is subnormal. */
    uint32_t subnormal = float_bits((float)magnitude *
                                    float_of_bits(FLOAT_POWER(1 - format.bias - format.mantissa)));
    uint32_t number = small_float_pick(magnitude < 1 << format.mantissa, subnormal, normal);
    uint32_t other =
        small_float_pick(magnitude == (int32_t)format.overflow, FLOAT_INFINITY, FLOAT_NAN);
    uint32_t result = small_float_pick(magnitude > (int32_t)format.largest, other, number);
    return float_of_bits(result | (bits & format.sign) * (FLOAT_SIGN / format.sign));
}

SMALL_FLOAT_INLINE uint32_t small_float_write(float value, const small_format format)
{
    const int shift = 23 - format.mantissa;
    uint32_t bits = float_bits(value), magnitude = bits & ~FLOAT_SIGN;
    uint32_t sign = (bits & FLOAT_SIGN) / (FLOAT_SIGN / format.sign);
    /* Just below half of the last place, or half of it where the last bit is set, carries as far as
     * it must. */
    uint32_t half = (UINT32_C(1) << (shift - 1)) - 1 + (magnitude >> shift & 1);
    uint32_t normal = (magnitude - ((uint32_t)(127 - format.bias) << 23) + half) >> shift;
    /* The last place of this power of two is the smallest subnormal number. */
    const uint32_t ruler = FLOAT_POWER(1 - format.bias + shift);
    uint32_t subnormal = float_bits(float_of_bits(magnitude) + float_of_bits(ruler)) - ruler;
    uint32_t number = small_float_pick((int32_t)magnitude < (int32_t)FLOAT_POWER(1 - format.bias),
                                       subnormal, normal);
    uint32_t result =
        small_float_pick((int32_t)number > (int32_t)format.largest, format.overflow, number) | sign;
    return small_float_pick((int32_t)magnitude > (int32_t)FLOAT_INFINITY, format.nan, result);
}

SMALL_FLOAT_INLINE float float16_read(uint16_t bits)
{
    return small_float_read(bits, float16_format);
}

SMALL_FLOAT_INLINE uint16_t float16_write(float value)
{
    return (uint16_t)small_float_write(value, float16_format);
}

SMALL_FLOAT_INLINE float float8_e5m2_read(uint8_t bits)
{
    return small_float_read(bits, float8_e5m2_format);
}

SMALL_FLOAT_INLINE uint8_t float8_e5m2_write(float value)
{
    return (uint8_t)small_float_write(value, float8_e5m2_format);
}

SMALL_FLOAT_INLINE float float8_e4m3_read(uint8_t bits)
{
    return small_float_read(bits, float8_e4m3_format);
}

SMALL_FLOAT_INLINE uint8_t float8_e4m3_write(float value)
{
    return (uint8_t)small_float_write(value, float8_e4m3_format);
}

SMALL_FLOAT_INLINE float bfloat16_read(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

SMALL_FLOAT_INLINE uint16_t bfloat16_write(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & ~FLOAT_SIGN) > FLOAT_INFINITY ? 0x7fc0 : rounded);
}

#endif
