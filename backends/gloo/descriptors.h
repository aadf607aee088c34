/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The descriptors of this process: whether there is room for a mesh, and close-on-exec for those
 * that Gloo opens, which it does not set.
 */
#ifndef MUSTER_BACKENDS_GLOO_DESCRIPTORS_H
#define MUSTER_BACKENDS_GLOO_DESCRIPTORS_H

#include "muster/backend.h"

/* The descriptors that were open at one moment. */
typedef struct descriptors descriptors;

/* NULL where there is no memory. */
descriptors *descriptors_now(void);
void descriptors_free(descriptors *now);

/* Checks that needed more can be opened, and raises the soft limit if that is what it takes. */
muster_status descriptors_reserve(const descriptors *now, size_t needed);

/* Calls visit for each open descriptor. */
void descriptors_each(void (*visit)(void *user, int fd), void *user);

/* Sets close-on-exec on sockets and epolls that are not in before. Before NULL: does nothing. */
void descriptors_close_on_exec(const descriptors *before);

#endif
