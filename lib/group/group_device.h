/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The device of a group's rank and the stream that its operations are ordered with.
 */
#ifndef MUSTER_LIB_GROUP_DEVICE_H
#define MUSTER_LIB_GROUP_DEVICE_H

#include "group/group.h"

/* Takes the device that the roster says is this rank's, with a stream on it; and frees that. */
muster_status group_device_open(muster_group *group, deadline end);
void group_device_close(muster_group *group);

#endif
