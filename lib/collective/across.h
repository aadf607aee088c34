/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From host to host: collectives among ranks of which each stands for its host. For hierarchy.c
 * alone.
 */
#ifndef MUSTER_LIB_ACROSS_H
#define MUSTER_LIB_ACROSS_H

#include "collective/compose.h"

/* One rank a host, this one among them; all of them make the same calls. */
typedef struct across {
    muster_group *group;
    const message_label *label;
    deadline end;
    int hosts;
    int host;         /* this rank's */
    const int *ranks; /* of the group, one a host */
} across;

/* Dissemination, as compose_barrier. */
muster_status across_barrier(const across *way);

/* A binomial tree from the host root. */
muster_status across_broadcast(const across *way, int root, void *buffer, size_t bytes);

/* buffer becomes the reduction of all hosts' buffers, in their order; of across_reduce at the host
 * root alone, elsewhere it stays. */
muster_status across_all_reduce(const across *way, void *buffer, size_t count, muster_type type,
                                muster_reduction redop);
muster_status across_reduce(const across *way, int root, void *buffer, size_t count,
                            muster_type type, muster_reduction redop);

/* bytes[h] at offsets[h] of buffer are those of host h; every host gets all. */
muster_status across_all_gather(const across *way, void *buffer, const size_t *bytes,
                                const size_t *offsets);

#endif
