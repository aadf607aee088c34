/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Element types and reductions as values.
 */
#ifndef MUSTER_LIB_TYPES_H
#define MUSTER_LIB_TYPES_H

#include "muster.h"

/* float64 down to the 8-bit ones. */
bool type_is_floating(muster_type type);

/* A reduction that a group made has its kind in the lowest bits and a number above. */
enum { REDUCTION_KIND = 0xff, REDUCTION_NUMBER_SHIFT = 8 };
muster_reduction reduction_kind(muster_reduction redop);

#endif
