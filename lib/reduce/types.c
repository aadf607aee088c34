/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names and sizes of element types, and the names of reductions.
 */
#include "reduce/types.h"

_Static_assert(sizeof(bool) == 1, "a bool is one byte on every machine");

const uint8_t type_sizes[MUSTER_NUM_TYPES] = {
#define SIZE_OF_TYPE(name, size, ctype) [MUSTER_##name] = size,
    MUSTER_TYPE_MAP(SIZE_OF_TYPE)
#undef SIZE_OF_TYPE
};

static const char *const names[MUSTER_NUM_TYPES] = {
    [MUSTER_INT8] = "int8",
    [MUSTER_UINT8] = "uint8",
    [MUSTER_INT32] = "int32",
    [MUSTER_UINT32] = "uint32",
    [MUSTER_INT64] = "int64",
    [MUSTER_UINT64] = "uint64",
    [MUSTER_FLOAT32] = "float32",
    [MUSTER_FLOAT64] = "float64",
    [MUSTER_FLOAT16] = "float16",
    [MUSTER_BFLOAT16] = "bfloat16",
    [MUSTER_FLOAT8_E4M3] = "float8_e4m3",
    [MUSTER_FLOAT8_E5M2] = "float8_e5m2",
    [MUSTER_BOOL] = "bool",
};

static const char *const reductions[MUSTER_NUM_REDUCTIONS] = {
    [MUSTER_SUM] = "sum", [MUSTER_PROD] = "prod", [MUSTER_MIN] = "min",
    [MUSTER_MAX] = "max", [MUSTER_AVG] = "avg",   [MUSTER_BAND] = "band",
    [MUSTER_BOR] = "bor", [MUSTER_BXOR] = "bxor", [MUSTER_PREMUL_SUM] = "premul_sum",
};

static bool is_type(muster_type type)
{
    return (unsigned)type < MUSTER_NUM_TYPES;
}

bool type_is_floating(muster_type type)
{
    return type >= MUSTER_FLOAT32 && type <= MUSTER_FLOAT8_E5M2;
}

muster_reduction reduction_kind(muster_reduction redop)
{
    return (muster_reduction)((unsigned)redop & REDUCTION_KIND);
}

size_t muster_type_size(muster_type type)
{
    return is_type(type) ? type_sizes[type] : 0;
}

const char *muster_type_name(muster_type type)
{
    return is_type(type) ? names[type] : "unknown";
}

const char *muster_reduction_name(muster_reduction redop)
{
    unsigned kind = (unsigned)reduction_kind(redop);
    bool made = (unsigned)redop != kind;
    bool known = kind < MUSTER_NUM_REDUCTIONS && (!made || kind == MUSTER_PREMUL_SUM) &&
                 (unsigned)redop <= MUSTER_REDUCTION_LARGEST;
    return known ? reductions[kind] : "unknown";
}
