/* SPDX-License-Identifier: BSD-3-Clause
 *
 * AWAIT, which torch has not: the server's answers, and get and multi_get over it.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "store_peers.h"
#include "tcp_store/store_tcp.h"
#include "tap.h"
#include "tcp_store/tcp_session.h"

#define BYTES(text) text, sizeof(text) - 1

/* ---- The server, without sockets ----------------------------------------------------------- */

enum { NUM_SESSIONS = 3 };

static tcp_store_data data;
static tcp_session sessions[NUM_SESSIONS];
static int num_woken;

/* The loop would serve it at the end of the round. */
static void note_woken(tcp_session *session)
{
    num_woken++;
    (void)session;
}

static bool says(int session, const void *bytes, size_t size)
{
    buffer_append(&sessions[session].in, bytes, size);
    return tcp_session_answer(&data, &sessions[session]);
}

static void open_sessions(void)
{
    num_woken = 0;
    data = (tcp_store_data){.woken = note_woken};
    for (int i = 0; i < NUM_SESSIONS; i++) {
        sessions[i] = (tcp_session){.known = false};
        says(i, BYTES("\0\xce\xf7\x85\x3c"));
    }
}

static void close_sessions(void)
{
    for (int i = 0; i < NUM_SESSIONS; i++)
        tcp_session_end(&data, &sessions[i]);
    tcp_store_data_free(&data);
}

static void put_await(buffer *message, const char *keys)
{
    protocol_put_query(message, PROTOCOL_2_2, PROTOCOL_AWAIT);
    protocol_put_u64(message, strlen(keys));
    for (; *keys != '\0'; keys++)
        protocol_put_bytes(message, (muster_blob){keys, 1});
}

/* A key for each letter. */
static bool awaits(int session, const char *keys)
{
    buffer message = {0};
    put_await(&message, keys);
    bool good = says(session, message.data, message.size);
    buffer_free(&message);
    return good;
}

/* Sets a key to itself, and serves who was woken. */
static void set(const char *key)
{
    buffer message = {0};
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_SET);
    protocol_put_bytes(&message, muster_str(key));
    protocol_put_bytes(&message, muster_str(key));
    says(NUM_SESSIONS - 1, message.data, message.size);
    buffer_free(&message);
    for (int i = 0; i < NUM_SESSIONS; i++)
        tcp_session_answer(&data, &sessions[i]);
}

static void delete_key(const char *key)
{
    buffer message = {0};
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_DELETE);
    protocol_put_bytes(&message, muster_str(key));
    says(NUM_SESSIONS - 1, message.data, message.size);
    buffer_free(&message);
}

/* What a session has been answered, which is taken off. */
static bool answered(int session, const char *bytes, size_t size)
{
    buffer *out = &sessions[session].out;
    bool same = out->size == size && (size == 0 || memcmp(out->data, bytes, size) == 0);
    buffer_consume(out, out->size);
    return same;
}

#define VALUE "\1\0\0\0\0\0\0\0"

static void answers(void)
{
    open_sessions();
    set("a");
    ok(awaits(0, "a") && answered(0, BYTES("\0" VALUE "a")), "a key that is there");
    ok(awaits(0, "") && answered(0, BYTES("\0")), "no keys at all");
    ok(awaits(0, "aca") && answered(0, "", 0), "one that is not");
    ok(awaits(1, "dc") && answered(1, "", 0), "and two for another client");
    set("c");
    ok(answered(0, BYTES("\0" VALUE "a" VALUE "c" VALUE "a")), "which comes: all values in order");
    ok(answered(1, "", 0), "one more is missing for the other");
    set("d");
    ok(answered(1, BYTES("\0" VALUE "d" VALUE "c")), "until it comes too");
    is_int(num_woken, 2, "nobody was woken for a key that it did not look at");
    set("d");
    ok(answered(1, "", 0), "and again means nothing");
    ok(says(0, BYTES("\x07")) && answered(0, BYTES("\3\0\0\0\0\0\0\0")), "the next query");
    close_sessions();
}

static void deletions(void)
{
    open_sessions();
    set("a");
    ok(awaits(0, "ab"), "one key is there");
    delete_key("a");
    answered(NUM_SESSIONS - 1, "", 0);
    set("b");
    ok(answered(0, "", 0), "it went before the other came");
    set("a");
    ok(answered(0, BYTES("\0" VALUE "a" VALUE "b")), "so it is waited for too");
    close_sessions();
}

static void calling_off(void)
{
    buffer both = {0};
    open_sessions();
    ok(awaits(0, "a") && says(0, BYTES("\x0c")) && answered(0, BYTES("\1")), "a wait called off");
    set("a");
    ok(answered(0, "", 0), "gets no answer");
    ok(says(0, BYTES("\x07")) && answered(0, BYTES("\1\0\0\0\0\0\0\0")), "the next query does");
    ok(awaits(0, "a") && says(0, BYTES("\x0c")) && answered(0, BYTES("\0" VALUE "a\1")),
       "too late: the values, and that it is called off");
    put_await(&both, "b");
    buffer_append(&both, "\x0c\x07", 2);
    ok(says(0, both.data, both.size) && answered(0, BYTES("\1\1\0\0\0\0\0\0\0")),
       "called off in the same breath");
    for (size_t i = 0; i + 1 < both.size; i++)
        says(0, both.data + i, 1);
    ok(answered(0, BYTES("\1")), "and byte by byte");
    ok(awaits(0, "b") && !says(0, BYTES("\x07")), "anything else while it waits is no client's");
    ok(!awaits(1, "b") || !awaits(1, "a"), "another one as well");
    buffer_free(&both);
    close_sessions();
}

static void a_client_goes(void)
{
    open_sessions();
    awaits(0, "ab");
    tcp_session_end(&data, &sessions[0]);
    sessions[0] = (tcp_session){.known = false};
    set("a");
    ok(num_woken == 0, "a client that has gone is not woken");
    close_sessions();
}

/* Answers over the limit come in parts, as the client reads them. */
static void many_bytes(void)
{
    enum { SIZE = 300 << 10, COUNT = 9 };
    char *bytes = calloc(1, SIZE);
    size_t got = 0;
    open_sessions();
    value_map_set(&data.values, muster_str("a"), (muster_blob){bytes, SIZE});
    awaits(0, "aaaaaaaab");
    set("b");
    for (int part = 0; part < COUNT && sessions[0].out.size > 0; part++) {
        ok(sessions[0].out.size < SESSION_MAX_OUTPUT + SIZE + 16, "part %d", part);
        got += sessions[0].out.size;
        buffer_consume(&sessions[0].out, sessions[0].out.size);
        tcp_session_answer(&data, &sessions[0]);
    }
    is_int((long long)got, 1 + 8 * (8 + SIZE) + 8 + 1, "all of it");
    ok(sessions[0].in.size == 0, "and the query is done with");
    close_sessions();
    free(bytes);
}

/* n clients that await n keys: the work grows with n for each, whatever the order. */
static void growth(void)
{
    enum { MANY = 400 };
    static tcp_session crowd[MANY];
    buffer message = {0};
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_AWAIT);
    protocol_put_u64(&message, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        protocol_put_bytes(&message, (muster_blob){&i, sizeof(i)});
    open_sessions();
    for (int i = 0; i < MANY; i++) {
        buffer_append(&crowd[i].in, BYTES("\0\xce\xf7\x85\x3c"));
        buffer_append(&crowd[i].in, message.data, message.size);
        tcp_session_answer(&data, &crowd[i]);
    }
    /* The worst order wakes everybody for each key; this one is as good as any other. */
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t key = i * 149 % MANY;
        tcp_session *last = &sessions[NUM_SESSIONS - 1];
        protocol_put_query(&last->in, PROTOCOL_2_2, PROTOCOL_SET);
        protocol_put_bytes(&last->in, (muster_blob){&key, sizeof(key)});
        protocol_put_bytes(&last->in, (muster_blob){&key, sizeof(key)});
        tcp_session_answer(&data, last);
        for (int k = 0; k < MANY; k++)
            tcp_session_answer(&data, &crowd[k]);
    }
    int right = 0;
    for (int i = 0; i < MANY; i++) {
        right += crowd[i].out.size == 1 + MANY * (8 + sizeof(uint32_t));
        tcp_session_end(&data, &crowd[i]);
    }
    is_int(right, MANY, "each of %d clients has the values of all", MANY);
    ok(num_woken <= MANY * 20, "woken %.1f times on average", (double)num_woken / MANY);
    buffer_free(&message);
    close_sessions();
}

/* ---- Over a connection --------------------------------------------------------------------- */

static void *set_later(void *store)
{
    usleep(50 * 1000);
    muster_store_set(store, muster_str("late"), muster_str("value"));
    return NULL;
}

static void clients(void)
{
    muster_store *host = peer_host(), *store = peer_client(muster_store_port(host));
    tcp_client *client = &((tcp_store *)store)->client;
    const muster_blob keys[] = {muster_str("x"), muster_str("never")};
    pthread_t thread;
    void *value = NULL;
    muster_blob *values = NULL;
    size_t size = 0;
    int64_t num_keys = 0;
    ok(client->knows_await, "muster's server says what it is");
    muster_store_num_keys(store, &num_keys);
    is_int(num_keys, 1, "by a key that is none");
    pthread_create(&thread, NULL, set_later, host);
    is_int(muster_store_get(store, muster_str("late"), 10000, &value, &size), MUSTER_OK, "a get");
    ok(size == 5 && memcmp(value, "value", 5) == 0, "waits for its key");
    muster_free(value);
    pthread_join(thread, NULL);
    muster_store_set(store, keys[0], muster_str(""));
    is_int(muster_store_multi_get(store, keys, 2, 30, &values), MUSTER_ERR_TIMEOUT, "one missing");
    has_str(muster_last_error(), "'never'", "is named");
    is_int(tcp_client_count(client), 1, "the connection is still in use");
    is_int(muster_store_multi_get(store, keys, 1, 30, &values), MUSTER_OK, "and in step");
    is_int((long long)values[0].size, 0, "an empty value");
    muster_free(values);
    is_int(muster_store_get(store, keys[1], 0, &value, &size), MUSTER_ERR_TIMEOUT, "one look");
    client->knows_await = false;
    is_int(muster_store_get(store, keys[0], 30, &value, &size), MUSTER_OK, "as torch's is asked");
    muster_free(value);
    muster_store_free(store);
    muster_store_free(host);
}

int main(void)
{
    plan(40);
    answers();
    deletions();
    calling_off();
    a_client_goes();
    many_bytes();
    growth();
    clients();
    return done();
}
