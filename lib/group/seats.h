/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placing the ranks of a world: every rank computes the table of every host, from what all of them
 * said, and all come to the same.
 */
#ifndef MUSTER_LIB_SEATS_H
#define MUSTER_LIB_SEATS_H

#include "group/roster.h"

/*
 * Gives each rank of a world's roster its seat, its device with each backend that has some, and the
 * address of the network interface that is nearest. Ranks of a host that want other placements are
 * MUSTER_ERR_MISMATCH, a list that can't be followed MUSTER_ERR_ARGUMENT, what can't be read
 * MUSTER_ERR_PROTOCOL; the same on all ranks.
 */
muster_status seats_settle(roster *world);

#endif
