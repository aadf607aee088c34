/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the tcp server answers each query.
 */
#include "tcp_store/tcp_answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/blobs.h"
#include "tcp_store/tcp_change.h"

/* The greeting has no answer, and its number has been looked at already; it comes once. */
static bool answer_validate(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)data;
    (void)reader;
    return !session->known;
}

static bool answer_ping(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)data;
    protocol_put_u32(&session->out, protocol_get_u32(reader));
    return true;
}

/* ---- Values -------------------------------------------------------------------------------- */

static bool set(tcp_store_data *data, muster_blob key, muster_blob value)
{
    tcp_change change = tcp_change_begin(data, key);
    bool done = value_map_set(&data->values, key, value) == MUSTER_OK;
    tcp_change_end_set(&change, done);
    return done;
}

static bool answer_set(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)session;
    muster_blob key = protocol_get_bytes(reader);
    return set(data, key, protocol_get_bytes(reader));
}

static bool answer_compare_set(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    muster_blob key = protocol_get_bytes(reader);
    muster_blob expected = protocol_get_bytes(reader);
    muster_blob desired = protocol_get_bytes(reader);
    muster_blob now;
    bool changed = false;
    tcp_change change = tcp_change_begin(data, key);
    bool done =
        value_map_compare_set(&data->values, key, expected, desired, &now, &changed) == MUSTER_OK;
    if (done)
        protocol_put_bytes(&session->out, now);
    tcp_change_end_set(&change, done && changed);
    return done;
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

static bool add(tcp_store_data *data, muster_blob key, int64_t delta, int64_t *sum)
{
    tcp_change change = tcp_change_begin(data, key);
    bool done = value_map_add(&data->values, key, delta, sum) == MUSTER_OK;
    tcp_change_end(&change, done);
    return done;
}

static bool answer_add(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    int64_t sum;
    muster_blob key = protocol_get_bytes(reader);
    if (!add(data, key, (int64_t)protocol_get_u64(reader), &sum))
        return false;
    protocol_put_u64(&session->out, (uint64_t)sum);
    waits_key_set(&data->waits, key, tcp_change_wake, data);
    return true;
}

static bool answer_append(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)session;
    muster_blob key = protocol_get_bytes(reader);
    muster_blob more = protocol_get_bytes(reader), value = {NULL, 0};
    value_map_get(&data->values, key, &value);
    if (value.size + more.size > PROTOCOL_MAX_VALUE)
        return false;
    tcp_change change = tcp_change_begin(data, key);
    bool done = value_map_append(&data->values, key, more) == MUSTER_OK;
    tcp_change_end_set(&change, done);
    return done;
}

static bool answer_delete(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    muster_blob key = protocol_get_bytes(reader);
    tcp_change change = tcp_change_begin(data, key);
    bool existed = value_map_delete(&data->values, key);
    data->deletions += existed;
    protocol_put_u64(&session->out, existed);
    tcp_change_end(&change, existed);
    return true;
}

/* ---- Many keys ----------------------------------------------------------------------------- */

static bool answer_num_keys(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)reader;
    protocol_put_u64(&session->out, value_map_count(&data->values));
    return true;
}

static void put_key(muster_blob key, void *session)
{
    protocol_put_bytes(&((tcp_session *)session)->out, key);
}

static bool answer_list_keys(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)reader;
    protocol_put_u64(&session->out, value_map_count(&data->values));
    key_map_each(&data->values.keys, put_key, session);
    return true;
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

/* ---- Waiting ------------------------------------------------------------------------------- */

/* A queue with something in it counts as well. */
static bool is_there(const tcp_store_data *data, muster_blob key)
{
    return key_map_find(&data->values.keys, key) != NULL ||
           queue_map_length(&data->queues, key) > 0;
}

/* The one key that only a server that knows AWAIT says is there. */
static bool is_await_key(muster_blob key)
{
    return blob_equal(key, muster_str(PROTOCOL_AWAIT_KEY));
}

static bool answer_check(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    bool all_there = true;
    for (uint64_t left = protocol_get_u64(reader); left > 0 && all_there; left--) {
        muster_blob key = protocol_get_bytes(reader);
        all_there = is_there(data, key) || is_await_key(key);
    }
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
        num_missing += !is_there(data, missing[num_missing]);
    }
    bool done = missing != NULL;
    if (done && num_missing == 0)
        protocol_put_u8(&session->out, PROTOCOL_STOP_WAITING);
    else if (done)
        done = waits_add(&data->waits, &session->wait, missing, num_missing);
    free(missing);
    return done;
}

/* Waits for the first key that is missing, and for that one alone: of n clients that await n keys
 * each looks at every key once, however they come. */
static bool answer_await(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    if (session->answered > 0)
        return answer_multi_get(data, session, reader);
    if (session->wait.missing > 0)
        return false;
    protocol_reader look = *reader;
    uint64_t left = protocol_get_u64(&look);
    if (session->await.there > 0 && session->await.deletions == data->deletions) {
        look.at = reader->at + session->await.there;
        left = session->await.left;
    }
    for (; left > 0; left--) {
        size_t there = (size_t)(look.at - reader->at);
        muster_blob key = protocol_get_bytes(&look);
        if (key_map_find(&data->values.keys, key) != NULL)
            continue;
        session->await.waits = true;
        session->await.there = there;
        session->await.left = left;
        session->await.deletions = data->deletions;
        return waits_add(&data->waits, &session->wait, &key, 1);
    }
    memset(&session->await, 0, sizeof(session->await));
    protocol_put_u8(&session->out, PROTOCOL_STOP_WAITING);
    return answer_multi_get(data, session, reader);
}

static bool answer_cancel_wait(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)reader;
    waits_drop(&data->waits, &session->wait);
    protocol_put_u8(&session->out, PROTOCOL_CANCELED);
    return true;
}

/* The key counts who has come, and stays. Who cancels his wait has come all the same. */
static bool answer_barrier(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    int64_t count;
    muster_blob key = protocol_get_bytes(reader);
    int64_t world_size = (int64_t)protocol_get_u64(reader);
    if (session->wait.missing > 0 || !add(data, key, 1, &count))
        return false;
    if (count < world_size)
        return waits_add(&data->waits, &session->wait, &key, 1);
    protocol_put_u8(&session->out, PROTOCOL_STOP_WAITING);
    waits_key_set(&data->waits, key, tcp_change_wake, data);
    return true;
}

static bool answer_watch_key(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    if (session->watches.count >= PROTOCOL_MAX_KEYS ||
        !watches_add(&data->watches, &session->watches, protocol_get_bytes(reader)))
        return false;
    protocol_put_u8(&session->out, PROTOCOL_WATCHING);
    return true;
}

/* ---- Queues -------------------------------------------------------------------------------- */

static bool answer_queue_push(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    (void)session;
    muster_blob name = protocol_get_bytes(reader);
    if (!queue_map_push(&data->queues, name, protocol_get_bytes(reader)))
        return false;
    waits_key_pushed(&data->waits, name, tcp_change_wake, data);
    return true;
}

static bool answer_queue_pop(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    muster_blob name = protocol_get_bytes(reader);
    size_t length = queue_map_length(&data->queues, name);
    protocol_put_u64(&session->out, length);
    if (length > 0) {
        protocol_put_bytes(&session->out, queue_map_first(&data->queues, name));
        queue_map_pop(&data->queues, name);
    }
    return true;
}

static bool answer_queue_len(tcp_store_data *data, tcp_session *session, protocol_reader *reader)
{
    protocol_put_u64(&session->out, queue_map_length(&data->queues, protocol_get_bytes(reader)));
    return true;
}

tcp_answer *const tcp_answers[PROTOCOL_NUM_QUERIES] = {
    [PROTOCOL_VALIDATE] = answer_validate,
    [PROTOCOL_SET] = answer_set,
    [PROTOCOL_COMPARE_SET] = answer_compare_set,
    [PROTOCOL_GET] = answer_get,
    [PROTOCOL_ADD] = answer_add,
    [PROTOCOL_CHECK] = answer_check,
    [PROTOCOL_WAIT] = answer_wait,
    [PROTOCOL_GETNUMKEYS] = answer_num_keys,
    [PROTOCOL_WATCH_KEY] = answer_watch_key,
    [PROTOCOL_DELETE] = answer_delete,
    [PROTOCOL_APPEND] = answer_append,
    [PROTOCOL_MULTI_GET] = answer_multi_get,
    [PROTOCOL_MULTI_SET] = answer_multi_set,
    [PROTOCOL_CANCEL_WAIT] = answer_cancel_wait,
    [PROTOCOL_PING] = answer_ping,
    [PROTOCOL_QUEUE_PUSH] = answer_queue_push,
    [PROTOCOL_QUEUE_POP] = answer_queue_pop,
    [PROTOCOL_QUEUE_LEN] = answer_queue_len,
    [PROTOCOL_LIST_KEYS] = answer_list_keys,
    [PROTOCOL_BARRIER] = answer_barrier,
    [PROTOCOL_AWAIT] = answer_await,
};
