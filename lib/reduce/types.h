/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Element types and reductions as values.
 */
#ifndef MUSTER_LIB_TYPES_H
#define MUSTER_LIB_TYPES_H

#include "muster.h"

extern const uint8_t type_sizes[MUSTER_NUM_TYPES];

/* muster_type_size() of what is a type for sure. */
static inline size_t type_size(muster_type type)
{
    return type_sizes[type];
}

/* float64 down to the 8-bit ones. */
bool type_is_floating(muster_type type);

/* A reduction that a group made has its kind in the lowest bits and a number above. */
enum { REDUCTION_KIND = 0xff, REDUCTION_NUMBER_SHIFT = 8 };
muster_reduction reduction_kind(muster_reduction redop);

#endif
