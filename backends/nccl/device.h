/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be done with device memory: the table of muster/backend.h.
 */
#ifndef MUSTER_BACKENDS_NCCL_DEVICE_H
#define MUSTER_BACKENDS_NCCL_DEVICE_H

#include "base/deadline.h"
#include "cuda_api.h"

extern const muster_device_table nccl_devices;

/* The table's describe, with a time. */
muster_status device_describe(int device, deadline end, muster_device_info *info);

muster_status device_check(const cuda_api *cuda, int device);

/* Makes the device current in the calling thread; device_leave puts back what was before, without
 * making use of a device that the thread had not used. On failure nothing has changed, and *doing
 * says what was tried ("enter"); else it is NULL. These may hang: see errand.h. */
cuda_error device_enter(const cuda_api *cuda, int device, const char **doing);
void device_leave(const cuda_api *cuda);

#endif
