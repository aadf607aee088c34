/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and reductions of muster in those of NCCL.
 */
#include "config.h"

#include "types.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FLOAT8_SINCE = 22400, FLOAT8_COMPUTE = 90 };

typedef enum kind { WHOLE, FLOATING, FLOAT8, TRUTH } kind;

static const struct {
    size_t width;
    kind kind;
    nccl_type reduced;
} rows[MUSTER_NUM_TYPES] = {
    [MUSTER_INT8] = {1, WHOLE, NCCL_INT8},
    [MUSTER_UINT8] = {1, WHOLE, NCCL_UINT8},
    [MUSTER_INT32] = {4, WHOLE, NCCL_INT32},
    [MUSTER_UINT32] = {4, WHOLE, NCCL_UINT32},
    [MUSTER_INT64] = {8, WHOLE, NCCL_INT64},
    [MUSTER_UINT64] = {8, WHOLE, NCCL_UINT64},
    [MUSTER_FLOAT32] = {4, FLOATING, NCCL_FLOAT32},
    [MUSTER_FLOAT64] = {8, FLOATING, NCCL_FLOAT64},
    [MUSTER_FLOAT16] = {2, FLOATING, NCCL_FLOAT16},
    [MUSTER_BFLOAT16] = {2, FLOATING, NCCL_BFLOAT16},
    [MUSTER_FLOAT8_E4M3] = {1, FLOAT8, NCCL_FLOAT8_E4M3},
    [MUSTER_FLOAT8_E5M2] = {1, FLOAT8, NCCL_FLOAT8_E5M2},
    [MUSTER_BOOL] = {1, TRUTH, NCCL_UINT8},
};

size_t types_width(muster_type type)
{
    return rows[type].width;
}

nccl_type types_to_move(muster_type type)
{
    return rows[type].kind == FLOAT8 ? NCCL_UINT8 : rows[type].reduced;
}

nccl_type types_to_reduce(muster_type type)
{
    return rows[type].reduced;
}

nccl_op types_op(muster_reduction redop)
{
    switch (redop) {
    case MUSTER_PROD:
        return NCCL_PROD;
    case MUSTER_MIN:
        return NCCL_MIN;
    case MUSTER_MAX:
        return NCCL_MAX;
    case MUSTER_AVG:
        return NCCL_AVG;
    default:
        return NCCL_SUM;
    }
}

bool types_can_reduce(muster_type type, muster_reduction redop, int version, int compute)
{
    bool scales = redop == MUSTER_AVG || redop == MUSTER_PREMUL_SUM;
    bool plain =
        redop == MUSTER_SUM || redop == MUSTER_PROD || redop == MUSTER_MIN || redop == MUSTER_MAX;
    switch (rows[type].kind) {
    case WHOLE:
        return plain || redop == MUSTER_PREMUL_SUM;
    case FLOATING:
        return plain || scales;
    case FLOAT8:
        return plain && version >= FLOAT8_SINCE && compute >= FLOAT8_COMPUTE;
    default:
        return false;
    }
}

/* ---- scalars ---- */

/* The 16 bits of a floating type with that many bits behind the point, to nearest, ties to even.
 * lowest is the exponent of its smallest normal number, highest that of its largest. */
static uint16_t to_small(double value, int fraction, int lowest, int highest)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)((highest - lowest + 2) << fraction);
    int exponent;
    if (isnan(value))
        return (uint16_t)(infinity | 1 << (fraction - 1));
    if (value == 0 || isinf(value))
        return (uint16_t)(sign | (value == 0 ? 0 : infinity));
    frexp(value, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    double steps = nearbyint(ldexp(fabs(value), fraction - exponent));
    /* One too many carries into the exponent by itself. */
    double bits = steps + ldexp(exponent - lowest, fraction);
    return (uint16_t)(sign | (bits >= infinity ? infinity : (uint16_t)bits));
}

/* A whole number of any size that a type of muster holds, modulo 2^64. */
static uint64_t to_whole(double scalar)
{
    return scalar < 0 ? (uint64_t)(int64_t)scalar : (uint64_t)scalar;
}

size_t types_scalar(muster_type type, double scalar, void *element)
{
    uint64_t whole = rows[type].kind == WHOLE ? to_whole(scalar) : 0;
    uint8_t one = (uint8_t)whole;
    uint32_t four = (uint32_t)whole;
    float single = (float)scalar;
    uint16_t two =
        type == MUSTER_FLOAT16 ? to_small(scalar, 10, -14, 15) : to_small(scalar, 7, -126, 127);
    const void *from = type == MUSTER_FLOAT64   ? (const void *)&scalar
                       : type == MUSTER_FLOAT32 ? (const void *)&single
                       : rows[type].width == 8  ? (const void *)&whole
                       : rows[type].width == 4  ? (const void *)&four
                       : rows[type].width == 2  ? (const void *)&two
                                                : (const void *)&one;
    memcpy(element, from, rows[type].width);
    return rows[type].width;
}
