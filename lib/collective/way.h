/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the buffers of a call are.
 */
#ifndef MUSTER_LIB_WAY_H
#define MUSTER_LIB_WAY_H

#include "backend/device_memory.h"

/* Where the buffers of one call are. All zeros: in host memory. */
typedef struct route {
    const muster_device_table *table; /* NULL: in host memory, all of them */
    int device;                       /* that they are on */
    void *stream;                     /* that the call comes behind */
    bool send_away;                   /* not in host memory */
    bool receive_away;
    bool native; /* the group's device communicator can reach all of them */
    bool idle;   /* this rank moves nothing: its buffers don't matter, and may be NULL */
    bool handle; /* the caller does not wait */
} route;

#endif
