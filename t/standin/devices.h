/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: the devices that a
 * process has.
 *
 * MUSTER_STANDIN_DEVICES is how many (8 if it is not set), or a list of them with commas between:
 * what is said of each has slashes between, of "bus=0004:04:00.0", "uuid=GPU-<32 digits, dashes>",
 * "cc=8.0", "slice=<number of the device it is a slice of>", "name=<text>"; "-" says nothing.
 * CUDA_VISIBLE_DEVICES takes some of them, by number or by the beginning of the UUID, up to the
 * first that isn't there.
 */
#ifndef MUSTER_T_STANDIN_DEVICES_H
#define MUSTER_T_STANDIN_DEVICES_H

#include "driver.h"

enum { DEVICES_MOST = 64 };

/* The ones that can be seen, and how many; found at the first call. */
const standin_device *devices_visible(int *count);

#endif
