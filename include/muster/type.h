/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The types of the elements that groups move.
 */
#ifndef MUSTER_TYPE_H
#define MUSTER_TYPE_H

#include <muster/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * XX(name, size in bytes, C type). The 16-bit and 8-bit floating types go by their bits: FLOAT16 is
 * IEEE 754's binary16, BFLOAT16 the upper half of a float, FLOAT8_E4M3 and FLOAT8_E5M2 those of the
 * Open Compute Project (torch's float8_e4m3fn and float8_e5m2; the former has no infinities). Of
 * BOOL any bits but 0 are true.
 */
#define MUSTER_TYPE_MAP(XX)                                                                        \
    XX(INT8, 1, int8_t)                                                                            \
    XX(UINT8, 1, uint8_t)                                                                          \
    XX(INT32, 4, int32_t)                                                                          \
    XX(UINT32, 4, uint32_t)                                                                        \
    XX(INT64, 8, int64_t)                                                                          \
    XX(UINT64, 8, uint64_t)                                                                        \
    XX(FLOAT32, 4, float)                                                                          \
    XX(FLOAT64, 8, double)                                                                         \
    XX(FLOAT16, 2, uint16_t)                                                                       \
    XX(BFLOAT16, 2, uint16_t)                                                                      \
    XX(FLOAT8_E4M3, 1, uint8_t)                                                                    \
    XX(FLOAT8_E5M2, 1, uint8_t)                                                                    \
    XX(BOOL, 1, bool)

typedef enum muster_type {
#define MUSTER_TYPE_ENUM(name, size, ctype) MUSTER_##name,
    MUSTER_TYPE_MAP(MUSTER_TYPE_ENUM)
#undef MUSTER_TYPE_ENUM
        MUSTER_NUM_TYPES
} muster_type;

/* The size of one element in bytes; 0 for what is no type. */
MUSTER_API size_t muster_type_size(muster_type type);

/* "int8", or "unknown" for what is no type. Never NULL, never freed. */
MUSTER_API const char *muster_type_name(muster_type type);

#ifdef __cplusplus
}
#endif
#endif
