/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The server's side of proving the job secret, message by message.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "tcp_store/tcp_entry.h"

#ifdef HAVE_SODIUM
enum { CAN_PROVE = 1 };
#else
enum { CAN_PROVE = 0 };
#endif

/* A client that does all right, or as the test wants it. */
typedef struct visitor {
    tcp_entry entry;
    job_secret_nonces nonces;
    buffer answer;
    size_t taken;
} visitor;

static job_secret secret, no_secret;

static const char *say(visitor *one, const void *data, size_t size)
{
    one->answer.size = 0;
    return tcp_entry_take(&one->entry, &secret, data, size, &one->taken, &one->answer);
}

static const char *say_message(visitor *one, tcp_entry_kind kind, const unsigned char *body)
{
    buffer message = {0};
    tcp_entry_put(&message, kind, body);
    const char *reason = say(one, message.data, message.size);
    buffer_free(&message);
    return reason;
}

/* The kind of the one message that was answered with, or 0. */
static int answered(const visitor *one)
{
    return one->answer.size == TCP_ENTRY_MESSAGE &&
                   tcp_entry_is_ours(one->answer.data, one->answer.size)
               ? one->answer.data[TCP_ENTRY_MARK + 1]
               : 0;
}

static void say_hello(visitor *one)
{
    memset(one->nonces.client, 'c', JOB_SECRET_NONCE);
    say_message(one, TCP_ENTRY_HELLO, one->nonces.client);
    if (answered(one) == TCP_ENTRY_CHALLENGE)
        memcpy(one->nonces.server, one->answer.data + TCP_ENTRY_HEAD, JOB_SECRET_NONCE);
}

static void leave(visitor *one)
{
    buffer_free(&one->answer);
    *one = (visitor){0};
}

static void welcome(void)
{
    visitor one = {0};
    unsigned char proof[JOB_SECRET_PROOF];
    buffer last = {0};
    say_hello(&one);
    is_int(answered(&one), TCP_ENTRY_CHALLENGE, "a hello is answered by a challenge");
    ok(!one.entry.inside, "and is not enough");
    job_secret_prove(&secret, JOB_SECRET_CLIENT, &one.nonces, proof);
    tcp_entry_put(&last, TCP_ENTRY_PROOF, proof);
    buffer_append(&last, "next", 4);
    ok(say(&one, last.data, last.size) == NULL && one.entry.inside, "a proof is");
    is_int((long long)one.taken, TCP_ENTRY_MESSAGE, "what comes behind it is left");
    is_int(answered(&one), TCP_ENTRY_WELCOME, "it is answered by a welcome");
    ok(job_secret_verify(&secret, JOB_SECRET_SERVER, &one.nonces, one.answer.data + TCP_ENTRY_HEAD),
       "that proves the server");
    buffer_free(&last);
    leave(&one);
}

static void in_pieces(void)
{
    visitor one = {0};
    buffer message = {0};
    unsigned char proof[JOB_SECRET_PROOF];
    tcp_entry_put(&message, TCP_ENTRY_HELLO, one.nonces.client);
    const char *reason = NULL;
    for (size_t i = 0; i < message.size; i++)
        reason = reason == NULL ? say(&one, message.data + i, 1) : reason;
    is_int(answered(&one), TCP_ENTRY_CHALLENGE, "a hello byte by byte");
    memcpy(one.nonces.server, one.answer.data + TCP_ENTRY_HEAD, JOB_SECRET_NONCE);
    job_secret_prove(&secret, JOB_SECRET_CLIENT, &one.nonces, proof);
    message.size = 0;
    tcp_entry_put(&message, TCP_ENTRY_PROOF, proof);
    for (size_t i = 0; i < message.size; i++)
        reason = reason == NULL ? say(&one, message.data + i, 1) : reason;
    ok(reason == NULL && one.entry.inside, "and a proof too");
    buffer_free(&message);
    leave(&one);
}

/* Each first word is refused with its kind and a reason. */
static void first_words(void)
{
    static const struct {
        const char *name, *bytes;
        size_t size;
        int kind;
        const char *reason;
    } words[] = {
        {"torch 2", "\0\xce\xf7\x85\x3c", 5, TCP_ENTRY_REFUSED_PLAIN, "torch's plain protocol"},
        {"torch 1", "\3", 1, TCP_ENTRY_REFUSED_PLAIN, "muster-run --no-secret"},
        {"HTTP", "GET / HTTP/1.1\r\n", 16, TCP_ENTRY_REFUSED_PLAIN, "is no client's of a store"},
        {"TLS", "\x16\x03\x01\x02\0\1", 6, TCP_ENTRY_REFUSED_PLAIN, "is no client's of a store"},
        {"half a mark", "\xb5mustX", 6, TCP_ENTRY_REFUSED_PLAIN, "is no client's of a store"},
        {"version 2", "\xb5mustr\2", 7, TCP_ENTRY_REFUSED_VERSION, "another version of muster"},
        {"a proof", "\xb5mustr\1\3", 8, TCP_ENTRY_REFUSED_WRONG, "out of its order"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        visitor one = {0};
        const char *reason = say(&one, words[i].bytes, words[i].size);
        is_int(answered(&one), words[i].kind, "%s first is answered", words[i].name);
        has_str(reason == NULL ? "" : reason, words[i].reason, "%s first is refused",
                words[i].name);
        leave(&one);
    }
}

static void wrong_proofs(void)
{
    visitor one = {0}, two = {0};
    unsigned char proof[JOB_SECRET_PROOF];
    say_hello(&one);
    say_hello(&two);
    ok(memcmp(one.nonces.server, two.nonces.server, JOB_SECRET_NONCE) != 0,
       "each connection has a challenge of its own");
    job_secret_prove(&secret, JOB_SECRET_CLIENT, &one.nonces, proof);
    const char *reason = say_message(&two, TCP_ENTRY_PROOF, proof);
    ok(reason != NULL && !two.entry.inside, "a good proof of another connection is refused");
    is_int(answered(&two), TCP_ENTRY_REFUSED_WRONG, "as wrong");
    leave(&two);

    say_hello(&two);
    ok(say_message(&two, TCP_ENTRY_HELLO, two.nonces.client) != NULL, "a second hello is refused");
    leave(&two);

    say_hello(&two);
    reason = say_message(&two, TCP_ENTRY_PROOF, two.nonces.server);
    has_str(reason == NULL ? "" : reason, "not that of the job secret",
            "the challenge sent back is no proof");
    leave(&two);

    say_hello(&two);
    job_secret_prove(&secret, JOB_SECRET_SERVER, &two.nonces, proof);
    ok(say_message(&two, TCP_ENTRY_PROOF, proof) != NULL && !two.entry.inside,
       "nor is a proof as server");
    leave(&two);
    leave(&one);
}

static void without_secret(void)
{
    visitor one = {0};
    ok(tcp_entry_take(&one.entry, &no_secret, (const unsigned char *)"", 0, &one.taken,
                      &one.answer) == NULL &&
           !one.entry.inside,
       "no byte is no client");
    ok(tcp_entry_take(&one.entry, &no_secret, (const unsigned char *)"\0\1", 2, &one.taken,
                      &one.answer) == NULL &&
           one.entry.inside && one.taken == 0,
       "a store without a secret lets everybody in, and takes nothing");
    leave(&one);
    ok(tcp_entry_take(&one.entry, &no_secret, (const unsigned char *)"\xb5", 1, &one.taken,
                      &one.answer) != NULL &&
           !one.entry.inside,
       "but for who asks for a proof");
    is_int(answered(&one), TCP_ENTRY_REFUSED_OPEN, "who is told");
    leave(&one);
}

int main(void)
{
    plan(CAN_PROVE ? 32 : 4);
    if (CAN_PROVE) {
        setenv("MUSTER_JOB_SECRET", "correct horse battery staple", 1);
        if (job_secret_read(&secret, NULL) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        welcome();
        in_pieces();
        first_words();
        wrong_proofs();
    }
    without_secret();
    return done();
}
