/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of the tcp store: operations, waiting, and opening one.
 */
#ifndef MUSTER_LIB_STORE_TCP_H
#define MUSTER_LIB_STORE_TCP_H

#include "base/counter.h"
#include "store/store.h"
#include "tcp_store/tcp_client.h"
#include "tcp_store/tcp_server.h"

typedef struct tcp_store {
    muster_store store;
    tcp_client client;
    tcp_server *server; /* NULL where another process has it */
    char *name;
    int port;
} tcp_store;

extern const store_ops store_tcp_ops;

/* muster_store_tcp() for a store that is called "tcp store HOST:PORT" and then whose, as in " of
 * rank 0", which may be empty: who reads that it was lost knows which rank to look at. *reached,
 * which may be NULL, is whether a connection came about, be it that it served for nothing. */
muster_status store_tcp_open(muster_store **store, const muster_tcp_store_args *args,
                             const char *whose, bool *reached);

muster_status store_tcp_wait(muster_store *store, const muster_blob *keys, size_t num_keys,
                             int64_t timeout_ms);

/* Waits for keys and appends their values to bytes, with the size of each in values; from a server
 * that knows AWAIT. MUSTER_ERR_TIMEOUT comes without a sentence that says which keys. */
muster_status store_tcp_await(muster_store *store, const muster_blob *keys, size_t num_keys,
                              int64_t timeout_ms, buffer *bytes, muster_blob *values);

/* After a time-out: MUSTER_OK if all keys have come after all, else the sentence that names those
 * that have not. */
muster_status store_tcp_search(muster_store *store, const muster_blob *keys, size_t num_keys,
                               int64_t timeout_ms);

/* Tells the server that nobody waits any more. *first is PROTOCOL_CANCELED then, or begins the
 * answer that was on its way, with PROTOCOL_CANCELED behind it. */
muster_status store_tcp_call_off(tcp_client *client, tcp_link *link, unsigned char *first);

/* Messages become no longer than this and one key and value more. */
enum { STORE_TCP_MESSAGE = 512 << 10 };

/* Appends query with a list of keys: as many from keys[from] on as make a message of a moderate
 * size. Returns the first that is left for the next message. */
size_t store_tcp_put_keys(buffer *message, protocol_family family, protocol_query query,
                          const muster_blob *keys, size_t from, size_t num_keys);

#endif
