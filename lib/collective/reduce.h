/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Element types, and folding one array of elements into another.
 */
#ifndef MUSTER_LIB_REDUCE_H
#define MUSTER_LIB_REDUCE_H

#include "muster.h"

/* into[i] = into[i] redop from[i]. */
void reduce_fold(void *into, const void *from, size_t count, muster_type type,
                 muster_reduction redop);

#endif
