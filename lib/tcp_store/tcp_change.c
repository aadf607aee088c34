/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a change of a key brings about on the tcp server.
 */
#include "tcp_store/tcp_change.h"

void tcp_change_wake(waiter *who, void *data)
{
    tcp_session *session = (tcp_session *)who;
    if (session->await.waits)
        session->await.waits = false; /* what else it awaits is looked for when it is served */
    else
        protocol_put_u8(&session->out, PROTOCOL_STOP_WAITING);
    ((tcp_store_data *)data)->woken(session);
}

tcp_change tcp_change_begin(tcp_store_data *data, muster_blob key)
{
    muster_blob old = {NULL, 0};
    tcp_change change = {.data = data, .key = key, .watched = watches_any(&data->watches, key)};
    if (change.watched) {
        change.existed = value_map_get(&data->values, key, &old);
        buffer_append(&change.old, old.data, old.size);
    }
    return change;
}

static void tell(watcher *who, void *context)
{
    const tcp_change *change = context;
    tcp_session *session = tcp_session_of_watcher(who);
    muster_blob now = {NULL, 0};
    bool there = value_map_get(&change->data->values, change->key, &now);
    protocol_put_u8(&session->out, !there             ? PROTOCOL_KEY_DELETED
                                   : !change->existed ? PROTOCOL_KEY_CREATED
                                                      : PROTOCOL_KEY_UPDATED);
    protocol_put_bytes(&session->out, change->key);
    protocol_put_bytes(&session->out, (muster_blob){change->old.data, change->old.size});
    protocol_put_bytes(&session->out, now);
    /* Who watches and does not read is cut off. */
    if (session->out.size > PROTOCOL_MAX_MESSAGE || change->old.failed)
        session->out.failed = true;
    change->data->woken(session);
}

void tcp_change_end(tcp_change *change, bool changed)
{
    if (changed && change->watched)
        watches_tell(&change->data->watches, change->key, tell, change);
    buffer_free(&change->old);
}

void tcp_change_end_set(tcp_change *change, bool changed)
{
    tcp_change_end(change, changed);
    if (changed)
        waits_key_set(&change->data->waits, change->key, tcp_change_wake, change->data);
}
