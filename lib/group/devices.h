/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which device is a rank's, and whether every rank of a group has one of its own. Each rank says
 * which devices it has; all come to the same from that.
 */
#ifndef MUSTER_LIB_DEVICES_H
#define MUSTER_LIB_DEVICES_H

#include "backend/backend.h"
#include "group/roster.h"
#include "options/options.h"

/* The devices of this process. Begins as zeros. */
typedef struct devices_found {
    rank_device *devices;
    size_t count;
    muster_device_info *infos; /* the strings of devices */
} devices_found;

/*
 * What this process says of its devices with a backend that has some: the rank's own, and why,
 * where the option <backend>.device, the current device, there being only one, or the launcher's
 * local rank settle it; else all of them, for devices_settle().
 */
muster_status devices_introduce(const backend_entry *entry, const muster_options *options,
                                int told_local_rank, rank_backend *has, devices_found *found);
void devices_found_free(devices_found *found);

/* In the roster of a world: ranks that have not settled on a device take the one of their local
 * rank. */
void devices_settle(roster *world);

/*
 * Why the ranks can't use the backend's devices together: one has none, or only a part of one, two
 * have the same, their versions differ. *words is NULL where they can.
 */
muster_status devices_why_not(const roster *ranks, const char *backend, char **words);

#endif
