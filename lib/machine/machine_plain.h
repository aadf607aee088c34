/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the kernel says of this machine's CPUs, without hwloc.
 */
#ifndef MUSTER_LIB_MACHINE_PLAIN_H
#define MUSTER_LIB_MACHINE_PLAIN_H

#include "machine/machine.h"

/* The CPUs that the calling thread may run on; false where the kernel doesn't say. */
bool machine_own_binding(cpu_set *binding);

/* The list of CPUs in a file of the kernel; false where there is none, or no CPU in it. */
bool machine_kernel_list(const char *path, cpu_set *cpus);

#endif
