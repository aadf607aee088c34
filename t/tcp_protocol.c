/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of the tcp store, in every family of torch's protocol. The numbers and messages here
 * were taken from what torch 1.13, 2.1 and 2.15 send, not from the library's own table.
 */
#include <stdlib.h>

#include "tap.h"
#include "tcp_store/tcp_protocol.h"

#define BYTES(text) text, sizeof(text) - 1

enum { NO = -1 };

/* A query of every kind, whole: its number in each family, and its arguments. */
static const struct {
    protocol_query query;
    const char *name;
    int numbers[PROTOCOL_NUM_FAMILIES];
    const char *arguments;
    size_t size;
} golden[] = {
    {PROTOCOL_VALIDATE, "VALIDATE", {NO, NO, 0}, BYTES("\xce\xf7\x85\x3c")},
    {PROTOCOL_SET, "SET", {0, 0, 1}, BYTES("\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v")},
    {PROTOCOL_SET, "SET", {0, 0, 1}, BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {PROTOCOL_COMPARE_SET,
     "COMPARE_SET",
     {1, 1, 2},
     BYTES("\x02\0\0\0\0\0\0\0/c\x01\0\0\0\0\0\0\0a\x01\0\0\0\0\0\0\0b")},
    {PROTOCOL_GET, "GET", {2, 2, 3}, BYTES("\x02\0\0\0\0\0\0\0/k")},
    {PROTOCOL_ADD, "ADD", {3, 3, 4}, BYTES("\x05\0\0\0\0\0\0\0init/\x01\0\0\0\0\0\0\0")},
    {PROTOCOL_CHECK,
     "CHECK",
     {4, 4, 5},
     BYTES("\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/a\x02\0\0\0\0\0\0\0/b")},
    {PROTOCOL_CHECK, "CHECK", {4, 4, 5}, BYTES("\0\0\0\0\0\0\0\0")},
    {PROTOCOL_WAIT,
     "WAIT",
     {5, 5, 6},
     BYTES("\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/a\x02\0\0\0\0\0\0\0/b")},
    {PROTOCOL_GETNUMKEYS, "GETNUMKEYS", {6, 6, 7}, BYTES("")},
    {PROTOCOL_WATCH_KEY, "WATCH_KEY", {7, NO, NO}, BYTES("\x02\0\0\0\0\0\0\0/k")},
    {PROTOCOL_DELETE, "DELETE", {8, 7, 8}, BYTES("\x02\0\0\0\0\0\0\0/k")},
    {PROTOCOL_APPEND, "APPEND", {NO, 8, 9}, BYTES("\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v")},
    {PROTOCOL_MULTI_GET, "MULTI_GET", {NO, 9, 10}, BYTES("\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k")},
    {PROTOCOL_MULTI_SET,
     "MULTI_SET",
     {NO, 10, 11},
     BYTES("\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v"
           "\x02\0\0\0\0\0\0\0/m\0\0\0\0\0\0\0\0")},
    {PROTOCOL_CANCEL_WAIT, "CANCEL_WAIT", {NO, 11, 12}, BYTES("")},
    {PROTOCOL_PING, "PING", {NO, NO, 13}, BYTES("\x44\x33\x22\x11")},
    {PROTOCOL_QUEUE_PUSH,
     "QUEUE_PUSH",
     {NO, NO, 14},
     BYTES("\x02\0\0\0\0\0\0\0/q\x01\0\0\0\0\0\0\0v")},
    {PROTOCOL_QUEUE_POP, "QUEUE_POP", {NO, NO, 15}, BYTES("\x02\0\0\0\0\0\0\0/q")},
    {PROTOCOL_QUEUE_LEN, "QUEUE_LEN", {NO, NO, 16}, BYTES("\x02\0\0\0\0\0\0\0/q")},
    {PROTOCOL_LIST_KEYS, "LIST_KEYS", {NO, NO, 17}, BYTES("")},
    {PROTOCOL_AWAIT,
     "AWAIT",
     {NO, NO, 128},
     BYTES("\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/a\x02\0\0\0\0\0\0\0/b")},
    {PROTOCOL_BARRIER, "BARRIER", {NO, NO, 18}, BYTES("\x02\0\0\0\0\0\0\0/b\x02\0\0\0\0\0\0\0")},
};
enum { NUM_GOLDEN = sizeof(golden) / sizeof(golden[0]) };

static bool buffer_is(const buffer *bytes, const char *expected, size_t size)
{
    return bytes->size == size && memcmp(bytes->data, expected, size) == 0;
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* Whether the table knows the query in that family as torch does. */
static bool is_known_as(size_t i, protocol_family family)
{
    int number = golden[i].numbers[family];
    buffer message = {0};
    if (number == NO)
        return !protocol_has(family, golden[i].query);
    protocol_put_query(&message, family, golden[i].query);
    bool right = protocol_has(family, golden[i].query) &&
                 protocol_query_of(family, (unsigned char)number) == golden[i].query &&
                 message.size == 1 && message.data[0] == number;
    buffer_free(&message);
    return right;
}

static void numbers(void)
{
    static const int over[PROTOCOL_NUM_FAMILIES] = {9, 12, 19};
    for (size_t i = 0; i < NUM_GOLDEN; i++)
        ok(is_known_as(i, PROTOCOL_1_13) && is_known_as(i, PROTOCOL_2_1) &&
               is_known_as(i, PROTOCOL_2_2) &&
               strcmp(protocol_query_name(golden[i].query), golden[i].name) == 0,
           "%s has its number in each family", golden[i].name);
    for (int family = 0; family < PROTOCOL_NUM_FAMILIES; family++) {
        int known = 0;
        for (int number = over[family]; number <= 255; number++)
            known += protocol_query_of((protocol_family)family, (unsigned char)number) !=
                     PROTOCOL_NUM_QUERIES;
        is_int(known, family == PROTOCOL_2_2, "%s has no number over %d but for muster's own",
               protocol_family_name((protocol_family)family), over[family] - 1);
    }
    is_int(protocol_query_of(PROTOCOL_2_1, 12), PROTOCOL_NUM_QUERIES, "12 is none in 2.1");
}

/* ---- Writing and reading ------------------------------------------------------------------- */

static void writing(void)
{
    buffer message = {0};
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_VALIDATE);
    protocol_put_u32(&message, PROTOCOL_MAGIC);
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_PING);
    protocol_put_u32(&message, 0x11223344);
    ok(buffer_is(&message, BYTES("\0\xce\xf7\x85\x3c\x0d\x44\x33\x22\x11")), "the handshake");
    buffer_free(&message);
    protocol_put_query(&message, PROTOCOL_1_13, PROTOCOL_ADD);
    protocol_put_bytes(&message, muster_str("init/"));
    protocol_put_u64(&message, 1);
    ok(buffer_is(&message, BYTES("\x03\x05\0\0\0\0\0\0\0init/\x01\0\0\0\0\0\0\0")), "ADD init/ 1");
    buffer_free(&message);
    protocol_put_query(&message, PROTOCOL_2_2, PROTOCOL_WAIT);
    protocol_put_u64(&message, 2);
    protocol_put_key(&message, muster_str("a"));
    protocol_put_key(&message, muster_str("b"));
    ok(buffer_is(&message, BYTES("\x06\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0/a\x02\0\0\0\0\0\0\0/b")),
       "WAIT [/a,/b]");
    protocol_reader reader = {message.data + 1};
    is_int((long long)protocol_get_u64(&reader), 2, "what was written is read: a count");
    muster_blob key = protocol_get_bytes(&reader);
    ok(key.size == 2 && memcmp(key.data, "/a", 2) == 0, "a key");
    buffer_free(&message);
    protocol_put_u32(&message, 0xfedcba98);
    reader = (protocol_reader){message.data};
    is_int(protocol_get_u32(&reader), 0xfedcba98, "an integer of 32 bits");
    buffer_free(&message);
}

/* ---- Where a message ends ------------------------------------------------------------------ */

/* Whole with its last byte and not before, whether the scan goes on or looks once. */
static bool ends_right(size_t i, protocol_family family)
{
    buffer message = {0};
    protocol_scan scan = {0}, once = {0};
    bool right = true;
    protocol_put_query(&message, family, golden[i].query);
    buffer_append(&message, golden[i].arguments, golden[i].size);
    for (size_t size = 0; size < message.size; size++)
        right = right && protocol_scan_query(&scan, family, message.data, size) == PROTOCOL_MORE;
    right = right &&
            protocol_scan_query(&scan, family, message.data, message.size) == PROTOCOL_WHOLE &&
            protocol_scan_query(&once, family, message.data, message.size) == PROTOCOL_WHOLE &&
            scan.scanned == message.size && once.scanned == message.size;
    buffer_free(&message);
    return right;
}

static void scanning(void)
{
    for (size_t i = 0; i < NUM_GOLDEN; i++) {
        bool right = true;
        for (int family = 0; family < PROTOCOL_NUM_FAMILIES; family++)
            right = right &&
                    (golden[i].numbers[family] == NO || ends_right(i, (protocol_family)family));
        ok(right, "%s is whole with its last byte and not before", golden[i].name);
    }
    static const struct {
        const char *what;
        protocol_family family;
        const char *bytes;
        size_t size;
    } bad[] = {
        {"no such query", PROTOCOL_2_2, BYTES("\x13")},
        {"none in 2.1", PROTOCOL_2_1, BYTES("\x0c")},
        {"none in 1.13", PROTOCOL_1_13, BYTES("\x09")},
        {"text", PROTOCOL_2_2, BYTES("GET / HTTP/1.0\r\n")},
        {"a greeting of TLS", PROTOCOL_1_13, BYTES("\x16\x03\x01\x02\0\x01")},
        {"a key of 8,193 bytes", PROTOCOL_2_2, BYTES("\x03\x01\x20\0\0\0\0\0\0")},
        {"a value of 2^31 bytes", PROTOCOL_2_2, BYTES("\x01\x01\0\0\0\0\0\0\0k\0\0\0\x80\0\0\0\0")},
        {"a key of 2^63 bytes", PROTOCOL_2_1, BYTES("\x02\0\0\0\0\0\0\0\x80")},
        {"a key of 2^64-1 bytes", PROTOCOL_1_13, BYTES("\x02\xff\xff\xff\xff\xff\xff\xff\xff")},
        {"a list of 131,073 keys", PROTOCOL_2_2, BYTES("\x05\x01\0\x02\0\0\0\0\0")},
        {"a queue's value of 2^63", PROTOCOL_2_2, BYTES("\x0e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80")},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        protocol_scan scan = {0};
        is_int(protocol_scan_query(&scan, bad[i].family, (const unsigned char *)bad[i].bytes,
                                   bad[i].size),
               PROTOCOL_BAD, "%s is bad as soon as it is seen", bad[i].what);
    }
}

int main(void)
{
    plan(NUM_GOLDEN + 4 + 6 + NUM_GOLDEN + 11);
    numbers();
    writing();
    scanning();
    return done();
}
