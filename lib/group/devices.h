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

/* What settles a device beforehand. */
#define DEVICES_BY_OPTION "an option"
#define DEVICES_IN_USE "the current device"

/*
 * What this process says of its devices with a backend that has some: the rank's own, and why,
 * where the option <backend>.device or the current device of a process that makes use of one settle
 * it; else all of them, to be placed.
 */
muster_status devices_introduce(const backend_entry *entry, const muster_options *options,
                                rank_backend *has, devices_found *found);
void devices_found_free(devices_found *found);

/*
 * Why the ranks can't use the backend's devices together: one has none, or only a part of one, two
 * have the same, their versions differ. *words is NULL where they can.
 */
muster_status devices_why_not(const roster *ranks, const char *backend, char **words);

#endif
