/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain model of element types and reductions, one element at a time by what its bits mean, to
 * compare the library with. A new type is one row.
 */
#ifndef MUSTER_T_MODEL_H
#define MUSTER_T_MODEL_H

#include <stdint.h>

#include "muster.h"

/* MUSTER_TEST_SEED, or 1. */
uint64_t model_seed(void);

/* A number that depends on all bits of both. */
uint64_t model_hash(uint64_t seed, uint64_t number);

/* count elements: random bits, moderate numbers and the edges of the type, mixed by the seed. */
void model_fill(void *out, muster_type type, uint64_t seed, size_t count);

/* Whether the type has the reduction. */
bool model_has(muster_type type, muster_reduction kind);

/* out becomes the reduction of n arrays in their order; scalars is for MUSTER_PREMUL_SUM. */
void model_reduce(void *out, const void *const *arrays, const double *scalars, int n, size_t count,
                  muster_type type, muster_reduction kind);

#endif
