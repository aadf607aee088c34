/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be done with device memory: the table of muster/backend.h.
 */
#ifndef MUSTER_BACKENDS_NCCL_DEVICE_H
#define MUSTER_BACKENDS_NCCL_DEVICE_H

#include "cuda_api.h"

extern const muster_device_table nccl_devices;

/* Makes the device current in the calling thread; device_leave puts back what was before, without
 * making use of a device that the thread had not used. On failure nothing has changed. */
muster_status device_enter(const cuda_api *cuda, int device);
void device_leave(const cuda_api *cuda);

#endif
