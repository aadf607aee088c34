/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for keys of a tcp store, and finding out which of them never came.
 */
#include "tcp_store/store_tcp.h"

#include "base/error.h"

/* What a time-out may cost beyond itself: to call the wait off, and to look for missing keys. */
enum { CANCEL_MS = 80, SEARCH_MS = 80, SEARCH_AT_ONCE = 512 };

size_t store_tcp_put_keys(buffer *message, protocol_family family, protocol_query query,
                          const muster_blob *keys, size_t from, size_t num_keys)
{
    size_t to = from, bytes = 0;
    while (to < num_keys && bytes <= STORE_TCP_MESSAGE)
        bytes += keys[to++].size + 9;
    protocol_put_query(message, family, query);
    protocol_put_u64(message, to - from);
    for (size_t i = from; i < to; i++)
        protocol_put_key(message, keys[i]);
    return to;
}

/* ---- Which keys are missing ---------------------------------------------------------------- */

/* keys[from..to) one by one, in one message. */
static muster_status search_some(tcp_client *client, const muster_blob *keys, size_t from,
                                 size_t to, unsigned char *answers, deadline end)
{
    tcp_link *link;
    buffer message = {0};
    for (size_t i = from; i < to; i++)
        store_tcp_put_keys(&message, client->family, PROTOCOL_CHECK, keys, i, i + 1);
    muster_status status = tcp_client_take(client, end, &link);
    if (status == MUSTER_OK) {
        status = tcp_link_send(client, link, "CHECK", &message, end);
        if (status == MUSTER_OK)
            status = tcp_link_read(client, link, "CHECK", answers, to - from, end);
        tcp_client_give(client, link, status == MUSTER_OK);
    }
    buffer_free(&message);
    return status;
}

muster_status store_tcp_search(muster_store *store, const muster_blob *keys, size_t num_keys,
                               int64_t timeout_ms)
{
    tcp_client *client = &((tcp_store *)store)->client;
    deadline end = deadline_in(SEARCH_MS);
    store_missing missing = {0};
    unsigned char answers[SEARCH_AT_ONCE];
    for (size_t from = 0, to; from < num_keys; from = to) {
        to = num_keys - from < SEARCH_AT_ONCE ? num_keys : from + SEARCH_AT_ONCE;
        muster_status status = search_some(client, keys, from, to, answers, end);
        if (status == MUSTER_ERR_TIMEOUT && missing.count > 0)
            break;
        if (status != MUSTER_OK)
            return error_prefix(status, "waiting for %zu keys: ", num_keys);
        for (size_t i = from; i < to; i++)
            if (answers[i - from] != PROTOCOL_READY)
                store_missing_add(&missing, keys[i]);
    }
    return missing.count == 0 ? MUSTER_OK : store_missing_error(store, &missing, timeout_ms);
}

/* ---- Waiting ------------------------------------------------------------------------------- */

muster_status store_tcp_call_off(tcp_client *client, tcp_link *link, unsigned char *first)
{
    const char *what = protocol_query_name(PROTOCOL_CANCEL_WAIT);
    deadline end = deadline_in(CANCEL_MS);
    buffer message = {0};
    protocol_put_query(&message, client->family, PROTOCOL_CANCEL_WAIT);
    muster_status status = tcp_link_send(client, link, what, &message, end);
    buffer_free(&message);
    return status == MUSTER_OK ? tcp_link_read(client, link, what, first, 1, end) : status;
}

/* Calls a wait off. The answer to it may be on its way: then that comes first, and the keys are
 * there. MUSTER_ERR_TIMEOUT: called off. 1.13 can't be told, and answers when the keys come, at
 * whatever time: the connection is of no more use. */
static muster_status cancel(tcp_client *client, tcp_link *link, bool *in_step)
{
    unsigned char first = PROTOCOL_CANCELED, second = PROTOCOL_CANCELED;
    *in_step = false;
    if (!protocol_has(client->family, PROTOCOL_CANCEL_WAIT))
        return MUSTER_ERR_TIMEOUT;
    muster_status status = store_tcp_call_off(client, link, &first);
    if (status == MUSTER_OK && first == PROTOCOL_STOP_WAITING)
        status = tcp_link_read(client, link, protocol_query_name(PROTOCOL_CANCEL_WAIT), &second, 1,
                               deadline_in(CANCEL_MS));
    *in_step = status == MUSTER_OK && second == PROTOCOL_CANCELED;
    if (status != MUSTER_OK)
        return status;
    return first == PROTOCOL_STOP_WAITING ? MUSTER_OK : MUSTER_ERR_TIMEOUT;
}

/* Whether keys[from..to) are there, asked over another connection than the one that waits. */
static muster_status look(tcp_client *client, const muster_blob *keys, size_t from, size_t to,
                          deadline end, bool *there)
{
    tcp_link *link;
    buffer message = {0};
    unsigned char answer = PROTOCOL_NOT_READY;
    store_tcp_put_keys(&message, client->family, PROTOCOL_CHECK, keys, from, to);
    muster_status status = tcp_client_take(client, end, &link);
    if (status == MUSTER_OK) {
        status = tcp_link_send(client, link, "CHECK", &message, end);
        if (status == MUSTER_OK)
            status = tcp_link_read(client, link, "CHECK", &answer, 1, end);
        tcp_client_give(client, link, status == MUSTER_OK);
    }
    buffer_free(&message);
    *there = answer == PROTOCOL_READY;
    return status;
}

/* Reads the answer to a wait. torch's older servers do not wake who waits when it is COMPARE_SET
 * that brings the key, so it is looked for now and then, often at those and seldom at one that may
 * be newer. *found: by such a look, and the answer is still to come. */
static muster_status await(tcp_client *client, tcp_link *link, const muster_blob *keys, size_t from,
                           size_t to, unsigned char *answer, deadline end, bool *found)
{
    enum { FIRST_LOOK_MS = 10, SELDOM_MS = 500, LONGEST_MS = 8000 };
    int64_t pause_ms = client->family == PROTOCOL_2_2 ? SELDOM_MS : FIRST_LOOK_MS;
    int64_t longest_ms = client->family == PROTOCOL_2_2 ? LONGEST_MS : SELDOM_MS;
    const char *what = protocol_query_name(PROTOCOL_WAIT);
    while (!client->own_server && deadline_left_ms(end) > pause_ms) {
        muster_status status = tcp_link_read(client, link, what, answer, 1, deadline_in(pause_ms));
        if (status == MUSTER_ERR_TIMEOUT)
            status = look(client, keys, from, to, end, found);
        else
            return status;
        if (status != MUSTER_OK || *found)
            return status;
        pause_ms = pause_ms * 2 > longest_ms ? longest_ms : pause_ms * 2;
    }
    return tcp_link_read(client, link, what, answer, 1, end);
}

/* MUSTER_ERR_TIMEOUT comes without a sentence that says which keys. */
static muster_status wait_some(tcp_client *client, const muster_blob *keys, size_t from,
                               size_t num_keys, size_t *to, deadline end)
{
    const char *what = protocol_query_name(PROTOCOL_WAIT);
    tcp_link *link;
    unsigned char answer = PROTOCOL_STOP_WAITING;
    buffer message = {0};
    bool in_step, found = false;
    *to = store_tcp_put_keys(&message, client->family, PROTOCOL_WAIT, keys, from, num_keys);
    muster_status status = tcp_client_take(client, end, &link);
    if (status == MUSTER_OK) {
        status = tcp_link_send(client, link, what, &message, end);
        if (status == MUSTER_OK)
            status = await(client, link, keys, from, *to, &answer, end, &found);
        in_step = status == MUSTER_OK;
        if (status == MUSTER_OK && answer != PROTOCOL_STOP_WAITING)
            status = error_set(MUSTER_ERR_PROTOCOL,
                               "%s: WAIT was answered by the number %d: it does not answer as a "
                               "store",
                               client->name, answer);
        if (status == MUSTER_ERR_TIMEOUT)
            status = cancel(client, link, &in_step);
        else if (found)
            cancel(client, link, &in_step);
        tcp_client_give(client, link, in_step);
    }
    buffer_free(&message);
    return status;
}

muster_status store_tcp_wait(muster_store *store, const muster_blob *keys, size_t num_keys,
                             int64_t timeout_ms)
{
    tcp_client *client = &((tcp_store *)store)->client;
    deadline end = deadline_in(timeout_ms);
    muster_status status = MUSTER_OK;
    if (timeout_ms == 0) {
        bool all_there;
        status = store->ops->check(store, keys, num_keys, &all_there);
        if (status != MUSTER_OK || all_there)
            return status;
        return store_tcp_search(store, keys, num_keys, timeout_ms);
    }
    for (size_t from = 0, to; status == MUSTER_OK && from < num_keys; from = to)
        status = wait_some(client, keys, from, num_keys, &to, end);
    return status == MUSTER_ERR_TIMEOUT ? store_tcp_search(store, keys, num_keys, timeout_ms)
                                        : status;
}
