/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of host memory by a device's communicator: so all that is made of messages works in a
 * group that has nothing else, and finds ranks that disagree as it does everywhere.
 *
 * The device's transfers between two ranks pair up in their order. Each carry is one transfer for
 * each message's envelope, all at once, then one for each piece of what is longer: the first pieces
 * of all messages at once, then the second ones. Both sides of a message know its size by then, so
 * they cut it alike.
 */
#include "config.h"

#include "collective/native.h"

#include <stdlib.h>
#include <string.h>

#include "collective/native_room.h"

enum { PIECE = 1 << 20 };

/* One step: a transfer for some of the messages. */
typedef struct step {
    muster_group *group;
    message *messages;
    size_t count;
    muster_transfer *transfers; /* room for one each */
    deadline end;
} step;

/* What of message m moves in this step: from offset on. */
typedef size_t (*portion)(const message *m, size_t offset);

static size_t envelope_portion(const message *m, size_t offset)
{
    (void)m, (void)offset;
    return MESSAGE_ENVELOPE;
}

static size_t data_portion(const message *m, size_t offset)
{
    size_t left = m->bytes > MESSAGE_INLINE && m->bytes > offset ? m->bytes - offset : 0;
    return left < PIECE ? left : PIECE;
}

static char *bytes_at(message *m, bool envelopes, size_t offset)
{
    if (envelopes)
        return (char *)m->envelope;
    return m->sending ? (char *)(uintptr_t)m->send + offset : (char *)m->receive + offset;
}

/* Lists the transfers of one direction from place at on; what is sent is put into the room. */
static size_t list_transfers(const step *s, portion of, size_t offset, bool sending,
                             const native_room *room, size_t *at, size_t listed)
{
    for (size_t i = 0; i < s->count; i++) {
        message *m = &s->messages[i];
        size_t bytes = of(m, offset);
        if (m->sending != sending || bytes == 0)
            continue;
        muster_transfer *t = &s->transfers[listed++];
        *t = (muster_transfer){.direction = sending ? MUSTER_SENDS : MUSTER_RECEIVES,
                               .peer = m->peer,
                               .type = MUSTER_UINT8,
                               .count = bytes};
        if (sending)
            t->send =
                native_room_put(room, *at, bytes_at(m, of == envelope_portion, offset), bytes);
        else
            t->receive = room->device + *at;
        *at += bytes;
    }
    return listed;
}

static void take_received(const step *s, portion of, size_t offset, const native_room *room,
                          size_t at)
{
    for (size_t i = 0; i < s->count; i++) {
        message *m = &s->messages[i];
        size_t bytes = of(m, offset);
        if (m->sending || bytes == 0)
            continue;
        native_room_take(room, at, bytes_at(m, of == envelope_portion, offset), bytes);
        at += bytes;
    }
}

static muster_status take_step(const step *s, portion of, size_t offset, bool *moved)
{
    size_t total = 0, sent = 0, at = 0;
    for (size_t i = 0; i < s->count; i++)
        total += of(&s->messages[i], offset);
    *moved = total > 0;
    if (total == 0)
        return MUSTER_OK;
    native_room room;
    muster_status status = native_room_get(s->group, total, s->end, &room);
    if (status != MUSTER_OK)
        return status;
    size_t listed = list_transfers(s, of, offset, true, &room, &at, 0);
    sent = at;
    listed = list_transfers(s, of, offset, false, &room, &at, listed);
    const muster_call call = {.size = sizeof(call),
                              .operation = MUSTER_OPERATION_SEND_RECV,
                              .type = MUSTER_UINT8,
                              .root = -1,
                              .transfers = s->transfers,
                              .num_transfers = listed,
                              .stream = room.stream};
    status = native_room_store(s->group, &room, 0, sent, s->end);
    if (status == MUSTER_OK)
        status = native_run(s->group, &s->group->messages, &call, &s->messages[0].label, s->end);
    if (status == MUSTER_OK)
        status = native_room_fetch(s->group, &room, sent, total - sent, s->end);
    if (status == MUSTER_OK)
        take_received(s, of, offset, &room, sent);
    return status;
}

static muster_status open_envelopes(const step *s)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < s->count; i++)
        if (!s->messages[i].sending)
            status = message_open(s->group, &s->messages[i]);
    return status;
}

muster_status native_carry(muster_group *group, message *messages, size_t count, deadline end)
{
    if (count == 0)
        return MUSTER_OK;
    step s = {group, messages, count, calloc(count, sizeof(muster_transfer)), end};
    if (s.transfers == NULL)
        return compose_no_memory(group, count * sizeof(muster_transfer), "messages");
    bool moved = false;
    muster_status status = take_step(&s, envelope_portion, 0, &moved);
    if (status == MUSTER_OK)
        status = open_envelopes(&s);
    for (size_t offset = 0; status == MUSTER_OK && moved; offset += PIECE)
        status = take_step(&s, data_portion, offset, &moved);
    free(s.transfers);
    return status;
}
