/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of torch's TCPStore, as client and server both need them: what queries there are and
 * what follows them, and numbers and strings on the wire.
 *
 * Torch has renumbered the queries twice, which makes three families. Only in the last one does a
 * connection begin with a greeting. A query is one byte, then its arguments. Integers are
 * little-endian; a string is its length in 64 bits and its bytes; a list is its count in 64 bits
 * and its strings. Answers have no header.
 */
#ifndef MUSTER_LIB_TCP_PROTOCOL_H
#define MUSTER_LIB_TCP_PROTOCOL_H

#include "base/buffer.h"
#include "muster.h"

#define PROTOCOL_MAGIC UINT32_C(0x3C85F7CE)

/* Limits of torch's server; a whole message is ours to bound. */
enum {
    PROTOCOL_MAX_KEY = 8192,
    PROTOCOL_MAX_VALUE = 8 << 20,
    PROTOCOL_MAX_KEYS = 131072,
    PROTOCOL_MAX_MESSAGE = 64 << 20
};

/* By the first torch that spoke it; later members of the last one only have more queries. */
typedef enum protocol_family {
    PROTOCOL_1_13, /* up to 2.0 */
    PROTOCOL_2_1,  /* this one alone */
    PROTOCOL_2_2,  /* and all since */
    PROTOCOL_NUM_FAMILIES
} protocol_family;

/* Where a family lacks a query. */
enum { PROTOCOL_NONE = 0xff };

/*
 * XX(name, number on the wire in each family, arguments): k a key, v a value, 4 and 8 an integer of
 * so many bytes, * a count, and what follows it as often as that says.
 */
#define PROTOCOL_QUERY_MAP(XX)                                                                     \
    XX(VALIDATE, PROTOCOL_NONE, PROTOCOL_NONE, 0, "4")                                             \
    XX(SET, 0, 0, 1, "kv")                                                                         \
    XX(COMPARE_SET, 1, 1, 2, "kvv")                                                                \
    XX(GET, 2, 2, 3, "k")                                                                          \
    XX(ADD, 3, 3, 4, "k8")                                                                         \
    XX(CHECK, 4, 4, 5, "*k")                                                                       \
    XX(WAIT, 5, 5, 6, "*k")                                                                        \
    XX(GETNUMKEYS, 6, 6, 7, "")                                                                    \
    XX(WATCH_KEY, 7, PROTOCOL_NONE, PROTOCOL_NONE, "k")                                            \
    XX(DELETE, 8, 7, 8, "k")                                                                       \
    XX(APPEND, PROTOCOL_NONE, 8, 9, "kv")                                                          \
    XX(MULTI_GET, PROTOCOL_NONE, 9, 10, "*k")                                                      \
    XX(MULTI_SET, PROTOCOL_NONE, 10, 11, "*kv")                                                    \
    XX(CANCEL_WAIT, PROTOCOL_NONE, 11, 12, "")                                                     \
    XX(PING, PROTOCOL_NONE, PROTOCOL_NONE, 13, "4")        /* since 2.5 */                         \
    XX(QUEUE_PUSH, PROTOCOL_NONE, PROTOCOL_NONE, 14, "kv") /* since 2.8 */                         \
    XX(QUEUE_POP, PROTOCOL_NONE, PROTOCOL_NONE, 15, "k")                                           \
    XX(QUEUE_LEN, PROTOCOL_NONE, PROTOCOL_NONE, 16, "k")                                           \
    XX(LIST_KEYS, PROTOCOL_NONE, PROTOCOL_NONE, 17, "")                                            \
    XX(BARRIER, PROTOCOL_NONE, PROTOCOL_NONE, 18, "k8")                                            \
    XX(AWAIT, PROTOCOL_NONE, PROTOCOL_NONE, 128, "*k") /* muster's own */

typedef enum protocol_query {
#define PROTOCOL_QUERY_ENUM(name, in_1_13, in_2_1, in_2_2, arguments) PROTOCOL_##name,
    PROTOCOL_QUERY_MAP(PROTOCOL_QUERY_ENUM)
#undef PROTOCOL_QUERY_ENUM
        PROTOCOL_NUM_QUERIES
} protocol_query;

/*
 * What torch has not: AWAIT is WAIT and MULTI_GET in one, answered by PROTOCOL_STOP_WAITING and the
 * values once all keys are there. Only CANCEL_WAIT may follow it before that. A server that knows
 * it says that this key is there; it has no "/" in front of it, so it is no user's.
 */
#define PROTOCOL_AWAIT_KEY "muster/await"

/* Answers of one byte. */
enum {
    PROTOCOL_READY = 0,
    PROTOCOL_NOT_READY = 1,
    PROTOCOL_STOP_WAITING = 0,
    PROTOCOL_CANCELED = 1,
    PROTOCOL_KEY_UPDATED = 0, /* with the key, its old value and its new one; these four */
    PROTOCOL_KEY_CREATED = 1,
    PROTOCOL_KEY_DELETED = 2,
    PROTOCOL_WATCHING = 3
};

/* "torch since 2.2", for messages. */
const char *protocol_family_name(protocol_family family);

const char *protocol_query_name(protocol_query query);
bool protocol_has(protocol_family family, protocol_query query);

/* PROTOCOL_NUM_QUERIES for a number that is none. */
protocol_query protocol_query_of(protocol_family family, unsigned char number);

/* ---- Writing ------------------------------------------------------------------------------- */

/* Of a query that the family has. */
void protocol_put_query(buffer *message, protocol_family family, protocol_query query);
void protocol_put_u8(buffer *message, uint8_t value);
void protocol_put_u32(buffer *message, uint32_t value);
void protocol_put_u64(buffer *message, uint64_t value);
void protocol_put_bytes(buffer *message, muster_blob bytes);

/* A user's key: torch puts a "/" in front of it. */
void protocol_put_key(buffer *message, muster_blob key);

/* ---- Reading ------------------------------------------------------------------------------- */

/* Moves through a message that protocol_scan has found to be whole. */
typedef struct protocol_reader {
    const unsigned char *at;
} protocol_reader;

uint32_t protocol_get_u32(protocol_reader *reader);
uint64_t protocol_get_u64(protocol_reader *reader);
muster_blob protocol_get_bytes(protocol_reader *reader);

/* How far into its message a scan has come; all zeros is at its start. */
typedef struct protocol_scan {
    size_t scanned; /* bytes; of the whole message once it is whole */
    const char *next;
    const char *item;    /* the arguments that come again */
    uint64_t items_left; /* how often, the present time included */
} protocol_scan;

typedef enum protocol_found { PROTOCOL_MORE, PROTOCOL_WHOLE, PROTOCOL_BAD } protocol_found;

/*
 * Looks for the end of the query that data starts with. PROTOCOL_MORE: not there yet; the next call
 * gets the same bytes and more behind them. PROTOCOL_BAD: no such query, or a length over its
 * limit, known as soon as the length itself is there.
 */
protocol_found protocol_scan_query(protocol_scan *scan, protocol_family family,
                                   const unsigned char *data, size_t size);

#endif
