/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tcp store: each operation as queries of torch's TCPStore and their answers.
 */
#include "store/store.h"

#include <stdlib.h>

#include "base/blobs.h"
#include "base/error.h"
#include "base/patience.h"
#include "tcp_store/store_tcp.h"

/* One query under way. */
typedef struct call {
    tcp_client *client;
    tcp_link *link;
    const char *what;
    deadline end;
} call;

static tcp_client *client_of(muster_store *store)
{
    return &((tcp_store *)store)->client;
}

/* A server that has let one answer's time pass is not given as much for the next ones. */
static deadline answer_deadline(const tcp_client *client)
{
    enum { SILENT_MS = 100 };
    bool silent = atomic_load(&client->silent) && client->timeout_ms > SILENT_MS;
    return patience_for(silent ? SILENT_MS : client->timeout_ms);
}

static void note_silence(tcp_client *client, muster_status status)
{
    if (status == MUSTER_OK || status == MUSTER_ERR_TIMEOUT)
        atomic_store(&client->silent, status != MUSTER_OK);
}

/* Sends message, of which query is the first part, and frees it. */
static muster_status call_begin(call *one, tcp_client *client, protocol_query query,
                                buffer *message, deadline end)
{
    *one = (call){client, NULL, protocol_query_name(query), end};
    muster_status status = tcp_client_take(client, end, &one->link);
    if (status == MUSTER_OK) {
        status = tcp_link_send(client, one->link, one->what, message, end);
        if (status != MUSTER_OK)
            tcp_client_give(client, one->link, false);
    }
    if (status != MUSTER_OK)
        note_silence(client, status);
    buffer_free(message);
    return status;
}

static muster_status call_read(call *one, void *data, size_t size)
{
    return tcp_link_read(one->client, one->link, one->what, data, size, one->end);
}

static muster_status call_end(call *one, muster_status status)
{
    tcp_client_give(one->client, one->link, status == MUSTER_OK);
    note_silence(one->client, status);
    return status;
}

/* A query whose answer is an integer of so many bytes. */
static muster_status ask_integer(tcp_client *client, protocol_query query, buffer *message,
                                 size_t bytes, uint64_t *value)
{
    call one;
    unsigned char wire[8] = {0};
    muster_status status = call_begin(&one, client, query, message, answer_deadline(client));
    if (status != MUSTER_OK)
        return status;
    status = call_end(&one, call_read(&one, wire, bytes));
    protocol_reader reader = {wire};
    if (status == MUSTER_OK)
        *value = protocol_get_u64(&reader);
    return status;
}

/* A query whose answer is a value. */
static muster_status ask_value(tcp_client *client, protocol_query query, buffer *message,
                               void **value, size_t *size)
{
    call one;
    buffer answer = {0};
    size_t length;
    muster_status status = call_begin(&one, client, query, message, answer_deadline(client));
    if (status != MUSTER_OK)
        return status;
    status =
        call_end(&one, tcp_link_read_value(client, one.link, one.what, &answer, &length, one.end));
    if (status == MUSTER_OK)
        status = blob_copy((muster_blob){answer.data, answer.size}, value, size);
    buffer_free(&answer);
    return status;
}

/* SET has no answer: what is asked behind it in the same message tells that it has been carried
 * out. */
static muster_status ask_acknowledged(tcp_client *client, buffer *message)
{
    uint64_t num_keys;
    protocol_put_query(message, client->family, PROTOCOL_GETNUMKEYS);
    return ask_integer(client, PROTOCOL_SET, message, sizeof(num_keys), &num_keys);
}

/* ---- One key ------------------------------------------------------------------------------- */

static void put_set(const tcp_client *client, buffer *message, muster_blob key, muster_blob value)
{
    protocol_put_query(message, client->family, PROTOCOL_SET);
    protocol_put_key(message, key);
    protocol_put_bytes(message, value);
}

static muster_status tcp_set(muster_store *store, muster_blob key, muster_blob value)
{
    buffer message = {0};
    put_set(client_of(store), &message, key, value);
    return ask_acknowledged(client_of(store), &message);
}

static muster_status ask_key(muster_store *store, muster_blob key, void **value, size_t *size)
{
    buffer message = {0};
    protocol_put_query(&message, client_of(store)->family, PROTOCOL_GET);
    protocol_put_key(&message, key);
    return ask_value(client_of(store), PROTOCOL_GET, &message, value, size);
}

/* The protocol has no way to refuse a number: the server only closes the connection. Whether that
 * was the cause is seen from the value. */
static muster_status explain_add(muster_store *store, muster_blob key, int64_t delta,
                                 muster_status status)
{
    void *bytes = NULL;
    size_t size;
    char text[COUNTER_TEXT_SIZE];
    int64_t sum;
    muster_blob value;
    bool there;
    if (store->ops->check(store, &key, 1, &there) != MUSTER_OK || !there ||
        ask_key(store, key, &bytes, &size) != MUSTER_OK)
        return status;
    value = (muster_blob){bytes, size};
    muster_status reason = counter_add(key, &value, delta, text, &sum);
    free(bytes);
    return reason != MUSTER_OK ? reason
                               : error_set(status, "%s: the store's host closed the connection",
                                           store_describe(store));
}

static muster_status tcp_add(muster_store *store, muster_blob key, int64_t delta, int64_t *sum)
{
    buffer message = {0};
    uint64_t answer;
    protocol_put_query(&message, client_of(store)->family, PROTOCOL_ADD);
    protocol_put_key(&message, key);
    protocol_put_u64(&message, (uint64_t)delta);
    muster_status status =
        ask_integer(client_of(store), PROTOCOL_ADD, &message, sizeof(answer), &answer);
    if (status == MUSTER_OK)
        *sum = (int64_t)answer;
    return status == MUSTER_ERR_PEER_LOST ? explain_add(store, key, delta, status) : status;
}

static muster_status tcp_compare_set(muster_store *store, muster_blob key, muster_blob expected,
                                     muster_blob desired, void **value, size_t *size)
{
    buffer message = {0};
    protocol_put_query(&message, client_of(store)->family, PROTOCOL_COMPARE_SET);
    protocol_put_key(&message, key);
    protocol_put_bytes(&message, expected);
    protocol_put_bytes(&message, desired);
    return ask_value(client_of(store), PROTOCOL_COMPARE_SET, &message, value, size);
}

static muster_status tcp_delete(muster_store *store, muster_blob key, bool *existed)
{
    buffer message = {0};
    uint64_t num_deleted;
    protocol_put_query(&message, client_of(store)->family, PROTOCOL_DELETE);
    protocol_put_key(&message, key);
    muster_status status =
        ask_integer(client_of(store), PROTOCOL_DELETE, &message, sizeof(num_deleted), &num_deleted);
    if (status == MUSTER_OK)
        *existed = num_deleted > 0;
    return status;
}

static muster_status tcp_num_keys(muster_store *store, int64_t *num_keys)
{
    buffer message = {0};
    uint64_t answer;
    protocol_put_query(&message, client_of(store)->family, PROTOCOL_GETNUMKEYS);
    muster_status status =
        ask_integer(client_of(store), PROTOCOL_GETNUMKEYS, &message, sizeof(answer), &answer);
    if (status == MUSTER_OK)
        *num_keys = (int64_t)answer;
    return status;
}

/* ---- Many keys ----------------------------------------------------------------------------- */

static muster_status tcp_check(muster_store *store, const muster_blob *keys, size_t num_keys,
                               bool *all_there)
{
    bool there = true;
    for (size_t from = 0, to; there && from < num_keys; from = to) {
        buffer message = {0};
        uint64_t answer;
        to = store_tcp_put_keys(&message, client_of(store)->family, PROTOCOL_CHECK, keys, from,
                                num_keys);
        muster_status status = ask_integer(client_of(store), PROTOCOL_CHECK, &message, 1, &answer);
        if (status != MUSTER_OK)
            return status;
        there = answer == PROTOCOL_READY;
    }
    *all_there = there;
    return MUSTER_OK;
}

/* One SET for each key rather than MULTI_SET, which 1.13 lacks, and which torch's present server
 * carries out again from its start with each piece of it that comes. */
static muster_status tcp_multi_set(muster_store *store, const muster_blob *keys,
                                   const muster_blob *values, size_t num_keys)
{
    muster_status status = MUSTER_OK;
    for (size_t from = 0; status == MUSTER_OK && from < num_keys;) {
        buffer message = {0};
        while (from < num_keys && message.size <= STORE_TCP_MESSAGE)
            put_set(client_of(store), &message, keys[from], values[from]), from++;
        status = ask_acknowledged(client_of(store), &message);
    }
    return status;
}

/* MULTI_GET, or a GET for each key where there is no such thing: the answers have the same bytes.
 * So few of them at a time that the server has room for all questions while it answers. */
static size_t put_gets(const tcp_client *client, buffer *message, const muster_blob *keys,
                       size_t from, size_t num_keys)
{
    enum { FEW_BYTES = 8 << 10 };
    if (protocol_has(client->family, PROTOCOL_MULTI_GET))
        return store_tcp_put_keys(message, client->family, PROTOCOL_MULTI_GET, keys, from,
                                  num_keys);
    for (; from < num_keys && message->size <= FEW_BYTES; from++) {
        protocol_put_query(message, client->family, PROTOCOL_GET);
        protocol_put_key(message, keys[from]);
    }
    return from;
}

/* Reads the values of keys[from..to) behind those that are in bytes already. */
static muster_status multi_get_some(tcp_client *client, const muster_blob *keys, size_t from,
                                    size_t num_keys, size_t *to, buffer *bytes, muster_blob *values)
{
    call one;
    buffer message = {0};
    *to = put_gets(client, &message, keys, from, num_keys);
    muster_status status =
        call_begin(&one, client, PROTOCOL_MULTI_GET, &message, answer_deadline(client));
    if (status != MUSTER_OK)
        return status;
    for (size_t i = from; status == MUSTER_OK && i < *to; i++)
        status = tcp_link_read_value(client, one.link, one.what, bytes, &values[i].size, one.end);
    return call_end(&one, status);
}

/* Waits for keys and reads their values, one after the other, to bytes; found has their sizes. */
static muster_status get_all(muster_store *store, const muster_blob *keys, size_t num_keys,
                             int64_t timeout_ms, buffer *bytes, muster_blob *found)
{
    muster_status status = MUSTER_ERR_TIMEOUT;
    bool awaits = client_of(store)->knows_await && timeout_ms > 0;
    if (awaits)
        status = store_tcp_await(store, keys, num_keys, timeout_ms, bytes, found);
    if (status != MUSTER_ERR_TIMEOUT)
        return status;
    bytes->size = 0;
    status = awaits ? store_tcp_search(store, keys, num_keys, timeout_ms)
                    : store_tcp_wait(store, keys, num_keys, timeout_ms);
    for (size_t from = 0, to; status == MUSTER_OK && from < num_keys; from = to)
        status = multi_get_some(client_of(store), keys, from, num_keys, &to, bytes, found);
    return status;
}

static muster_status tcp_get(muster_store *store, muster_blob key, int64_t timeout_ms, void **value,
                             size_t *size)
{
    buffer bytes = {0};
    muster_blob found;
    muster_status status = get_all(store, &key, 1, timeout_ms, &bytes, &found);
    if (status == MUSTER_OK)
        status = blob_copy((muster_blob){bytes.data, bytes.size}, value, size);
    buffer_free(&bytes);
    return status;
}

static muster_status tcp_multi_get(muster_store *store, const muster_blob *keys, size_t num_keys,
                                   int64_t timeout_ms, muster_blob **values)
{
    buffer bytes = {0};
    muster_blob *found = calloc(num_keys + 1, sizeof(*found));
    muster_status status = found == NULL
                               ? error_no_memory(num_keys * sizeof(*found), "values")
                               : get_all(store, keys, num_keys, timeout_ms, &bytes, found);
    size_t at = 0;
    for (size_t i = 0; status == MUSTER_OK && i < num_keys; at += found[i++].size)
        found[i].data = bytes.data == NULL ? NULL : bytes.data + at;
    if (status == MUSTER_OK)
        status = blobs_pack(found, num_keys, values);
    free(found);
    buffer_free(&bytes);
    return status;
}

/* ---- The kind ------------------------------------------------------------------------------ */

static const char *tcp_describe(const muster_store *store)
{
    return ((const tcp_store *)store)->name;
}

static int tcp_port(const muster_store *store)
{
    return ((const tcp_store *)store)->port;
}

static bool tcp_local_address(const muster_store *store, char *address, size_t size)
{
    char text[SOCKET_TEXT_SIZE];
    socket_address_text(&((const tcp_store *)store)->client.local, false, text);
    if (strlen(text) >= size)
        return false;
    strcpy(address, text);
    return true;
}

static bool tcp_served_here(const muster_store *store)
{
    return ((const tcp_store *)store)->server != NULL;
}

static void tcp_destroy(muster_store *store)
{
    tcp_store *tcp = (tcp_store *)store;
    tcp_client_close(&tcp->client);
    if (tcp->server != NULL)
        tcp_server_release(tcp->server);
    free(tcp->name);
    free(tcp);
}

const store_ops store_tcp_ops = {
    .set = tcp_set,
    .get = tcp_get,
    .add = tcp_add,
    .compare_set = tcp_compare_set,
    .check = tcp_check,
    .wait = store_tcp_wait,
    .delete_key = tcp_delete,
    .num_keys = tcp_num_keys,
    .multi_get = tcp_multi_get,
    .multi_set = tcp_multi_set,
    .describe = tcp_describe,
    .port = tcp_port,
    .local_address = tcp_local_address,
    .served_here = tcp_served_here,
    .destroy = tcp_destroy,
};
