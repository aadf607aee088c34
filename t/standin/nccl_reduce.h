/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: types and reductions of
 * its NCCL. The arithmetic is muster's own, in the order of ranks, with what is smaller than
 * float32 summed in float32; NCCL promises no order.
 */
#ifndef MUSTER_T_STANDIN_NCCL_REDUCE_H
#define MUSTER_T_STANDIN_NCCL_REDUCE_H

#include "nccl_comm.h"

/* The bytes of an element; 0 for a type that this version does not have. */
size_t reduce_type_size(nccl_type type);

/* Whether the communicator can reduce so. */
nccl_result reduce_check_op(const nccl_comm *comm, nccl_type type, nccl_op op);

/* The scalar at a place that can be read. */
double reduce_read_scalar(const void *place, nccl_type type);

/* out becomes the reduction of the size arrays that lie behind each other in arrays; scalars are
 * those of the ranks, for a reduction that a program has made. */
nccl_result reduce_run(nccl_type type, nccl_op op, void *out, const void *arrays,
                       const double *scalars, int size, size_t count);

#endif
