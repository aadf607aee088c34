/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The devices of a host, each once, whoever of its ranks can use it.
 */
#ifndef MUSTER_LIB_DEVICE_LIST_H
#define MUSTER_LIB_DEVICE_LIST_H

#include "placement/placement.h"

/* Those of ranks in their order, into p->devices. A UUID tells devices apart; one whose UUID a rank
 * does not know is the whole device of that bus id, and slices of one device whose UUIDs nobody
 * knows are one. */
muster_status device_list_make(placement *p, const standing *const *ranks);

/* The place of a rank's device among them; -1 where it is none of them. */
int device_list_find(const placement *p, const standing_device *device);

/* By bus id as numbers, not known last; then by UUID. As strcmp says it. */
int device_list_compare(const placement_device *a, const placement_device *b);

#endif
