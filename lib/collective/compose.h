/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives made of messages. They run on the group's own thread; arguments have been checked.
 *
 * The label says what all ranks must agree on: type, count, reduction, root. Where blocks of ranks
 * differ in size each message says the count that its layout has instead.
 */
#ifndef MUSTER_LIB_COMPOSE_H
#define MUSTER_LIB_COMPOSE_H

#include "collective/layout.h"
#include "collective/message.h"

/* The number of the next collective of the group, its label, and the time by which it must be done.
 */
uint64_t compose_number(muster_group *group);
message_label compose_label(muster_group *group, message_kind kind);
deadline compose_deadline(muster_group *group);

/* A group of several ranks that can't go on for lack of memory has failed: they are out of step. */
muster_status compose_no_memory(muster_group *group, size_t bytes, const char *what);

/* What the others get from this rank, and it from them; its own block stays where it is. */
typedef struct compose_blocks {
    const void *send;
    const layout *out; /* block r of send is for rank r; NULL: all of send is for every rank */
    void *receive;
    const layout *in; /* block r of receive is from rank r */
    double *scalars;  /* of each other rank's label; or NULL */
} compose_blocks;

/* Every rank sends to and receives from every other, a few at a time. */
muster_status compose_exchange(muster_group *group, const message_label *label,
                               const compose_blocks *blocks, deadline end);

/* ---- compose_broadcast.c ---- */

/* Dissemination: in step k every rank tells the one 2^k further on. */
muster_status compose_barrier(muster_group *group, const message_label *label, deadline end);

/* A binomial tree from label->root; a large buffer is scattered, and gathered by all. */
muster_status compose_broadcast(muster_group *group, const message_label *label, void *buffer,
                                deadline end);

/* ---- compose_gather.c ---- */

/* Every rank sends its block of receive, where it already is, to every other. */
muster_status compose_all_gather(muster_group *group, const message_label *label, void *receive,
                                 const layout *blocks, deadline end);

/* The same for blocks of bytes from every rank; count is in the label. */
muster_status compose_all_gather_equal(muster_group *group, const message_label *label,
                                       void *receive, size_t bytes, deadline end);

/* The same to label->root alone, where its own block already is; mine is another rank's block, of
 * which the layout need have that one alone. */
muster_status compose_gather(muster_group *group, const message_label *label, void *receive,
                             const void *mine, const layout *blocks, double *scalars, deadline end);

/* The other way: block r of send goes from label->root to rank r as mine, but not root's own. */
muster_status compose_scatter(muster_group *group, const message_label *label, const void *send,
                              void *mine, const layout *blocks, deadline end);

/* ---- compose_reduce.c ---- */

/*
 * Small arrays are gathered and reduced where the result is needed; of large ones each rank reduces
 * a slice, and the slices are gathered. Both go in the order of ranks, so that the bits are the
 * same in every operation, on every rank and for every size.
 */
muster_status compose_all_reduce(muster_group *group, const message_label *label, const void *send,
                                 void *receive, deadline end);
muster_status compose_reduce(muster_group *group, const message_label *label, const void *send,
                             void *receive, deadline end);

/* receive becomes the reduction of this rank's block. */
muster_status compose_reduce_scatter(muster_group *group, const message_label *label,
                                     const void *send, void *receive, const layout *blocks,
                                     deadline end);

#endif
