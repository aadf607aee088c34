/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for keys of a tcp store and getting their values in one go, where the server is one of
 * muster: half the messages of WAIT and GET, and each key is sent once.
 */
#include "tcp_store/store_tcp.h"

#include "base/error.h"
#include "base/patience.h"

/* One AWAIT under way. */
typedef struct await {
    tcp_client *client;
    tcp_link *link;
    deadline end;
    bool called_off;
    bool in_step;
} await;

static const char *await_name(void)
{
    return protocol_query_name(PROTOCOL_AWAIT);
}

/* MUSTER_ERR_TIMEOUT: the keys did not come in time, and what was sent about them is done with. */
static muster_status await_begin(await *one)
{
    unsigned char first;
    muster_status status = tcp_link_read(one->client, one->link, await_name(), &first, 1, one->end);
    if (status == MUSTER_ERR_TIMEOUT) {
        status = store_tcp_call_off(one->client, one->link, &first);
        one->called_off = true;
    }
    if (status != MUSTER_OK || first == PROTOCOL_STOP_WAITING)
        return status;
    one->in_step = one->called_off && first == PROTOCOL_CANCELED;
    return one->in_step ? MUSTER_ERR_TIMEOUT
                        : error_set(MUSTER_ERR_PROTOCOL,
                                    "%s: %s was answered by the number %d: it does not answer as a "
                                    "store",
                                    one->client->name, await_name(), first);
}

static muster_status await_values(await *one, size_t num, buffer *bytes, muster_blob *values)
{
    unsigned char last = PROTOCOL_CANCELED;
    muster_status status = MUSTER_OK;
    one->end = patience_for(one->client->timeout_ms);
    for (size_t i = 0; status == MUSTER_OK && i < num; i++)
        status = tcp_link_read_value(one->client, one->link, await_name(), bytes, &values[i].size,
                                     one->end);
    if (status == MUSTER_OK && one->called_off)
        status = tcp_link_read(one->client, one->link, await_name(), &last, 1, one->end);
    one->in_step = status == MUSTER_OK && last == PROTOCOL_CANCELED;
    return status;
}

/* For as many of keys[from..num_keys) as make one message; *to is the first that is left. */
static muster_status await_some(tcp_client *client, const muster_blob *keys, size_t from,
                                size_t num_keys, deadline end, size_t *to, buffer *bytes,
                                muster_blob *values)
{
    await one = {.client = client, .end = end};
    buffer message = {0};
    *to = store_tcp_put_keys(&message, client->family, PROTOCOL_AWAIT, keys, from, num_keys);
    muster_status status = tcp_client_take(client, one.end, &one.link);
    if (status == MUSTER_OK) {
        status = tcp_link_send(client, one.link, await_name(), &message, end);
        if (status == MUSTER_OK)
            status = await_begin(&one);
        if (status == MUSTER_OK)
            status = await_values(&one, *to - from, bytes, values + from);
        tcp_client_give(client, one.link, one.in_step);
    }
    buffer_free(&message);
    return status;
}

muster_status store_tcp_await(muster_store *store, const muster_blob *keys, size_t num_keys,
                              int64_t timeout_ms, buffer *bytes, muster_blob *values)
{
    tcp_client *client = &((tcp_store *)store)->client;
    deadline end = deadline_in(timeout_ms);
    muster_status status = MUSTER_OK;
    for (size_t from = 0, to; status == MUSTER_OK && from < num_keys; from = to)
        status = await_some(client, keys, from, num_keys, end, &to, bytes, values);
    return status;
}
