/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between two ranks that are started at once, one or many.
 */
#ifndef MUSTER_LIB_BATCH_H
#define MUSTER_LIB_BATCH_H

#include "collective/way.h"

/* One message and its number between the two ranks. */
typedef struct numbered {
    muster_transfer transfer;
    uint64_t number;
    bool away; /* its buffer is not in host memory */
} numbered;

typedef struct batch {
    const char *function;
    route way; /* of all buffers */
    size_t count;
    numbered list[];
} batch;

bool batch_sends(const muster_transfer *t);

/* Carries the batch at arguments out, which has been checked; on any thread that may wait. */
muster_status batch_run(muster_group *group, void *arguments);

#endif
