/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain model of the reductions, for comparing: what a rank gives, and what all ranks get.
 */
#ifndef MUSTER_T_MODEL_H
#define MUSTER_T_MODEL_H

#include "muster.h"

/* What rank gives: count elements of type. */
void model_fill(void *out, muster_type type, int rank, size_t count);

/* into becomes the reduction of into and more, element by element. */
void model_fold(void *into, const void *more, muster_type type, muster_reduction redop,
                size_t count);

/* What an all_reduce of what ranks 0 to size - 1 give is. Memory for free(). */
void *model_all_reduce(muster_type type, muster_reduction redop, int size, size_t count);

#endif
