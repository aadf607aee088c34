/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the tcp server answers queries, as torch's server does, but for this: a number that can't be
 * added to closes the connection instead of wrapping around, and COMPARE_SET wakes who waits.
 */
#include "tcp_session.h"

#include <stdlib.h>

static void wake(waiter *who, void *context)
{
    tcp_store_data *data = context;
    tcp_session *session = (tcp_session *)who;
    protocol_put_u8(&session->out, PROTOCOL_STOP_WAITING);
    data->woken(session);
}

static void key_was_set(tcp_store_data *data, muster_blob key)
{
    waits_key_set(&data->waits, key, wake, data);
}

static bool answer_validate(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)data;
    session->validated = protocol_get_u32(reader) == PROTOCOL_MAGIC;
    return session->validated;
}

static bool answer_ping(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)data;
    protocol_put_u32(&session->out, protocol_get_u32(reader));
    return true;
}

static bool answer_set(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)session;
    muster_blob key = protocol_get_bytes(reader);
    muster_blob value = protocol_get_bytes(reader);
    if (value_map_set(&data->values, key, value) != MUSTER_OK)
        return false;
    key_was_set(data, key);
    return true;
}

static bool answer_compare_set(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    muster_blob key = protocol_get_bytes(reader);
    muster_blob expected = protocol_get_bytes(reader);
    muster_blob desired = protocol_get_bytes(reader);
    muster_blob now;
    bool changed;
    if (value_map_compare_set(&data->values, key, expected, desired, &now, &changed) != MUSTER_OK)
        return false;
    protocol_put_bytes(&session->out, now);
    if (changed)
        key_was_set(data, key);
    return true;
}

static void put_value(tcp_store_data *data, tcp_session *session, muster_blob key)
{
    muster_blob value = {NULL, 0};
    value_map_get(&data->values, key, &value);
    protocol_put_bytes(&session->out, value);
}

static bool answer_get(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    put_value(data, session, protocol_get_bytes(reader));
    return true;
}

static bool answer_add(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    int64_t sum;
    muster_blob key = protocol_get_bytes(reader);
    if (value_map_add(&data->values, key, (int64_t)protocol_get_u64(reader), &sum) != MUSTER_OK)
        return false;
    protocol_put_u64(&session->out, (uint64_t)sum);
    key_was_set(data, key);
    return true;
}

static bool answer_check(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    bool all_there = true;
    for (uint64_t left = protocol_get_u64(reader); left > 0 && all_there; left--)
        all_there = key_map_find(&data->values.keys, protocol_get_bytes(reader)) != NULL;
    protocol_put_u8(&session->out, all_there ? PROTOCOL_READY : PROTOCOL_NOT_READY);
    return true;
}

static bool answer_wait(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    if (session->wait.missing > 0)
        return false;
    uint64_t num_keys = protocol_get_u64(reader);
    size_t num_missing = 0;
    muster_blob *missing = malloc((size_t)num_keys * sizeof(*missing) + 1);
    for (uint64_t i = 0; missing != NULL && i < num_keys; i++) {
        missing[num_missing] = protocol_get_bytes(reader);
        num_missing += key_map_find(&data->values.keys, missing[num_missing]) == NULL;
    }
    bool done = missing != NULL;
    if (done && num_missing == 0)
        protocol_put_u8(&session->out, PROTOCOL_STOP_WAITING);
    else if (done)
        done = waits_add(&data->waits, &session->wait, missing, num_missing);
    free(missing);
    return done;
}

static bool answer_cancel_wait(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)reader;
    waits_drop(&data->waits, &session->wait);
    protocol_put_u8(&session->out, PROTOCOL_CANCELED);
    return true;
}

static bool answer_num_keys(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)reader;
    protocol_put_u64(&session->out, value_map_count(&data->values));
    return true;
}

static bool answer_delete(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    protocol_put_u64(&session->out, value_map_delete(&data->values, protocol_get_bytes(reader)));
    return true;
}

static bool answer_append(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)session;
    muster_blob key = protocol_get_bytes(reader);
    muster_blob more = protocol_get_bytes(reader), value = {NULL, 0};
    buffer both = {0};
    value_map_get(&data->values, key, &value);
    buffer_append(&both, value.data, value.size);
    buffer_append(&both, more.data, more.size);
    bool done = !both.failed && both.size <= PROTOCOL_MAX_VALUE &&
                value_map_set(&data->values, key, (muster_blob){both.data, both.size}) == MUSTER_OK;
    buffer_free(&both);
    if (done)
        key_was_set(data, key);
    return done;
}

/* Many large values are not all put into memory at once: it goes on when the client has read. */
static bool answer_multi_get(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    const unsigned char *start = reader->at;
    if (session->answered == 0)
        session->unanswered = protocol_get_u64(reader);
    else
        reader->at += session->answered;
    for (; session->unanswered > 0 && session->out.size < SESSION_MAX_OUTPUT; session->unanswered--)
        put_value(data, session, protocol_get_bytes(reader));
    session->answered = session->unanswered > 0 ? (size_t)(reader->at - start) : 0;
    return true;
}

static bool answer_multi_set(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    bool done = true;
    for (uint64_t left = protocol_get_u64(reader); left > 0 && done; left--)
        done = answer_set(data, session, reader);
    return done;
}

static bool (*const answers[PROTOCOL_NUM_QUERIES])(tcp_store_data *data, tcp_session *session,
                                                   protocol_reader *reader) = {
    [PROTOCOL_VALIDATE] = answer_validate,
    [PROTOCOL_SET] = answer_set,
    [PROTOCOL_COMPARE_SET] = answer_compare_set,
    [PROTOCOL_GET] = answer_get,
    [PROTOCOL_ADD] = answer_add,
    [PROTOCOL_CHECK] = answer_check,
    [PROTOCOL_WAIT] = answer_wait,
    [PROTOCOL_GETNUMKEYS] = answer_num_keys,
    [PROTOCOL_DELETE] = answer_delete,
    [PROTOCOL_APPEND] = answer_append,
    [PROTOCOL_MULTI_GET] = answer_multi_get,
    [PROTOCOL_MULTI_SET] = answer_multi_set,
    [PROTOCOL_CANCEL_WAIT] = answer_cancel_wait,
    [PROTOCOL_PING] = answer_ping,
};

bool tcp_session_answer(tcp_store_data *data, tcp_session *session)
{
    size_t done = 0;
    bool welcome = true;
    while (welcome && session->out.size < SESSION_MAX_OUTPUT && done < session->in.size) {
        protocol_reader reader = {session->in.data + done};
        protocol_query query = protocol_query_of(*reader.at++);
        if (query == PROTOCOL_NUM_QUERIES || session->validated != (query != PROTOCOL_VALIDATE))
            return false;
        protocol_found found =
            protocol_scan_query(&session->scan, session->in.data + done, session->in.size - done);
        if (found != PROTOCOL_WHOLE) {
            welcome = found == PROTOCOL_MORE;
            break;
        }
        welcome = answers[query](data, session, &reader) && !session->out.failed;
        if (session->answered > 0)
            break;
        done += session->scan.scanned;
        session->scan = (protocol_scan){0};
    }
    buffer_consume(&session->in, done);
    return welcome;
}

void tcp_session_end(tcp_store_data *data, tcp_session *session)
{
    waits_drop(&data->waits, &session->wait);
    buffer_free(&session->in);
    buffer_free(&session->out);
}
