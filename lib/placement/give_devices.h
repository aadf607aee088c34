/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank gets which device of the host.
 */
#ifndef MUSTER_LIB_GIVE_DEVICES_H
#define MUSTER_LIB_GIVE_DEVICES_H

#include "placement/place_list.h"
#include "placement/placement.h"

/*
 * Sets device, ordinal, cost and the beginning of why of each seat, and the devices' ranks. ranks
 * are those of the seats, in the same order. list is NULL but for the policy explicit.
 *
 * Who was settled on a device, or has one by the list, has it. The others get the free ones: as
 * many ranks as can have one, at the least cost of all together (by the other policies in their
 * order of devices, whatever it costs), and of equal ways the one that gives the lowest rank the
 * first device. Where they are to share, the ranks that are left go on in the same way with the
 * devices that one rank has, then with those that two have.
 */
muster_status give_devices(placement *p, const standing *const *ranks, const placement_wish *wish,
                           const place_list *list);

#endif
