/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives made of messages. They run on the group's own thread; arguments have been checked.
 */
#ifndef MUSTER_LIB_COMPOSE_H
#define MUSTER_LIB_COMPOSE_H

#include "collective/message.h"

/* The label of the next collective of the group, and the time by which it must be done. */
message_label compose_label(muster_group *group, message_kind kind);
deadline compose_deadline(const muster_group *group);

/* Dissemination: in step k every rank tells the one 2^k further on. */
muster_status compose_barrier(muster_group *group, const message_label *label, deadline end);

/* A binomial tree from label->root. */
muster_status compose_broadcast(muster_group *group, const message_label *label, void *buffer,
                                size_t bytes, deadline end);

/* Every rank sends its block to every other: rank r's is bytes[r] long and lies offsets[r] into
 * receive, where the caller's own already is. counts[r] goes into the label of rank r. */
muster_status compose_all_gather(muster_group *group, const message_label *label, void *receive,
                                 const size_t *bytes, const size_t *offsets, const size_t *counts,
                                 deadline end);

/* The same to root alone, where its own block already is; mine is another rank's block. */
muster_status compose_gather(muster_group *group, const message_label *label, void *receive,
                             const void *mine, const size_t *bytes, const size_t *offsets,
                             deadline end);

/* Blocks of one size: bytes from every rank, count in the label. */
muster_status compose_all_gather_equal(muster_group *group, const message_label *label,
                                       void *receive, size_t bytes, deadline end);

/* Small arrays are gathered and folded by everyone; of large ones each rank folds a slice and the
 * slices are gathered. Both fold in rank order, so the bits are the same on every rank and for
 * every size. */
muster_status compose_all_reduce(muster_group *group, const message_label *label, const void *send,
                                 void *receive, deadline end);

#endif
