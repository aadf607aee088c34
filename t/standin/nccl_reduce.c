/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: types and reductions of
 * its NCCL, by muster's own arithmetic.
 */
#include "config.h"

#include "nccl_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "reduce/reduce.h"
#include "reduce/small_floats.h"

static const struct {
    muster_type type;
    size_t size;
    int since;
} types[] = {
    [NCCL_INT8] = {MUSTER_INT8, 1, 0},
    [NCCL_UINT8] = {MUSTER_UINT8, 1, 0},
    [NCCL_INT32] = {MUSTER_INT32, 4, 0},
    [NCCL_UINT32] = {MUSTER_UINT32, 4, 0},
    [NCCL_INT64] = {MUSTER_INT64, 8, 0},
    [NCCL_UINT64] = {MUSTER_UINT64, 8, 0},
    [NCCL_FLOAT16] = {MUSTER_FLOAT16, 2, 0},
    [NCCL_FLOAT32] = {MUSTER_FLOAT32, 4, 0},
    [NCCL_FLOAT64] = {MUSTER_FLOAT64, 8, 0},
    [NCCL_BFLOAT16] = {MUSTER_BFLOAT16, 2, 0},
    [NCCL_FLOAT8_E4M3] = {MUSTER_FLOAT8_E4M3, 1, 22400},
    [NCCL_FLOAT8_E5M2] = {MUSTER_FLOAT8_E5M2, 1, 22400},
};

enum { TYPES = sizeof(types) / sizeof(*types) };

size_t reduce_type_size(nccl_type type)
{
    bool known = (int)type >= 0 && (int)type < TYPES && nccl_version >= types[type].since;
    return known ? types[type].size : 0;
}

nccl_result reduce_check_op(const nccl_comm *comm, nccl_type type, nccl_op op)
{
    int own = (int)op - NCCL_FIRST_OWN_OP;
    if ((int)op < 0 || own >= COMM_OWN_OPS || (own >= 0 && !comm->own_ops[own].in_use))
        return comm_fail(NCCL_INVALID_ARGUMENT, "invalid reduction operation %d", (int)op);
    if (own >= 0 && comm->own_ops[own].type != type)
        return comm_fail(NCCL_INVALID_ARGUMENT, "reduction operation %d is of another type",
                         (int)op);
    if (type >= NCCL_FLOAT8_E4M3 && driver_find()->device(comm->device)->compute_major < 9)
        return comm_fail(NCCL_INVALID_ARGUMENT,
                         "FP8 reduction support begins with sm90 capable devices.");
    return NCCL_SUCCESS;
}

#define READ(type)                                                                                 \
    do {                                                                                           \
        type value;                                                                                \
        memcpy(&value, place, sizeof(value));                                                      \
        return (double)value;                                                                      \
    } while (0)

double reduce_read_scalar(const void *place, nccl_type type)
{
    uint16_t two = 0;
    uint8_t one = 0;
    memcpy(&one, place, sizeof(one));
    if (types[type].size >= 2)
        memcpy(&two, place, sizeof(two));
    switch (type) {
    case NCCL_INT8:
        READ(int8_t);
    case NCCL_INT32:
        READ(int32_t);
    case NCCL_UINT32:
        READ(uint32_t);
    case NCCL_INT64:
        READ(int64_t);
    case NCCL_UINT64:
        READ(uint64_t);
    case NCCL_FLOAT16:
        return float16_read(two);
    case NCCL_BFLOAT16:
        return bfloat16_read(two);
    case NCCL_FLOAT32:
        READ(float);
    case NCCL_FLOAT64:
        READ(double);
    case NCCL_FLOAT8_E4M3:
        return float8_e4m3_read(one);
    case NCCL_FLOAT8_E5M2:
        return float8_e5m2_read(one);
    default:
        return one;
    }
}

nccl_result reduce_run(nccl_type type, nccl_op op, void *out, const void *arrays,
                       const double *scalars, int size, size_t count)
{
    static const muster_reduction kinds[] = {[NCCL_SUM] = MUSTER_SUM,
                                             [NCCL_PROD] = MUSTER_PROD,
                                             [NCCL_MAX] = MUSTER_MAX,
                                             [NCCL_MIN] = MUSTER_MIN,
                                             [NCCL_AVG] = MUSTER_AVG};
    muster_reduction kind = op < NCCL_FIRST_OWN_OP ? kinds[op] : MUSTER_PREMUL_SUM;
    reduce_input *inputs = calloc((size_t)size, sizeof(*inputs));
    if (inputs == NULL)
        return NCCL_SYSTEM_ERROR;
    for (int i = 0; i < size; i++) {
        inputs[i].data = (const char *)arrays + (size_t)i * count * types[type].size;
        inputs[i].scalar = scalars[i];
    }
    reduce_arrays(out, inputs, (size_t)size, count, types[type].type, kind);
    free(inputs);
    return NCCL_SUCCESS;
}
