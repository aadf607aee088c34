/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives of host memory that the group's communicator carries out as a whole.
 */
#ifndef MUSTER_LIB_BULK_H
#define MUSTER_LIB_BULK_H

#include "collective/collective.h"

/* Whether the group's communicator of host memory carries operations out by itself. */
bool bulk_serves(const muster_group *group);

/*
 * Carries a collective whose buffers are in host memory out by whichever way the group has: the
 * communicator itself, or messages. out and in are as in collective_run; a call that the
 * communicator carries out has no use for them.
 */
muster_status bulk_carry(muster_group *group, const collective_call *call,
                         const message_label *label, const layout *out, const layout *in,
                         deadline end);

/* compose_all_gather_equal() by whichever way the group has. */
muster_status bulk_all_gather_equal(muster_group *group, const message_label *label, void *receive,
                                    size_t bytes, deadline end);

/*
 * One operation of a side whose backend has run, among the ranks of that side. The label is that of
 * the call which it is a part of; failures are those of the group.
 */
muster_status bulk_run(muster_group *group, group_side *side, muster_call *call,
                       const message_label *label, deadline end);

/* Has the group's communicator carry the call out whole, where it can: then *status is what comes
 * of it. False where it can't. timeout_ms is what is left until end where that is known, else 0. */
bool bulk_try(muster_group *group, const collective_call *call, const message_label *label,
              deadline end, int64_t timeout_ms, muster_status *status);

/* Whether the call has a use for layouts. */
bool bulk_needs_layouts(const muster_group *group, const collective_call *call);

#endif
