/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Buffers in the memory of a device.
 *
 * Every collective, send and receive takes buffers in host memory or in memory of a device (a GPU):
 * it finds out by itself where they are. All buffers of one call must be in one kind of memory, and
 * so must those of all ranks in one collective, where the group carries device memory by itself
 * ("nccl", "cpu:gloo,cuda:nccl"; MUSTER_CHECK=1 compares that too). Managed memory goes either way.
 * In a group that does not ("gloo") device memory is staged through the host, and ranks may differ.
 * For a rank that has nothing to move in a call there is no kind; its buffers may be NULL.
 *
 * Order. A group has a stream of its rank's device, its own one (ordered with the default stream)
 * or one that the caller gives. An operation comes behind all that this stream had to do when it
 * was issued. A blocking call returns when the result can be read; an operation with a handle has
 * ended when its work on the device has. What is put on the stream after a call with a handle is
 * not ordered with it: until the handle says that it has ended the buffers belong to the operation.
 * Operations of a group begin in the order in which they were issued; in one that carries device
 * memory by itself that holds for sends and receives of such memory too. With MUSTER_CHECK=1 those
 * after a receive of device memory wait until its sender has come, since the two compare it.
 */
#ifndef MUSTER_DEVICE_H
#define MUSTER_DEVICE_H

#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The device of the calling rank as this process counts them, into *ordinal; -1 where the group has
 * none, since host memory is all that it carries by itself. */
MUSTER_API muster_status muster_group_device(const muster_group *group, int *ordinal);

/* From now on operations come behind what stream has to do: a cudaStream_t of the group's device,
 * which must live until they have ended and another was set. NULL: the group's own one again. CUDA
 * can't tell a stream from what is none, or from one that was destroyed: with such a value the next
 * operation may end the process. */
MUSTER_API muster_status muster_group_set_stream(muster_group *group, void *stream);

/* The stream that operations are ordered with now; NULL where the group has no device and none was
 * set, which is the default stream of the device that a buffer is on. */
MUSTER_API void *muster_group_stream(const muster_group *group);

#ifdef __cplusplus
}
#endif
#endif
