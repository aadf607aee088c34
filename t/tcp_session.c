/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The server's answers to the bytes of clients of every family, and who wakes whom; no sockets.
 */
#include <stdlib.h>

#include "tap.h"
#include "tcp_store/tcp_session.h"

#define BYTES(text) text, sizeof(text) - 1

static bool buffer_is(const buffer *bytes, const char *expected, size_t size)
{
    return bytes->size == size && memcmp(bytes->data, expected, size) == 0;
}

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
    GIVES("\x10\x02\0\0\0\0\0\0\0/q", "\0\0\0\0\0\0\0\0", "QUEUE_LEN of no queue");
    GIVES("\x0f\x02\0\0\0\0\0\0\0/q", "\0\0\0\0\0\0\0\0", "QUEUE_POP of no queue");
    GIVES("\x0e\x02\0\0\0\0\0\0\0/q\x01\0\0\0\0\0\0\0v", "", "QUEUE_PUSH has no answer");
    GIVES("\x0e\x02\0\0\0\0\0\0\0/q\0\0\0\0\0\0\0\0", "", "nor has a second one, of nothing");
    GIVES("\x10\x02\0\0\0\0\0\0\0/q", "\x02\0\0\0\0\0\0\0", "QUEUE_LEN");
    GIVES("\x05\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/q", "\0", "CHECK of a queue");
    GIVES("\x06\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/q", "\0", "WAIT for a queue");
    GIVES("\x0f\x02\0\0\0\0\0\0\0/q", "\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0v", "QUEUE_POP");
    GIVES("\x0f\x02\0\0\0\0\0\0\0/q", "\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "and of nothing");
    GIVES("\x0f\x02\0\0\0\0\0\0\0/q", "\0\0\0\0\0\0\0\0", "and of what is empty now");
    GIVES("\x08\x02\0\0\0\0\0\0\0/n", "\x01\0\0\0\0\0\0\0", "DELETE of one more");
    GIVES("\x11", "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/m", "LIST_KEYS, without queues");
    GIVES("\x12\x02\0\0\0\0\0\0\0/b\x01\0\0\0\0\0\0\0", "\0", "BARRIER of one");
    GIVES("\x03\x02\0\0\0\0\0\0\0/b",
          "\x01\0\0\0\0\0\0\0"
          "1",
          "which counts at its key");
    GIVES("\x12\x02\0\0\0\0\0\0\0/b\x09\0\0\0\0\0\0\0", "", "BARRIER of nine waits");
    GIVES("\x0c", "\x01", "until CANCEL_WAIT");
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

/* ---- Which family a client is of ----------------------------------------------------------- */

#define KEY "\x02\0\0\0\0\0\0\0/k"
#define ONE "\x01\0\0\0\0\0\0\0"
#define OLD_SET "\0" KEY ONE "v"

static void settles(const char *first, size_t first_size, const char *second, size_t second_size,
                    protocol_family family, bool settled, const char *what)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session session = {0};
    bool welcome =
        feed(&data, &session, first, first_size) && feed(&data, &session, second, second_size);
    ok(welcome && session.in.size == 0 && session.known && session.family == family &&
           session.settled == settled,
       "%s", what);
    tcp_session_end(&data, &session);
    tcp_store_data_free(&data);
}

static void families(void)
{
    settles(BYTES("\0\xce\xf7"), BYTES("\x85\x3c\x07"), PROTOCOL_2_2, true,
            "a greeting in pieces is that of 2.2");
    settles(BYTES(OLD_SET), BYTES("\x02" KEY), PROTOCOL_1_13, false,
            "what 1.13 and 2.1 share settles nothing");
    settles(BYTES("\0"), BYTES(KEY ONE "v"), PROTOCOL_1_13, false, "nor does a SET in pieces");
    settles(BYTES("\x06"), BYTES("\x0b"), PROTOCOL_2_1, true, "CANCEL_WAIT is that of 2.1");
    settles(BYTES(OLD_SET), BYTES("\x07" KEY), PROTOCOL_2_1, true,
            "7 is a DELETE of 2.1 from who has said something before");
    settles(BYTES("\x07"), BYTES(KEY), PROTOCOL_1_13, true, "and else a WATCH_KEY of 1.13");
    settles(BYTES(""), BYTES("\x08" KEY ONE "v"), PROTOCOL_2_1, true,
            "8 with a value is an APPEND of 2.1");
    settles(BYTES("\x08" KEY ONE), BYTES("v\x06"), PROTOCOL_2_1, true, "in pieces too");
    settles(BYTES("\x09" ONE KEY), BYTES("\x0a" ONE KEY ONE "v"), PROTOCOL_2_1, true,
            "MULTI_GET and MULTI_SET are those of 2.1");
}

/* A DELETE of 1.13 is the start of an APPEND of 2.1. */
static void puzzles(void)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session old = {0}, newer = {0};
    feed(&data, &old, BYTES(OLD_SET));
    ok(feed(&data, &old, BYTES("\x08\x02\0\0\0")) && !old.puzzling,
       "8 and half a key is no puzzle");
    ok(feed(&data, &old, BYTES("\0\0\0\0/k")) && old.puzzling && old.out.size == 0,
       "8 and a whole key is one");
    tcp_session_settle(&old);
    ok(tcp_session_answer(&data, &old) && buffer_is(&old.out, BYTES(ONE)) && !old.puzzling,
       "which ends as a DELETE of 1.13 when nothing comes");
    buffer_consume(&old.out, old.out.size);
    ok(feed(&data, &old, BYTES("\x08" KEY)) && buffer_is(&old.out, BYTES("\0\0\0\0\0\0\0\0")),
       "the next one is none");
    ok(feed(&data, &newer, BYTES("\x08" KEY)) && newer.puzzling, "another puzzle");
    ok(feed(&data, &newer, BYTES("\x01")) && !newer.puzzling && newer.family == PROTOCOL_2_1 &&
           feed(&data, &newer, BYTES("\0\0\0\0\0\0\0w")),
       "ends as an APPEND with the first byte more");
    muster_blob value;
    ok(value_map_get(&data.values, muster_str("/k"), &value) && value.size == 1, "which is done");
    tcp_session_end(&data, &old);
    tcp_session_end(&data, &newer);
    tcp_store_data_free(&data);
}

/* Clients of three families on one set of keys, one of which watches. */
static void watching(void)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session watches = {0}, old = {0}, newer = {0};
    greeted(&data, &newer);
#define SAYS(who, bytes) feed(&data, &who, BYTES(bytes))
#define HEARS(answer, what)                                                                        \
    ok(buffer_is(&watches.out, BYTES(answer)) && woken_last == &watches, "%s", what);              \
    buffer_consume(&watches.out, watches.out.size)
    woken_last = &watches;
    SAYS(watches, "\x07" KEY);
    HEARS("\x03", "WATCH_KEY is confirmed");
    woken_last = NULL;
    SAYS(old, OLD_SET);
    HEARS("\x01" KEY "\0\0\0\0\0\0\0\0" ONE "v", "a key that comes is told");
    SAYS(newer, "\x01" KEY ONE "w");
    HEARS("\0" KEY ONE "v" ONE "w", "one that changes, with both values");
    SAYS(newer, "\x09" KEY ONE "x");
    HEARS("\0" KEY ONE "w\x02\0\0\0\0\0\0\0wx", "one that is appended to");
    SAYS(newer, "\x02" KEY "\x02\0\0\0\0\0\0\0wx" ONE "7");
    HEARS("\0" KEY "\x02\0\0\0\0\0\0\0wx" ONE "7", "one that is compared and set");
    SAYS(newer, "\x02" KEY ONE "6" ONE "8");
    ok(watches.out.size == 0, "but not one that is compared in vain");
    SAYS(old, "\x03" KEY ONE);
    HEARS("\0" KEY ONE "7" ONE "8", "one that is added to");
    SAYS(newer, "\x08" KEY);
    HEARS("\x02" KEY ONE "8\0\0\0\0\0\0\0\0", "one that is deleted");
    SAYS(newer, "\x08" KEY);
    SAYS(newer, "\x01\x02\0\0\0\0\0\0\0/m" ONE "w");
    ok(watches.out.size == 0, "and nothing else");
    tcp_session_end(&data, &watches);
    SAYS(old, OLD_SET);
    is_int((long long)data.watches.watches.count, 0, "who has gone watches no longer");
    tcp_session_end(&data, &old);
    tcp_session_end(&data, &newer);
    tcp_store_data_free(&data);
}

/* Several watch one key, and one of them never reads. */
static void watching_deaf(void)
{
    enum { SIZE = 8 << 20 };
    tcp_store_data data = {.woken = remember_woken};
    tcp_session deaf = {0}, other = {0}, setter = {0};
    buffer message = {0};
    char *value = calloc(1, SIZE);
    feed(&data, &deaf, BYTES("\x07" KEY));
    feed(&data, &other, BYTES("\x07" KEY "\x07" KEY));
    greeted(&data, &setter);
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_SET);
    protocol_put_key(&message, muster_str("k"));
    protocol_put_bytes(&message, (muster_blob){value, SIZE});
    for (int i = 0; i < 6; i++) {
        feed(&data, &setter, (const char *)message.data, message.size);
        buffer_consume(&other.out, other.out.size);
    }
    ok(deaf.out.failed && !other.out.failed, "who watches and never reads is cut off");
    tcp_session_end(&data, &deaf);
    feed(&data, &setter, BYTES("\x08" KEY));
    is_int((long long)other.out.size, 2 * (1 + 10 + 8 + SIZE + 8), "who watches twice hears twice");
    buffer_free(&message);
    free(value);
    tcp_session_end(&data, &other);
    tcp_session_end(&data, &setter);
    tcp_store_data_free(&data);
}

/* One value for a queue wakes one, the first that waits; a barrier wakes all. */
static void queues_and_barriers(void)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session clients[3];
    memset(clients, 0, sizeof(clients));
    for (int i = 0; i < 3; i++)
        greeted(&data, &clients[i]);
    feed(&data, &clients[0], BYTES("\x06" ONE KEY));
    feed(&data, &clients[1], BYTES("\x06" ONE KEY));
    feed(&data, &clients[2], BYTES("\x0e" KEY ONE "v"));
    ok(buffer_is(&clients[0].out, BYTES("\0")) && clients[1].out.size == 0,
       "a value in a queue wakes the first that waits");
    feed(&data, &clients[2], BYTES("\x0e" KEY ONE "w"));
    ok(buffer_is(&clients[1].out, BYTES("\0")), "the next one the second");
    feed(&data, &clients[0], BYTES("\x12" KEY "\x03\0\0\0\0\0\0\0"));
    feed(&data, &clients[1], BYTES("\x12" KEY "\x03\0\0\0\0\0\0\0"));
    ok(clients[0].out.size == 1 && clients[1].out.size == 1, "two of three wait at a barrier");
    feed(&data, &clients[2], BYTES("\x12" KEY "\x03\0\0\0\0\0\0\0"));
    ok(buffer_is(&clients[0].out, BYTES("\0\0")) && buffer_is(&clients[1].out, BYTES("\0\0")) &&
           buffer_is(&clients[2].out, BYTES("\0")),
       "the third lets all of them go");
    is_int((long long)data.waits.lists.count, 0, "nobody waits any more");
    for (int i = 0; i < 3; i++)
        tcp_session_end(&data, &clients[i]);
    tcp_store_data_free(&data);
}

/* ---- Noise --------------------------------------------------------------------------------- */

static unsigned drawn(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* Whole conversations of each family; each with all that its server answers. */
static const struct {
    const char *name;
    const char *bytes;
    size_t size;
} streams[] = {
    {"1.13", BYTES(OLD_SET "\x02" KEY "\x03\x02\0\0\0\0\0\0\0/n" ONE "\x04" ONE KEY "\x05" ONE KEY
                           "\x06\x01" KEY ONE "v" ONE "w\x06")},
    {"2.1", BYTES("\x06\x0b\x08" KEY ONE "v\x09" ONE KEY "\x0a" ONE KEY ONE "v\x07" KEY "\x06")},
    {"2.2", BYTES("\0\xce\xf7\x85\x3c\x0d\x01\x02\x03\x04\x01" KEY ONE "v\x09" KEY ONE
                  "w\x0a" ONE KEY "\x0e" KEY ONE "x\x10" KEY "\x0f" KEY
                  "\x11\x12\x02\0\0\0\0\0\0\0/b" ONE "\x0c\x08" KEY "\x07")},
};
enum { NUM_STREAMS = sizeof(streams) / sizeof(streams[0]) };

/* Feeds a conversation in pieces of random sizes, up to most bytes; the answers are in out. */
static bool feed_split(size_t i, unsigned *seed, size_t most, buffer *out)
{
    tcp_store_data data = {.woken = remember_woken};
    tcp_session session = {0};
    bool welcome = true;
    for (size_t at = 0; welcome && at < streams[i].size;) {
        size_t size = 1 + drawn(seed) % most, left = streams[i].size - at;
        size = size < left ? size : left;
        welcome = feed(&data, &session, streams[i].bytes + at, size);
        at += size;
    }
    welcome = welcome && session.in.size == 0;
    buffer_append(out, session.out.data, session.out.size);
    tcp_session_end(&data, &session);
    tcp_store_data_free(&data);
    return welcome;
}

/* However a conversation is cut into pieces, it is answered alike. */
static void splits(unsigned seed)
{
    for (size_t i = 0; i < NUM_STREAMS; i++) {
        buffer whole = {0};
        bool welcome = feed_split(i, &seed, 4096, &whole);
        int right = 0;
        for (int round = 0; round < 500; round++) {
            buffer out = {0};
            right += feed_split(i, &seed, 1 + (size_t)round % 40, &out) == welcome &&
                     buffer_is(&out, (const char *)whole.data, whole.size);
            buffer_free(&out);
        }
        is_int(right, 500, "a conversation of %s is answered alike in all pieces (seed %u)",
               streams[i].name, seed);
        buffer_free(&whole);
    }
}

/* user case 58: conversations with bytes changed, left out and put in, and random bytes, in pieces.
 * Under the sanitizers this finds what a fuzzer would. */
static void noise(unsigned seed)
{
    size_t most = 0;
    for (int round = 0; round < 20000; round++) {
        tcp_store_data data = {.woken = remember_woken};
        tcp_session session = {0};
        char bytes[512];
        size_t i = drawn(&seed) % NUM_STREAMS, size = streams[i].size;
        memcpy(bytes, streams[i].bytes, size);
        for (unsigned changes = drawn(&seed) % 4; changes > 0; changes--)
            bytes[drawn(&seed) % size] = (char)drawn(&seed);
        if (round % 8 == 0)
            for (size_t at = round % 16 == 0 ? 0 : 5; at < size; at++)
                bytes[at] = (char)drawn(&seed);
        size -= drawn(&seed) % size;
        bool welcome = true;
        for (size_t at = 0, now; welcome && at < size; at += now) {
            now = 1 + drawn(&seed) % 64;
            now = now < size - at ? now : size - at;
            welcome = feed(&data, &session, bytes + at, now);
            if (session.puzzling && drawn(&seed) % 2 == 0)
                tcp_session_settle(&session);
            most = session.in.capacity > most ? session.in.capacity : most;
        }
        tcp_session_end(&data, &session);
        tcp_store_data_free(&data);
    }
    ok(most <= 4096, "noise takes no memory: %zu bytes", most);
}

/* MUSTER_TEST_SEED takes the random choices elsewhere. */
static unsigned seed_of_environment(void)
{
    const char *text = getenv("MUSTER_TEST_SEED");
    return text == NULL ? 58 : (unsigned)atoi(text);
}

int main(void)
{
    unsigned seed = seed_of_environment();
    plan(23 + 16 + 8 + 5 + 3 + 9 + 7 + 10 + 2 + 5 + NUM_STREAMS + 1);
    answering();
    refusing();
    waiting();
    large_answers();
    families();
    puzzles();
    watching();
    watching_deaf();
    queues_and_barriers();
    splits(seed);
    noise(seed);
    return done();
}
