/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which way a call goes.
 */
#include "config.h"

#include "collective/route.h"

#include <stdio.h>

#include "base/error.h"
#include "collective/native.h"

static muster_status locate(const muster_device_table *table, const void *buffer,
                            muster_memory_place *place)
{
    *place = (muster_memory_place){.size = sizeof(*place), .device = -1};
    return table->locate(buffer, place);
}

static muster_status mixed(const muster_memory_place *a, const char *name_a,
                           const muster_memory_place *b, const char *name_b)
{
    char one[64], other[64];
    return error_set(MUSTER_ERR_ARGUMENT,
                     "%s is in %s, but %s in %s; all buffers of a call must be in one kind of "
                     "memory, and on one device",
                     name_a, device_memory_words(a, one, sizeof(one)), name_b,
                     device_memory_words(b, other, sizeof(other)));
}

/* Memory of devices that the group can't work with. */
static muster_status check_device(const muster_group *group, const muster_memory_place *place,
                                  const char *name)
{
    if (place->kind != MUSTER_MEMORY_DEVICE || group->gpu.ordinal < 0 ||
        place->device == group->gpu.ordinal)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT,
                     "%s is in memory of device %d, but the group's device is %d", name,
                     place->device, group->gpu.ordinal);
}

/* Two buffers of one call: managed memory goes with any. */
static bool go_together(const muster_memory_place *a, const muster_memory_place *b)
{
    if (a->kind == MUSTER_MEMORY_MANAGED || b->kind == MUSTER_MEMORY_MANAGED)
        return true;
    return a->kind == b->kind && (a->kind == MUSTER_MEMORY_HOST || a->device == b->device);
}

/* The device to copy with: that of device memory before that of managed memory. */
static void settle(muster_group *group, const muster_device_table *table,
                   const muster_memory_place *place, route *found)
{
    if (place->kind == MUSTER_MEMORY_HOST)
        return;
    bool first = found->table == NULL;
    found->table = table;
    found->stream = muster_group_stream(group);
    if (first || place->kind == MUSTER_MEMORY_DEVICE)
        found->device = place->device;
    if (group->gpu.ordinal >= 0)
        found->device = group->gpu.ordinal;
}

static muster_status find_places(muster_group *group, const muster_device_table *table,
                                 const void *send, const void *receive, const char *receive_name,
                                 route *found)
{
    muster_memory_place from = {.device = -1}, to = {.device = -1};
    muster_status status = send != NULL ? locate(table, send, &from) : MUSTER_OK;
    if (status == MUSTER_OK && receive != NULL)
        status = locate(table, receive, &to);
    if (status == MUSTER_OK && send != NULL)
        status = check_device(group, &from, "send");
    if (status == MUSTER_OK && receive != NULL)
        status = check_device(group, &to, receive_name);
    if (status != MUSTER_OK)
        return status;
    if (send != NULL && receive != NULL && !go_together(&from, &to))
        return mixed(&from, "send", &to, receive_name);
    settle(group, table, &from, found);
    settle(group, table, &to, found);
    found->send_away = from.kind != MUSTER_MEMORY_HOST;
    found->receive_away = to.kind != MUSTER_MEMORY_HOST;
    found->native = found->table != NULL && atomic_load(&group->device.comm) != NULL &&
                    (send == NULL || found->send_away) && (receive == NULL || found->receive_away);
    return MUSTER_OK;
}

muster_status route_find(muster_group *group, const void *send, const void *receive,
                         const char *receive_name, route *found)
{
    *found = (route){0};
    if (send == NULL && receive == NULL)
        return MUSTER_OK;
    const muster_device_table *table = device_memory_table();
    return table == NULL ? MUSTER_OK
                         : find_places(group, table, send, receive, receive_name, found);
}

/* All transfers of a batch beside the first whose place says something. */
muster_status route_find_transfers(muster_group *group, numbered *list, size_t count, route *found)
{
    *found = (route){0};
    const muster_device_table *table = device_memory_table();
    muster_memory_place first = {.kind = MUSTER_MEMORY_MANAGED}, place;
    char name[64], first_name[64] = "";
    bool all_away = true;
    for (size_t i = 0; table != NULL && i < count; i++) {
        const muster_transfer *t = &list[i].transfer;
        const void *buffer = batch_sends(t) ? t->send : t->receive;
        if (buffer == NULL)
            continue;
        snprintf(name, sizeof(name), count == 1 ? "buffer" : "the buffer of transfers[%zu]", i);
        muster_status status = locate(table, buffer, &place);
        if (status == MUSTER_OK)
            status = check_device(group, &place, name);
        if (status == MUSTER_OK && !go_together(&first, &place))
            status = mixed(&first, first_name, &place, name);
        if (status != MUSTER_OK)
            return status;
        settle(group, table, &place, found);
        list[i].away = place.kind != MUSTER_MEMORY_HOST;
        all_away = all_away && list[i].away;
        if (first.kind == MUSTER_MEMORY_MANAGED) {
            first = place;
            snprintf(first_name, sizeof(first_name), "%s", name);
        }
    }
    found->native = found->table != NULL && all_away && atomic_load(&group->device.comm) != NULL;
    return MUSTER_OK;
}

muster_status route_run(muster_group *group, const collective_call *call,
                        const message_label *label, const layout *out, const layout *in,
                        const route *way, deadline end)
{
    if (way->native && native_can(group, call))
        return native_call(group, call, label, out, in, way, end);
    return staged_run(group, call, label, out, in, way, end);
}
