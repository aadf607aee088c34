/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and reductions of muster in those of NCCL, and what NCCL can do with them.
 */
#ifndef MUSTER_BACKENDS_NCCL_TYPES_H
#define MUSTER_BACKENDS_NCCL_TYPES_H

#include "muster/backend.h"
#include "nccl_abi.h"

/* Bytes of an element. */
size_t types_width(muster_type type);

/* As what elements are moved, in any version: what NCCL may not have goes as bytes. */
nccl_type types_to_move(muster_type type);

/* As what they are reduced. */
nccl_type types_to_reduce(muster_type type);

/* NCCL's own reduction; for MUSTER_PREMUL_SUM there is none. */
nccl_op types_op(muster_reduction redop);

/*
 * Whether NCCL of that version reduces so, on devices of that compute capability (90 is 9.0).
 * Nothing on BOOL and no bitwise reductions. The average of integers NCCL takes of the sum after it
 * has wrapped, which is not what muster promises; for averages and scaled sums of fp8 the factor
 * would be rounded to fp8, too.
 */
bool types_can_reduce(muster_type type, muster_reduction redop, int version, int compute);

/* Writes the scalar as one element; returns its size. */
size_t types_scalar(muster_type type, double scalar, void *element);

#endif
