/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Batches of sends and receives by a device's communicator: one call for all of them. Those in host
 * memory travel through memory of the device as wholes, since the other side may have its buffers
 * on the device, and both must move the same.
 */
#include "config.h"

#include "collective/native.h"

#include <stdlib.h>

#include "base/error.h"
#include "collective/native_room.h"

static size_t bytes_of(const muster_transfer *t)
{
    return t->count * muster_type_size(t->type);
}

static message_label label_of(const numbered *one)
{
    return (message_label){.kind = MESSAGE_SEND,
                           .type = one->transfer.type,
                           .root = -1,
                           .sequence = one->number,
                           .count = one->transfer.count,
                           .receiving = !batch_sends(&one->transfer)};
}

static muster_call call_of(const muster_transfer *transfers, size_t count, void *stream)
{
    return (muster_call){.size = sizeof(muster_call),
                         .operation = MUSTER_OPERATION_SEND_RECV,
                         .type = MUSTER_UINT8,
                         .root = -1,
                         .transfers = transfers,
                         .num_transfers = count,
                         .stream = stream};
}

/* Those in device memory, also between this rank and itself. */
static muster_status transfer_directly(muster_group *group, const batch *all,
                                       muster_transfer *transfers, deadline end)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].transfer.count > 0)
            transfers[count++] = all->list[i].transfer;
    message_label label = label_of(&all->list[0]);
    label.device = true;
    const muster_call call = call_of(transfers, count, all->way.stream);
    if (count == 0)
        return MUSTER_OK;
    return all->way.handle ? native_run_behind(group, &call, all->function, &label, end)
                           : native_run(group, &group->device, &call, &label, end);
}

/* Whether it travels, in this direction. */
static bool travels(const muster_group *group, const muster_transfer *t, bool sends)
{
    return t->peer != group->rank && batch_sends(t) == sends && t->count > 0;
}

static muster_status add_up(const muster_group *group, const batch *all, bool sends, size_t *sum)
{
    for (size_t i = 0; i < all->count; i++) {
        const muster_transfer *t = &all->list[i].transfer;
        size_t more = travels(group, t, sends) ? bytes_of(t) : 0;
        if (more > SIZE_MAX / 2 - *sum)
            return error_no_memory(SIZE_MAX, "what is sent and received");
        *sum += more;
    }
    return MUSTER_OK;
}

/* Lists the transfers of one direction with their places in the room, from at on; what is sent is
 * put there. */
static size_t list_staged(const muster_group *group, const batch *all, bool sends, size_t at,
                          const native_room *room, muster_transfer *list)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        muster_transfer t = all->list[i].transfer;
        if (!travels(group, &t, sends))
            continue;
        if (sends)
            t.send = native_room_put(room, at, t.send, bytes_of(&t));
        else
            t.receive = room->device + at;
        at += bytes_of(&t);
        list[count++] = t;
    }
    return count;
}

static void take_received(const muster_group *group, const batch *all, size_t at,
                          const native_room *room)
{
    for (size_t i = 0; i < all->count; i++) {
        const muster_transfer *t = &all->list[i].transfer;
        if (!travels(group, t, false))
            continue;
        native_room_take(room, at, t->receive, bytes_of(t));
        at += bytes_of(t);
    }
}

/* Those in host memory: all that is sent is copied to the device, then all that has come from it.
 */
static muster_status transfer_staged(muster_group *group, const batch *all, muster_transfer *list,
                                     deadline end)
{
    size_t sent = 0, total = 0;
    native_room room;
    muster_status status = add_up(group, all, true, &sent);
    total = sent;
    if (status == MUSTER_OK)
        status = add_up(group, all, false, &total);
    if (status != MUSTER_OK || total == 0)
        return status;
    status = native_room_get(group, total, end, &room);
    if (status != MUSTER_OK)
        return status;
    size_t count = list_staged(group, all, true, 0, &room, list);
    count += list_staged(group, all, false, sent, &room, list + count);
    const message_label label = label_of(&all->list[0]);
    const muster_call call = call_of(list, count, room.stream);
    status = native_room_store(group, &room, 0, sent, end);
    if (status == MUSTER_OK)
        status = native_run(group, &group->device, &call, &label, end);
    if (status == MUSTER_OK)
        status = native_room_fetch(group, &room, sent, total - sent, end);
    if (status == MUSTER_OK)
        take_received(group, all, sent, &room);
    return status;
}

/* Whether an envelope goes before it: where calls are compared, and where it may be that the other
 * side has nothing but that, since of an empty buffer nobody can tell where it is. */
static bool has_envelope(muster_group *group, const muster_transfer *t)
{
    return t->peer != group->rank && (group->checks || (t->count == 0 && !native_alone(group)));
}

/* The other side does not say where its buffer is where either kind of memory is right. */
static muster_status carry_envelopes(muster_group *group, const batch *all, deadline end)
{
    size_t count = 0;
    message *messages = calloc(all->count + 1, sizeof(*messages));
    if (messages == NULL)
        return compose_no_memory(group, (all->count + 1) * sizeof(*messages), "messages");
    for (size_t i = 0; i < all->count; i++) {
        const muster_transfer *t = &all->list[i].transfer;
        message_label label = label_of(&all->list[i]);
        label.device = t->count > 0 && !native_alone(group);
        if (has_envelope(group, t) && batch_sends(t))
            message_to(&messages[count++], t->peer, &label, NULL, 0);
        else if (has_envelope(group, t))
            message_from(&messages[count++], t->peer, &label, NULL, 0);
    }
    muster_status status = count > 0 ? messages_carry(group, messages, count, end) : MUSTER_OK;
    free(messages);
    return status;
}

muster_status native_transfers(muster_group *group, const batch *all, deadline end)
{
    muster_transfer *transfers = calloc(all->count + 1, sizeof(*transfers));
    if (transfers == NULL)
        return compose_no_memory(group, (all->count + 1) * sizeof(*transfers), "transfers");
    muster_status status = carry_envelopes(group, all, end);
    if (status == MUSTER_OK)
        status = all->way.native ? transfer_directly(group, all, transfers, end)
                                 : transfer_staged(group, all, transfers, end);
    free(transfers);
    return status;
}
