/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of the tcp store, the server's answers to them, and the table of who waits; no sockets.
 */
#include <stdlib.h>

#include "tap.h"
#include "tcp_session.h"

#define BYTES(text) text, sizeof(text) - 1

static bool buffer_is(const buffer *bytes, const char *expected, size_t size)
{
    return bytes->size == size && memcmp(bytes->data, expected, size) == 0;
}

static void writing(void)
{
    buffer message = {0};
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_VALIDATE);
    protocol_put_u32(&message, PROTOCOL_MAGIC);
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_PING);
    protocol_put_u32(&message, 0x11223344);
    ok(buffer_is(&message, BYTES("\0\xce\xf7\x85\x3c\x0d\x44\x33\x22\x11")), "the handshake");
    buffer_free(&message);

    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_ADD);
    protocol_put_bytes(&message, muster_str("init/"));
    protocol_put_u64(&message, 1);
    ok(buffer_is(&message, BYTES("\x04\x05\0\0\0\0\0\0\0init/\x01\0\0\0\0\0\0\0")), "ADD init/ 1");
    buffer_free(&message);

    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_SET);
    protocol_put_key(&message, muster_str("k"));
    protocol_put_bytes(&message, muster_str("v"));
    ok(buffer_is(&message, BYTES("\x01\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v")), "SET /k v");
    buffer_free(&message);

    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_WAIT);
    protocol_put_u64(&message, 2);
    protocol_put_key(&message, muster_str("a"));
    protocol_put_key(&message, muster_str("b"));
    ok(buffer_is(&message, BYTES("\x06\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/a\x02\0\0\0\0\0\0\0/b")),
       "WAIT [/a,/b]");
    buffer_free(&message);
    is_str(protocol_query_name(PROTOCOL_CANCEL_WAIT), "CANCEL_WAIT", "a query has a name");
    is_int(protocol_query_of(PROTOCOL_2_2, 8), PROTOCOL_DELETE, "and is found by its number");
    is_int(protocol_query_of(PROTOCOL_2_2, 19), PROTOCOL_NUM_QUERIES,
           "a number that is none is not");
}

/* A query of every kind, whole. */
static const struct {
    const char *name;
    const char *bytes;
    size_t size;
} whole[] = {
    {"VALIDATE", BYTES("\0\xce\xf7\x85\x3c")},
    {"SET", BYTES("\x01\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v")},
    {"SET of nothing", BYTES("\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"COMPARE_SET", BYTES("\x02\x02\0\0\0\0\0\0\0/c\x01\0\0\0\0\0\0\0a\x01\0\0\0\0\0\0\0b")},
    {"GET", BYTES("\x03\x02\0\0\0\0\0\0\0/k")},
    {"ADD", BYTES("\x04\x02\0\0\0\0\0\0\0/n\x01\0\0\0\0\0\0\0")},
    {"CHECK", BYTES("\x05\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/a\x02\0\0\0\0\0\0\0/b")},
    {"CHECK of no keys", BYTES("\x05\0\0\0\0\0\0\0\0")},
    {"WAIT", BYTES("\x06\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k")},
    {"GETNUMKEYS", BYTES("\x07")},
    {"DELETE", BYTES("\x08\x02\0\0\0\0\0\0\0/k")},
    {"APPEND", BYTES("\x09\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v")},
    {"MULTI_GET", BYTES("\x0a\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k")},
    {"MULTI_SET", BYTES("\x0b\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v"
                        "\x02\0\0\0\0\0\0\0/m\0\0\0\0\0\0\0\0")},
    {"CANCEL_WAIT", BYTES("\x0c")},
    {"PING", BYTES("\x0d\x01\x02\x03\x04")},
};
enum { NUM_WHOLE = sizeof(whole) / sizeof(whole[0]) };

static void scanning(void)
{
    for (size_t i = 0; i < NUM_WHOLE; i++) {
        protocol_scan scan = {0}, once = {0};
        bool right = true;
        for (size_t size = 0; size < whole[i].size; size++)
            right = right &&
                    protocol_scan_query(&scan, PROTOCOL_2_2, (const unsigned char *)whole[i].bytes,
                                        size) == PROTOCOL_MORE;
        right =
            right && protocol_scan_query(&scan, PROTOCOL_2_2, (const unsigned char *)whole[i].bytes,
                                         whole[i].size) == PROTOCOL_WHOLE;
        right =
            right && protocol_scan_query(&once, PROTOCOL_2_2, (const unsigned char *)whole[i].bytes,
                                         whole[i].size) == PROTOCOL_WHOLE;
        ok(right && scan.scanned == whole[i].size && once.scanned == whole[i].size,
           "%s is whole with its last byte and not before", whole[i].name);
    }
    static const struct {
        const char *what;
        const char *bytes;
        size_t size;
    } bad[] = {
        {"no such query", BYTES("\x13")},
        {"text", BYTES("GET / HTTP/1.0\r\n")},
        {"a key of 8,193 bytes", BYTES("\x03\x01\x20\0\0\0\0\0\0")},
        {"a value of 2^31 bytes", BYTES("\x01\x01\0\0\0\0\0\0\0k\0\0\0\x80\0\0\0\0")},
        {"a key of 2^63 bytes", BYTES("\x03\0\0\0\0\0\0\0\x80")},
        {"a key of 2^64-1 bytes", BYTES("\x03\xff\xff\xff\xff\xff\xff\xff\xff")},
        {"a list of 131,073 keys", BYTES("\x05\x01\0\x02\0\0\0\0\0")},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        protocol_scan scan = {0};
        is_int(protocol_scan_query(&scan, PROTOCOL_2_2, (const unsigned char *)bad[i].bytes,
                                   bad[i].size),
               PROTOCOL_BAD, "%s is bad as soon as it is seen", bad[i].what);
    }
}

/* ---- A session ----------------------------------------------------------------------------- */

static tcp_session *woken_last;

static void remember_woken(tcp_session *session)
{
    woken_last = session;
}

static bool feed(tcp_store_data *data, tcp_session *session, const char *bytes, size_t size)
{
    buffer_append(&session->in, bytes, size);
    return tcp_session_answer(data, session);
}

static bool greeted(tcp_store_data *data, tcp_session *session)
{
    return feed(data, session, BYTES("\0\xce\xf7\x85\x3c"));
}

/* Feeds a query, and looks at the answer. */
static bool answers(tcp_store_data *data, tcp_session *session, const char *bytes, size_t size,
                    const char *expected, size_t expected_size)
{
    bool right = feed(data, session, bytes, size) && session->in.size == 0 &&
                 session->out.size == expected_size &&
                 (expected_size == 0 || memcmp(session->out.data, expected, expected_size) == 0);
    buffer_consume(&session->out, session->out.size);
    return right;
}

static void answering(void)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session session = {0};
    ok(greeted(&data, &session) && session.out.size == 0, "VALIDATE has no answer");
#define GIVES(query, answer, what)                                                                 \
    ok(answers(&data, &session, BYTES(query), BYTES(answer)), "%s", what)
    GIVES("\x0d\x44\x33\x22\x11", "\x44\x33\x22\x11", "PING is echoed");
    GIVES("\x03\x02\0\0\0\0\0\0\0/k", "\0\0\0\0\0\0\0\0", "GET of a missing key is empty");
    GIVES("\x01\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v", "", "SET has no answer");
    GIVES("\x03\x02\0\0\0\0\0\0\0/k", "\x01\0\0\0\0\0\0\0v", "GET");
    GIVES("\x04\x02\0\0\0\0\0\0\0/n\x05\0\0\0\0\0\0\0", "\x05\0\0\0\0\0\0\0", "ADD");
    GIVES("\x04\x02\0\0\0\0\0\0\0/n\xf9\xff\xff\xff\xff\xff\xff\xff",
          "\xfe\xff\xff\xff\xff\xff\xff\xff", "ADD of a negative number");
    GIVES("\x03\x02\0\0\0\0\0\0\0/n", "\x02\0\0\0\0\0\0\0-2", "a number is text");
    GIVES("\x05\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k", "\0", "CHECK of what is there");
    GIVES("\x05\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/x", "\x01", "CHECK of what is not");
    GIVES("\x05\0\0\0\0\0\0\0\0", "\0", "CHECK of no keys");
    GIVES("\x06\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k", "\0", "WAIT for what is there");
    GIVES("\x06\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/x", "", "WAIT for what is not");
    GIVES("\x0c", "\x01", "CANCEL_WAIT");
    GIVES("\x0c", "\x01", "CANCEL_WAIT with nothing to cancel");
    GIVES("\x02\x02\0\0\0\0\0\0\0/c\x01\0\0\0\0\0\0\0a\x01\0\0\0\0\0\0\0b", "\x01\0\0\0\0\0\0\0a",
          "COMPARE_SET of a missing key tells what was expected");
    GIVES("\x07", "\x02\0\0\0\0\0\0\0", "GETNUMKEYS");
    GIVES("\x09\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0w", "", "APPEND has no answer");
    GIVES("\x0b\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/m\0\0\0\0\0\0\0\0", "",
          "MULTI_SET has no answer");
    GIVES("\x0a\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k\x02\0\0\0\0\0\0\0/m",
          "\x02\0\0\0\0\0\0\0vw\0\0\0\0\0\0\0\0", "MULTI_GET");
    GIVES("\x08\x02\0\0\0\0\0\0\0/k", "\x01\0\0\0\0\0\0\0", "DELETE");
    GIVES("\x08\x02\0\0\0\0\0\0\0/k", "\0\0\0\0\0\0\0\0", "DELETE of what is not there");
    GIVES("\x07\x07\x07\x07",
          "\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0",
          "queries one behind the other");
#undef GIVES
    tcp_session_end(&data, &session);
    tcp_store_data_free(&data);
}

/* A client whose second query is refused, after what came first. */
static void refuses(const char *first, size_t first_size, const char *second, size_t second_size,
                    const char *what)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session session = {0};
    ok(feed(&data, &session, first, first_size) && !feed(&data, &session, second, second_size),
       "%s is cut off", what);
    tcp_session_end(&data, &session);
    tcp_store_data_free(&data);
}

#define HELLO BYTES("\0\xce\xf7\x85\x3c")

static void refusing(void)
{
    refuses(BYTES(""), BYTES("GET / HTTP/1.0\r\n\r\n"), "who asks for a web page");
    refuses(BYTES(""), BYTES("\x0d\x01\x02\x03\x04"), "who pings before he greets");
    refuses(BYTES("\0\xce"), BYTES("\xf7\x85\x3d\0\0\0\0"), "who greets with another number");
    refuses(HELLO, HELLO, "who greets twice");
    refuses(HELLO, BYTES("\x13"), "who asks for what there is not");
    refuses(HELLO, BYTES("\x01\xff\xff\xff\xff\xff\xff\xff\xff"), "who sends an absurd length");
    refuses(BYTES("\0\xce\xf7\x85\x3c\x01\x01\0\0\0\0\0\0\0k\x01\0\0\0\0\0\0\0v"),
            BYTES("\x04\x01\0\0\0\0\0\0\0k\x01\0\0\0\0\0\0\0"), "who adds to a word");
    refuses(BYTES("\0\xce\xf7\x85\x3c\x06\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0x"),
            BYTES("\x06\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0x"), "who waits twice");
}

static void waiting(void)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session one = {0}, two = {0}, setter = {0};
    greeted(&data, &one);
    greeted(&data, &two);
    greeted(&data, &setter);
    feed(&data, &one,
         BYTES("\x06\x03\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0a\x01\0\0\0\0\0\0\0b"
               "\x01\0\0\0\0\0\0\0a"));
    feed(&data, &two, BYTES("\x06\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0a\x01\0\0\0\0\0\0\0c"));
    feed(&data, &setter, BYTES("\x01\x01\0\0\0\0\0\0\0a\0\0\0\0\0\0\0\0"));
    ok(one.out.size == 0 && two.out.size == 0, "one of two keys wakes nobody");
    feed(&data, &setter, BYTES("\x02\x01\0\0\0\0\0\0\0b\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0v"));
    ok(buffer_is(&one.out, BYTES("\0")) && woken_last == &one,
       "COMPARE_SET of the second wakes who waits for both, one of them asked for twice");
    is_int((long long)data.waits.lists.count, 1, "only the key that is still waited for is kept");
    tcp_session_end(&data, &two);
    is_int((long long)data.waits.lists.count, 0, "a client that goes waits no longer");
    feed(&data, &setter, BYTES("\x01\x01\0\0\0\0\0\0\0c\0\0\0\0\0\0\0\0"));
    ok(woken_last == &one, "and is not woken");
    tcp_session_end(&data, &one);
    tcp_session_end(&data, &setter);
    tcp_store_data_free(&data);
}

/* 20 values of 1 MiB are not all put into the answer at once. */
static void large_answers(void)
{
    enum { SIZE = 1 << 20, TIMES = 20 };
    tcp_store_data data = {.woken = remember_woken};
    tcp_session session = {0};
    buffer query = {0};
    char *value = calloc(1, SIZE);
    size_t most = 0, total = 0;
    value_map_set(&data.values, muster_str("big"), (muster_blob){value, SIZE});
    protocol_put_query(&query, PROTOCOL_2_2, PROTOCOL_MULTI_GET);
    protocol_put_u64(&query, TIMES);
    for (int i = 0; i < TIMES; i++)
        protocol_put_bytes(&query, muster_str("big"));
    protocol_put_query(&query, PROTOCOL_2_2, PROTOCOL_GETNUMKEYS);
    greeted(&data, &session);
    bool welcome = feed(&data, &session, (const char *)query.data, query.size);
    while (welcome && session.out.size > 0) {
        most = session.out.size > most ? session.out.size : most;
        total += session.out.size;
        buffer_consume(&session.out, session.out.size);
        welcome = tcp_session_answer(&data, &session);
    }
    ok(welcome && most <= 2 * SIZE + 64, "at most %zu bytes of answers wait", most);
    is_int((long long)total, (long long)TIMES * (SIZE + 8) + 8, "and all come");
    ok(session.in.size == 0, "with what was asked behind it");
    buffer_free(&query);
    free(value);
    tcp_session_end(&data, &session);
    tcp_store_data_free(&data);
}

/* user case 58: every message with one byte changed, and random bytes. Under the sanitisers this
 * finds what a fuzzer would. */
static void noise(void)
{
    unsigned seed = 58;
    size_t most = 0;
    for (int round = 0; round < 20000; round++) {
        tcp_store_data data = {.woken = remember_woken};
        tcp_session session = {0};
        bool welcome = greeted(&data, &session);
        for (int i = 0; welcome && i < 4; i++) {
            char bytes[128];
            seed = seed * 1103515245u + 12345u;
            size_t which = (seed >> 8) % NUM_WHOLE, size = whole[which].size;
            memcpy(bytes, whole[which].bytes, size);
            bytes[(seed >> 16) % size] = (char)(seed >> 24);
            welcome = feed(&data, &session, bytes, size);
            most = session.in.capacity > most ? session.in.capacity : most;
        }
        tcp_session_end(&data, &session);
        tcp_store_data_free(&data);
    }
    ok(most <= 4096, "noise (seed 58) takes no memory: %zu bytes", most);
}

int main(void)
{
    plan(7 + NUM_WHOLE + 7 + 23 + 8 + 5 + 3 + 1);
    writing();
    scanning();
    answering();
    refusing();
    waiting();
    large_answers();
    noise();
    return done();
}
