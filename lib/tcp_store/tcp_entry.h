/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a connection to a tcp store that has a job secret begins: both sides prove that they know it,
 * then the store's protocol goes on as without one. This is the server's side up to that point; it
 * knows nothing of sockets. The client's is in tcp_client_secret.c.
 *
 *     client                                          server
 *     HELLO      its nonce                 ------->
 *                                          <-------   CHALLENGE  its nonce
 *     PROOF      HMAC(key, client ...)     ------->
 *                                          <-------   WELCOME    HMAC(key, server ...)
 *
 * Every message has 40 bytes: the mark b5 6d 75 73 74 72 (no protocol of torch, HTTP or TLS begins
 * with its first byte), the version of this exchange (1), the kind of message, and 32 bytes.
 *
 *   - Both nonces are 32 random bytes, drawn for each connection, so that a proof that was recorded
 *     is worth nothing on the next one.
 *   - key = HMAC-SHA-256(MUSTER_JOB_SECRET, label of the key), and a proof is HMAC-SHA-256(key,
 *     label of the side and both nonces), so that neither side's proof can be given back as the
 *     other's. Labels are 16 bytes: "muster/1 key" with zeros, "muster/1 client.", "muster/1
 *     server.".
 *   - The client proves first: whoever connects learns nothing that a guess at the secret could be
 *     tried on. The server proves too: whoever took its port gets no key of the store.
 *   - Nothing is bound to addresses, which may be rewritten on the way. Who can change what passes
 *     between the two can take the connection over afterwards: this is no encryption.
 *
 * A server that turns a client away may say why by a message of one of the REFUSED kinds, its 32
 * bytes being zeros; it tells nothing that is not known to who tried.
 */
#ifndef MUSTER_LIB_TCP_ENTRY_H
#define MUSTER_LIB_TCP_ENTRY_H

#include "base/buffer.h"
#include "tcp_store/job_secret.h"

enum { TCP_ENTRY_MARK = 6, TCP_ENTRY_HEAD = 8, TCP_ENTRY_BODY = 32, TCP_ENTRY_MESSAGE = 40 };
enum { TCP_ENTRY_VERSION = 1 };

typedef enum tcp_entry_kind {
    TCP_ENTRY_HELLO = 1,
    TCP_ENTRY_CHALLENGE = 2,
    TCP_ENTRY_PROOF = 3,
    TCP_ENTRY_WELCOME = 4,
    TCP_ENTRY_REFUSED_PLAIN = 16,   /* this store has a secret, and what came was no hello */
    TCP_ENTRY_REFUSED_WRONG = 17,   /* the proof is that of another secret */
    TCP_ENTRY_REFUSED_OPEN = 18,    /* this store has no secret */
    TCP_ENTRY_REFUSED_VERSION = 19, /* the version is another */
    TCP_ENTRY_REFUSED_BUSY = 20     /* there was no room for it; it may try again */
} tcp_entry_kind;

/* What the server keeps of a client that is not inside yet. All zeros has just connected. */
typedef struct tcp_entry {
    bool inside;
    bool challenged;
    unsigned char received; /* bytes of message */
    unsigned char message[TCP_ENTRY_MESSAGE];
    job_secret_nonces nonces;
} tcp_entry;

/*
 * Takes bytes of a client that is not inside, *taken of them; what is left belongs to the store's
 * protocol once it is. Appends to answer what is to be sent. Returns NULL, or, for a client that is
 * to be cut off after that, the reason in words.
 */
const char *tcp_entry_take(tcp_entry *entry, const job_secret *secret, const unsigned char *data,
                           size_t size, size_t *taken, buffer *answer);

/* Puts a message together; body NULL is zeros. */
void tcp_entry_put(buffer *message, tcp_entry_kind kind, const unsigned char *body);

/* Whether size bytes begin, as far as they go, as a message does. */
bool tcp_entry_is_ours(const unsigned char *data, size_t size);

#endif
