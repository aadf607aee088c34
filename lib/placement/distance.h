/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How far a device is from a rank's CPUs, as an integer, by what the rank's own machine says.
 */
#ifndef MUSTER_LIB_DISTANCE_H
#define MUSTER_LIB_DISTANCE_H

#include "machine/machine.h"

/* What one step of the distance between NUMA nodes counts, of which 10 is a node to itself. */
enum { DISTANCE_STEP = 4096, DISTANCE_WHOLE = 1024 };

/*
 * 0 where nothing is known of the device's place, or all CPUs are equally near to it; else
 * (d - 10) * 4096 + out. d is the distance of the nearest pair of a node that has some of the
 * rank's CPUs and one that has some near to the device; out the share of the rank's CPUs that are
 * not near to the device, in 1024ths.
 */
int64_t distance_to_place(const machine *m, const cpu_set *cpus, const machine_place *place);

#endif
