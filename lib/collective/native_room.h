/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the device, and as much pinned host memory beside it, through which host memory travels
 * in a group that has a device's communicator alone. Used by the group's thread.
 */
#ifndef MUSTER_LIB_NATIVE_ROOM_H
#define MUSTER_LIB_NATIVE_ROOM_H

#include "base/deadline.h"
#include "collective/label.h"
#include "group/group.h"

typedef struct native_room {
    char *device;
    char *host;
    void *stream;
} native_room;

/* At least that many bytes; what was in it is gone. */
muster_status native_room_get(muster_group *group, size_t bytes, deadline end, native_room *room);

/* Writes to the host's half, and reads from it; put returns the place in the device's. */
void *native_room_put(const native_room *room, size_t offset, const void *from, size_t bytes);
void native_room_take(const native_room *room, size_t offset, void *to, size_t bytes);

/* Copies that part of the host's half to the device's, or back. */
muster_status native_room_store(muster_group *group, const native_room *room, size_t offset,
                                size_t bytes, deadline end);
muster_status native_room_fetch(muster_group *group, const native_room *room, size_t offset,
                                size_t bytes, deadline end);

/* Carries a call out by the communicator of side and waits for it; a failure is the group's. */
muster_status native_run(muster_group *group, group_side *side, const muster_call *call,
                         const message_label *label, deadline end);

/* The same for the device's side on the group's thread, for a call that the caller has a handle
 * for: it is started, and
 * its end is left to another thread, where that can be had. function is what the caller called. */
muster_status native_run_behind(muster_group *group, const muster_call *call, const char *function,
                                const message_label *label, deadline end);

#endif
