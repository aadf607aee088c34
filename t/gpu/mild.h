/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers of the floating types that a GPU may add in any order: small whole ones, whose sums and
 * products over a few ranks are exact in every type, and a comparison that allows for the rounding
 * of what is not (averages and scaled sums).
 */
#ifndef MUSTER_T_GPU_MILD_H
#define MUSTER_T_GPU_MILD_H

#include <stdint.h>

#include "muster.h"

/* Elements for a reduction over at most 8 ranks. */
void mild_fill(void *out, muster_type type, muster_reduction kind, uint64_t seed, size_t count);

/* Whether two arrays hold the same, for this reduction over so many ranks. */
bool mild_same(const void *got, const void *expected, muster_type type, muster_reduction kind,
               int num_ranks, size_t count);

#endif
