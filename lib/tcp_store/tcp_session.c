/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the tcp server finds the queries in what a client sends.
 */
#include "tcp_store/tcp_session.h"

#include <string.h>

#include "tcp_store/tcp_answers.h"

/* ---- Which family a client is of ----------------------------------------------------------- */

/* Ends in PROTOCOL_WHOLE when the query at data is one of session->family. */
static protocol_found settle(tcp_session *session, protocol_family family)
{
    session->family = family;
    session->settled = true;
    return PROTOCOL_WHOLE;
}

/* The first bytes of a client that begins with a zero: a greeting, or a SET of an older one, whose
 * key can't be as long as a greeting would make it. */
static protocol_found find_greeting(tcp_session *session, const unsigned char *data, size_t size)
{
    static const unsigned char greeting[] = {0, PROTOCOL_MAGIC & 0xff, PROTOCOL_MAGIC >> 8 & 0xff,
                                             PROTOCOL_MAGIC >> 16 & 0xff, PROTOCOL_MAGIC >> 24};
    bool is_part = memcmp(data, greeting, size < sizeof(greeting) ? size : sizeof(greeting)) == 0;
    if (is_part && size >= sizeof(greeting))
        return settle(session, PROTOCOL_2_2);
    return is_part ? PROTOCOL_MORE : PROTOCOL_WHOLE;
}

/* A DELETE of 1.13 has the number of an APPEND of 2.1, which has a value behind its key. */
static protocol_found find_value(tcp_session *session, const unsigned char *data, size_t size)
{
    protocol_scan scan = {0};
    protocol_found found = protocol_scan_query(&scan, PROTOCOL_1_13, data, size);
    if (found != PROTOCOL_WHOLE)
        return found;
    if (size > scan.scanned)
        return settle(session, PROTOCOL_2_1);
    session->puzzling = true;
    return PROTOCOL_MORE;
}

/* PROTOCOL_WHOLE: the query at data may be read as one of session->family. */
static protocol_found find_family(tcp_session *session, const unsigned char *data, size_t size)
{
    session->puzzling = false;
    if (!session->known && data[0] == 0) {
        protocol_found found = find_greeting(session, data, size);
        if (found != PROTOCOL_WHOLE || session->settled)
            return found;
    }
    protocol_query in_1_13 = protocol_query_of(PROTOCOL_1_13, data[0]);
    protocol_query in_2_1 = protocol_query_of(PROTOCOL_2_1, data[0]);
    if (in_1_13 == in_2_1)
        return in_2_1 == PROTOCOL_NUM_QUERIES ? PROTOCOL_BAD : PROTOCOL_WHOLE;
    if (in_1_13 == PROTOCOL_NUM_QUERIES)
        return settle(session, PROTOCOL_2_1);
    /* A client of 1.13 watches over a connection of its own. */
    if (in_1_13 == PROTOCOL_WATCH_KEY)
        return settle(session, session->known ? PROTOCOL_2_1 : PROTOCOL_1_13);
    return find_value(session, data, size);
}

void tcp_session_settle(tcp_session *session)
{
    session->puzzling = false;
    settle(session, PROTOCOL_1_13);
}

/* ---- Queries ------------------------------------------------------------------------------- */

/* A client that awaits keys has nothing to say but that it does not do so any more. */
static protocol_found cancel_await(tcp_store_data *data, tcp_session *session,
                                   const unsigned char *bytes, size_t size)
{
    size_t at = session->scan.scanned;
    if (size == at)
        return PROTOCOL_MORE;
    if (protocol_query_of(session->family, bytes[at]) != PROTOCOL_CANCEL_WAIT)
        return PROTOCOL_BAD;
    waits_drop(&data->waits, &session->wait);
    memset(&session->await, 0, sizeof(session->await));
    protocol_put_u8(&session->out, PROTOCOL_CANCELED);
    session->scan.scanned++;
    return PROTOCOL_WHOLE;
}

/* Answers the query at data if it is whole. */
static protocol_found answer_one(tcp_store_data *data, tcp_session *session,
                                 const unsigned char *bytes, size_t size)
{
    protocol_found found = session->settled ? PROTOCOL_WHOLE : find_family(session, bytes, size);
    if (found == PROTOCOL_WHOLE)
        found = protocol_scan_query(&session->scan, session->family, bytes, size);
    if (found != PROTOCOL_WHOLE)
        return found;
    protocol_reader reader = {bytes + 1};
    protocol_query query = protocol_query_of(session->family, bytes[0]);
    if (session->await.waits)
        return cancel_await(data, session, bytes, size);
    if (!tcp_answers[query](data, session, &reader) || session->out.failed)
        return PROTOCOL_BAD;
    session->known = true;
    return session->await.waits ? cancel_await(data, session, bytes, size) : PROTOCOL_WHOLE;
}

bool tcp_session_answer(tcp_store_data *data, tcp_session *session)
{
    size_t done = 0;
    protocol_found found = PROTOCOL_WHOLE;
    while (session->out.size < SESSION_MAX_OUTPUT && done < session->in.size) {
        found = answer_one(data, session, session->in.data + done, session->in.size - done);
        if (found != PROTOCOL_WHOLE || session->answered > 0)
            break;
        done += session->scan.scanned;
        session->scan = (protocol_scan){0};
    }
    buffer_consume(&session->in, done);
    return found != PROTOCOL_BAD;
}

void tcp_session_end(tcp_store_data *data, tcp_session *session)
{
    waits_drop(&data->waits, &session->wait);
    watches_drop(&data->watches, &session->watches);
    buffer_free(&session->in);
    buffer_free(&session->out);
}

void tcp_store_data_free(tcp_store_data *data)
{
    waits_free(&data->waits);
    watches_free(&data->watches);
    queue_map_free(&data->queues);
    value_map_free(&data->values);
}
