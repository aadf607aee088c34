/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the device through which host memory travels.
 */
#include "config.h"

#include "collective/native_room.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collective/native.h"
#include "group/failure.h"

struct native {
    char *device;
    char *host;
    size_t size;
    bool lost; /* a copy may still touch it */
};

static const muster_device_table *table_of(const muster_group *group)
{
    return group->device.backend->ops->devices;
}

static void release(muster_group *group, struct native *n)
{
    if (!n->lost) {
        table_of(group)->free_memory(group->gpu.ordinal, n->device);
        table_of(group)->free_memory(group->gpu.ordinal, n->host);
    }
    *n = (struct native){0};
}

static muster_status grow(muster_group *group, struct native *n, size_t bytes, deadline end)
{
    enum { LEAST = 1 << 16 };
    size_t size = LEAST;
    while (size < bytes && size <= SIZE_MAX / 2)
        size *= 2;
    release(group, n);
    void *device = NULL, *host = NULL;
    int ordinal = group->gpu.ordinal;
    muster_status status =
        table_of(group)->alloc_device(ordinal, size, deadline_left_ms(end), &device);
    if (status == MUSTER_OK)
        status = table_of(group)->alloc_pinned(ordinal, size, deadline_left_ms(end), &host);
    *n = (struct native){device, host, size, false};
    if (status == MUSTER_OK)
        return MUSTER_OK;
    release(group, n);
    return failure_raise(group, status);
}

muster_status native_room_get(muster_group *group, size_t bytes, deadline end, native_room *room)
{
    if (group->native == NULL)
        group->native = calloc(1, sizeof(*group->native));
    if (group->native == NULL)
        return compose_no_memory(group, sizeof(*group->native), "messages");
    struct native *n = group->native;
    muster_status status = MUSTER_OK;
    if (n->size < bytes || n->size == 0)
        status = grow(group, n, bytes, end);
    *room = (native_room){n->device, n->host, group->gpu.message_stream};
    return status;
}

void *native_room_put(const native_room *room, size_t offset, const void *from, size_t bytes)
{
    memcpy(room->host + offset, from, bytes);
    return room->device + offset;
}

void native_room_take(const native_room *room, size_t offset, void *to, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, room->host + offset, bytes);
}

static muster_status copy(muster_group *group, const native_room *room, char *to, const char *from,
                          size_t bytes, deadline end)
{
    muster_copy *started = NULL;
    if (bytes == 0)
        return MUSTER_OK;
    muster_status status = table_of(group)->copy_start(group->gpu.ordinal, room->stream, to, from,
                                                       bytes, deadline_left_ms(end), &started);
    if (status == MUSTER_OK)
        status = table_of(group)->copy_wait(started, deadline_left_ms(end));
    group->native->lost = group->native->lost || status == MUSTER_ERR_TIMEOUT;
    return status == MUSTER_OK ? MUSTER_OK : failure_raise(group, status);
}

muster_status native_room_store(muster_group *group, const native_room *room, size_t offset,
                                size_t bytes, deadline end)
{
    return copy(group, room, room->device + offset, room->host + offset, bytes, end);
}

muster_status native_room_fetch(muster_group *group, const native_room *room, size_t offset,
                                size_t bytes, deadline end)
{
    return copy(group, room, room->host + offset, room->device + offset, bytes, end);
}

void native_free(muster_group *group)
{
    if (group->native == NULL)
        return;
    release(group, group->native);
    native_forget(group);
}

void native_forget(muster_group *group)
{
    free(group->native);
    group->native = NULL;
}
