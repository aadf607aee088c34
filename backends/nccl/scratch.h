/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the device that operations of a communicator use in between, one after the other even
 * where they are on different streams. It is kept as long as the communicator: to free memory is to
 * wait for all that runs on the device.
 */
#ifndef MUSTER_BACKENDS_NCCL_SCRATCH_H
#define MUSTER_BACKENDS_NCCL_SCRATCH_H

#include "comm.h"

/* At least size bytes, for work on the stream from now on. */
cuda_error scratch_take(muster_comm *comm, cuda_stream stream, size_t size, void **memory);

/* All work with it is on the stream by now. */
cuda_error scratch_give(muster_comm *comm, cuda_stream stream);

/* Nothing uses it any more. */
void scratch_free_all(muster_comm *comm);

#endif
