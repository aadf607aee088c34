/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which type has which reduction, and running one block after the other.
 */
#include "config.h"

#include "reduce/reduce.h"

#include <math.h>

#include "base/error.h"
#include "reduce/float_modes.h"
#include "reduce/reduce_kernel.h"
#include "reduce/types.h"

static const reduce_row *const rows[MUSTER_NUM_TYPES] = {
    [MUSTER_INT8] = &reduce_int8,
    [MUSTER_UINT8] = &reduce_uint8,
    [MUSTER_INT32] = &reduce_int32,
    [MUSTER_UINT32] = &reduce_uint32,
    [MUSTER_INT64] = &reduce_int64,
    [MUSTER_UINT64] = &reduce_uint64,
    [MUSTER_FLOAT32] = &reduce_float32,
    [MUSTER_FLOAT64] = &reduce_float64,
    [MUSTER_FLOAT16] = &reduce_float16,
    [MUSTER_BFLOAT16] = &reduce_bfloat16,
    [MUSTER_FLOAT8_E4M3] = &reduce_float8_e4m3,
    [MUSTER_FLOAT8_E5M2] = &reduce_float8_e5m2,
    [MUSTER_BOOL] = &reduce_bool,
};

/* A scalar of an integer type is a whole number from low to below high. */
static muster_status check_scalar(muster_type type, double scalar)
{
    if (type_is_floating(type))
        return MUSTER_OK;
    bool is_signed = type == MUSTER_INT8 || type == MUSTER_INT32 || type == MUSTER_INT64;
    int bits = 8 * (int)muster_type_size(type) - is_signed;
    double high = ldexp(1, bits), low = is_signed ? -high : 0;
    if (scalar >= low && scalar < high && scalar == trunc(scalar))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "%g is no %s, so elements of this type can't be multiplied by it; take a "
                     "whole number that the type holds, or a floating type",
                     scalar, muster_type_name(type));
}

muster_status reduce_check(muster_type type, muster_reduction redop, double scalar)
{
    if ((*rows[type])[redop] != NULL)
        return redop == MUSTER_PREMUL_SUM ? check_scalar(type, scalar) : MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s is not defined for %s; %s",
                     muster_reduction_name(redop), muster_type_name(type),
                     type == MUSTER_BOOL ? "take an integer type for it"
                                         : "bit operations are for integers and bool");
}

void reduce_arrays(void *out, const reduce_input *inputs, size_t n, size_t count, muster_type type,
                   muster_reduction redop)
{
    reduce_kernel kernel = (*rows[type])[redop];
    const float_modes kept = float_modes_set();
    for (size_t first = 0; first < count; first += REDUCE_BLOCK)
        kernel(out, inputs, n, first, count - first < REDUCE_BLOCK ? count - first : REDUCE_BLOCK);
    float_modes_restore(kept);
}
