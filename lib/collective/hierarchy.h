/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives of a group of several hosts whose ranks share memory with those of their own: what
 * can be is done within each host first, so that less goes from host to host.
 */
#ifndef MUSTER_LIB_HIERARCHY_H
#define MUSTER_LIB_HIERARCHY_H

#include "collective/collective.h"

/* Whether the group has hosts to work by; the same on all ranks. */
bool hierarchy_serves(const muster_group *group);

/* Whether the call is carried out host by host; the same on all ranks that make it. */
bool hierarchy_can(const muster_group *group, const collective_call *call);

/* Carries such a call out. Every rank gets the same bits: those of each host are taken in the order
 * of its ranks, then the hosts in the order of their first ranks. */
muster_status hierarchy_carry(muster_group *group, const collective_call *call,
                              const message_label *label, deadline end);

#endif
