/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of devices, streams and copies: the slots of the device table that need a device.
 */
#ifndef MUSTER_BACKENDS_NCCL_DEVICE_MEMORY_H
#define MUSTER_BACKENDS_NCCL_DEVICE_MEMORY_H

#include "muster/backend.h"

muster_status device_locate(const void *pointer, muster_memory_place *place);
muster_status device_alloc(int device, size_t size, int64_t timeout_ms, void **memory);
muster_status device_alloc_pinned(int device, size_t size, int64_t timeout_ms, void **memory);
void device_free(int device, void *memory);

muster_status device_stream_open(int device, bool high_priority, int64_t timeout_ms, void **stream);
void device_stream_close(int device, void *stream);

muster_status device_copy_start(int device, void *stream, void *to, const void *from, size_t size,
                                int64_t timeout_ms, muster_copy **copy);
muster_status device_copy_wait(muster_copy *copy, int64_t timeout_ms);

#endif
