/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pinned memory through which a group stages what a communicator can't reach: a few pieces of one
 * size, so that one can be copied while another travels.
 */
#ifndef MUSTER_LIB_STAGING_H
#define MUSTER_LIB_STAGING_H

#include "backend/device_memory.h"
#include "base/deadline.h"
#include "group/group.h"

enum { STAGING_SLOTS = 3, STAGING_PIECE = 4 << 20 };

/* What one operation at a time has. */
typedef struct staging_bench {
    const muster_device_table *table;
    int device;
    char *slots[STAGING_SLOTS];
    muster_copy *copies[STAGING_SLOTS]; /* under way, to or from the slot */
    bool lost;                          /* a copy may still touch a slot */
    deadline end;                       /* of the operation */
    struct staging_bench *next;
} staging_bench;

muster_status staging_take(muster_group *group, const muster_device_table *table, int device,
                           deadline end, staging_bench **bench);

/* Ends what is under way. */
void staging_give_back(muster_group *group, staging_bench *bench);

/* Starts a copy between a slot and memory that is not host memory; waits for the one of a slot,
 * where there is one. */
muster_status staging_start(staging_bench *bench, int slot, void *stream, void *to,
                            const void *from, size_t bytes);
muster_status staging_wait(staging_bench *bench, int slot, deadline end);

/* Copies from memory that is not host memory to any host memory, or the other way, through the
 * slots; has ended when it returns. */
muster_status staging_fetch(staging_bench *bench, void *stream, void *to_host, const void *from,
                            size_t bytes, deadline end);
muster_status staging_store(staging_bench *bench, void *stream, void *to, const void *from_host,
                            size_t bytes, deadline end);

void staging_free(muster_group *group);

/* After fork, in the child: memory of the process alone. */
void staging_forget(muster_group *group);

#endif
