/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who gets into a tcp store that has a job secret: the server's side.
 */
#include "tcp_store/tcp_entry.h"

#include <string.h>

static const unsigned char mark[TCP_ENTRY_MARK] = {0xb5, 'm', 'u', 's', 't', 'r'};

/* The highest number of a query in any of torch's protocols; HTTP and TLS begin higher. */
enum { HIGHEST_QUERY = 18 };

void tcp_entry_put(buffer *message, tcp_entry_kind kind, const unsigned char *body)
{
    static const unsigned char zeros[TCP_ENTRY_BODY];
    const unsigned char rest[] = {TCP_ENTRY_VERSION, (unsigned char)kind};
    buffer_append(message, mark, sizeof(mark));
    buffer_append(message, rest, sizeof(rest));
    buffer_append(message, body == NULL ? zeros : body, TCP_ENTRY_BODY);
}

bool tcp_entry_is_ours(const unsigned char *data, size_t size)
{
    return memcmp(data, mark, size < sizeof(mark) ? size : sizeof(mark)) == 0;
}

static const char *refuse(buffer *answer, tcp_entry_kind kind, const char *reason)
{
    tcp_entry_put(answer, kind, NULL);
    return reason;
}

static const char *refuse_other(const tcp_entry *entry, buffer *answer)
{
    return refuse(answer, TCP_ENTRY_REFUSED_PLAIN,
                  entry->message[0] <= HIGHEST_QUERY
                      ? "it spoke torch's plain protocol, or muster's without MUSTER_JOB_SECRET, "
                        "and this store has a job secret; where ranks of torch join, start the "
                        "job without one (muster-run --no-secret)"
                      : "what it sent is no client's of a store");
}

/* As soon as a byte is wrong, and not when a message is whole. */
static const char *check_head(const tcp_entry *entry, buffer *answer)
{
    tcp_entry_kind expected = entry->challenged ? TCP_ENTRY_PROOF : TCP_ENTRY_HELLO;
    const unsigned char *message = entry->message;
    if (!tcp_entry_is_ours(message, entry->received))
        return refuse_other(entry, answer);
    if (entry->received > TCP_ENTRY_MARK && message[TCP_ENTRY_MARK] != TCP_ENTRY_VERSION)
        return refuse(answer, TCP_ENTRY_REFUSED_VERSION,
                      "it proves the job secret in a way of another version of muster");
    if (entry->received > TCP_ENTRY_MARK + 1 && message[TCP_ENTRY_MARK + 1] != expected)
        return refuse(answer, TCP_ENTRY_REFUSED_WRONG, "it sent a proof out of its order");
    return NULL;
}

static const char *take_message(tcp_entry *entry, const job_secret *secret, buffer *answer)
{
    const unsigned char *body = entry->message + TCP_ENTRY_HEAD;
    entry->received = 0;
    if (!entry->challenged) {
        memcpy(entry->nonces.client, body, JOB_SECRET_NONCE);
        job_secret_draw(entry->nonces.server);
        tcp_entry_put(answer, TCP_ENTRY_CHALLENGE, entry->nonces.server);
        entry->challenged = true;
        return NULL;
    }
    if (!job_secret_verify(secret, JOB_SECRET_CLIENT, &entry->nonces, body))
        return refuse(answer, TCP_ENTRY_REFUSED_WRONG, "its proof is not that of the job secret");
    unsigned char proof[JOB_SECRET_PROOF];
    job_secret_prove(secret, JOB_SECRET_SERVER, &entry->nonces, proof);
    tcp_entry_put(answer, TCP_ENTRY_WELCOME, proof);
    entry->inside = true;
    return NULL;
}

const char *tcp_entry_take(tcp_entry *entry, const job_secret *secret, const unsigned char *data,
                           size_t size, size_t *taken, buffer *answer)
{
    *taken = 0;
    if (!secret->set) {
        if (size > 0 && data[0] == mark[0])
            return refuse(answer, TCP_ENTRY_REFUSED_OPEN,
                          "it asked for a proof of the job secret, and this store has none");
        entry->inside = size > 0;
        return NULL;
    }
    while (!entry->inside && *taken < size) {
        size_t room = TCP_ENTRY_MESSAGE - entry->received, left = size - *taken;
        size_t now = left < room ? left : room;
        memcpy(entry->message + entry->received, data + *taken, now);
        entry->received = (unsigned char)(entry->received + now);
        *taken += now;
        const char *reason = check_head(entry, answer);
        if (reason == NULL && entry->received == TCP_ENTRY_MESSAGE)
            reason = take_message(entry, secret, answer);
        if (reason != NULL)
            return reason;
    }
    return NULL;
}
