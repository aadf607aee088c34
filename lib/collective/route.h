/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which way a call goes, by where its buffers are: host memory by messages, device memory by the
 * device's communicator where the group has one that can, else through the host.
 */
#ifndef MUSTER_LIB_ROUTE_H
#define MUSTER_LIB_ROUTE_H

#include "collective/batch.h"
#include "collective/collective.h"
#include "collective/way.h"

/* Where the buffers of a collective are; those that this rank does not have are NULL. Refuses
 * mixed ones. */
muster_status route_find(muster_group *group, const void *send, const void *receive,
                         const char *receive_name, route *found);

/* Where the buffers of many transfers are. */
muster_status route_find_transfers(muster_group *group, numbered *list, size_t count, route *found);

/* Carries a collective out. */
muster_status route_run(muster_group *group, const collective_call *call,
                        const message_label *label, const layout *out, const layout *in,
                        const route *way, deadline end);

/* ---- staged.c: calls whose buffers are away, by messages ---- */

muster_status staged_run(muster_group *group, const collective_call *call,
                         const message_label *label, const layout *out, const layout *in,
                         const route *way, deadline end);

/* What comes of a step: a rank that can't go on leaves the others waiting, so the group has failed.
 */
muster_status staged_outcome(muster_group *group, muster_status status);

/* Whether buffers of that size go in pieces, which all ranks do alike. */
bool staged_in_pieces(const muster_group *group, size_t bytes);

#endif
