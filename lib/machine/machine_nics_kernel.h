/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Network interfaces of this machine without hwloc.
 */
#ifndef MUSTER_LIB_MACHINE_NICS_KERNEL_H
#define MUSTER_LIB_MACHINE_NICS_KERNEL_H

#include "machine/machine.h"

/* Names, HCAs, bus ids and the CPUs near to them, of a machine that has its CPUs and no NICs yet;
 * of speeds and bridges nothing is said. root is "/sys". */
muster_status machine_read_kernel_nics(const char *root, machine *m);

#endif
