/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of arrays that lie in this process.
 */
#ifndef MUSTER_LIB_REDUCE_H
#define MUSTER_LIB_REDUCE_H

#include "muster.h"
#include "muster/backend.h"

typedef muster_reduce_input reduce_input;

/* MUSTER_ERR_ARGUMENT with the reason where the type does not have the reduction, or the scalar is
 * none of the type; redop is a kind. */
muster_status reduce_check(muster_type type, muster_reduction redop, double scalar);

/*
 * out[i] becomes the reduction of inputs[0..n)[i], taken in this order, n at least 1. out may be
 * one of the inputs, or begin below one of them. The bits of the result depend on nothing but the
 * inputs: neither on the thread's rounding mode nor on where in the array an element lies.
 */
void reduce_arrays(void *out, const reduce_input *inputs, size_t n, size_t count, muster_type type,
                   muster_reduction redop);

#endif
