/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: what all ways have in
 * common in which a communicator comes to be.
 */
#ifndef MUSTER_T_STANDIN_NCCL_INIT_H
#define MUSTER_T_STANDIN_NCCL_INIT_H

#include "nccl_comm.h"

/* Whether there is a device. It makes use of the thread's. */
nccl_result init_check_device(void);

/* A step of these ways ("init", "split", "shrink"), which may fail or hang on demand. */
nccl_result init_fault(nccl_comm *comm, const char *step);

#endif
