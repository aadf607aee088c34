/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives of host memory whose blocks differ in size, which the group's communicator carries
 * out as a whole.
 */
#ifndef MUSTER_LIB_BULK_RAGGED_H
#define MUSTER_LIB_BULK_RAGGED_H

#include "collective/collective.h"

/* Whether the group's communicator has the operation for such blocks. Not in a group with devices:
 * a rank that moves nothing does not know whether the others' memory is theirs. */
bool bulk_ragged_serves(const muster_group *group, muster_operation operation);

/* Carries one of the operations whose names end in _v out, where it is served. */
muster_status bulk_ragged_carry(muster_group *group, const collective_call *call,
                                const message_label *label, const layout *out, const layout *in,
                                deadline end);

/*
 * For gathers, where the operation is served and all ranks know the same blocks of bytes: mine,
 * which may lie where it belongs in receive, goes to every rank, or where the label has a root to
 * that one.
 */
muster_status bulk_ragged_gather(muster_group *group, const message_label *label, const void *mine,
                                 void *receive, const layout *blocks, deadline end);

#endif
