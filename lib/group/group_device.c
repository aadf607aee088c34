/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The device of a group's rank, and its stream: the group's own one, or the caller's.
 */
#include "config.h"

#include "group/group_device.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Whether an option of the device's backend asks for it. */
static bool wants_priority(const muster_group *group)
{
    char name[96];
    const backend_entry *entry = group->device.backend;
    snprintf(name, sizeof(name), "%s.high_priority_stream", entry->name);
    const char *value = options_value(group->options, entry->ops->options, name, NULL);
    return value != NULL && strcmp(value, "1") == 0;
}

muster_status group_device_open(muster_group *group, deadline end)
{
    const backend_entry *entry = group->device.backend;
    const rank_device *device = rank_record_device(&group->ranks.ranks[group->rank], entry->name);
    if (device == NULL)
        return error_set(MUSTER_ERR_INTERNAL, "the rank has no device");
    muster_status status = entry->ops->devices->stream_open(
        device->ordinal, wants_priority(group), deadline_left_ms(end), &group->gpu.own_stream);
    if (status == MUSTER_OK)
        group->gpu.ordinal = device->ordinal;
    if (status == MUSTER_OK && group->messages.backend != NULL)
        status =
            entry->ops->devices->stream_open(device->ordinal, wants_priority(group),
                                             deadline_left_ms(end), &group->gpu.message_stream);
    return status;
}

static void close_stream(const muster_group *group, void **stream)
{
    if (*stream != NULL)
        group->device.backend->ops->devices->stream_close(group->gpu.ordinal, *stream);
    *stream = NULL;
}

void group_device_close(muster_group *group)
{
    close_stream(group, &group->gpu.message_stream);
    close_stream(group, &group->gpu.own_stream);
}

muster_status muster_group_device(const muster_group *group, int *ordinal)
{
    muster_status status = group_enter(group, "muster_group_device");
    if (status != MUSTER_OK)
        return status;
    if (ordinal == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_group_device: ordinal is NULL");
    *ordinal = group->gpu.ordinal;
    return MUSTER_OK;
}

muster_status muster_group_set_stream(muster_group *group, void *stream)
{
    muster_status status = group_enter(group, "muster_group_set_stream");
    if (status == MUSTER_OK)
        atomic_store(&group->gpu.given, stream);
    return status;
}

void *muster_group_stream(const muster_group *group)
{
    if (group == NULL)
        return NULL;
    void *given = atomic_load(&group->gpu.given);
    return given != NULL ? given : group->gpu.own_stream;
}
