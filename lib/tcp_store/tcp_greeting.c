/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first question to the server of a tcp store.
 *
 * That of 2.2 and later is a greeting, and the number of keys four times. To an older server these
 * nine bytes are a SET whose key has 5e17 bytes, for which it has no memory, so that it closes the
 * connection and takes no harm; at fewer bytes it would wait for the rest, and with it all its
 * clients. That of 2.1 is CANCEL_WAIT, which 1.13 does not have and closes the connection at.
 */
#include "config.h"
#include "tcp_store/tcp_greeting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/blobs.h"
#include "base/error.h"

enum { SHOWN_BYTES = 16 };

/* More keys than any server has. */
#define ABSURD_COUNT (UINT64_C(1) << 40)

static const struct {
    const char *question;
    size_t question_size;
    size_t answer_size; /* numbers of keys, or the one byte that CANCEL_WAIT is answered by */
} questions[PROTOCOL_NUM_FAMILIES] = {
    [PROTOCOL_1_13] = {"\x06", 1, 8},
    [PROTOCOL_2_1] = {"\x0b", 1, 1},
    [PROTOCOL_2_2] = {"\x00\xce\xf7\x85\x3c\x07\x07\x07\x07", 9, 32},
};

/* As far as it has come. */
static bool is_right(protocol_family family, const tcp_reply *reply)
{
    if (questions[family].answer_size == 1)
        return reply->size == 0 || reply->bytes[0] == PROTOCOL_CANCELED;
    bool right = true;
    for (size_t at = 0; right && at + 8 <= reply->size; at += 8) {
        protocol_reader reader = {reply->bytes + at};
        right = protocol_get_u64(&reader) < ABSURD_COUNT;
    }
    return right;
}

static muster_status strange(const tcp_client *client, const tcp_reply *reply)
{
    char text[BLOB_TEXT_SIZE];
    size_t shown = reply->size < SHOWN_BYTES ? reply->size : SHOWN_BYTES;
    return error_set(MUSTER_ERR_PROTOCOL,
                     "%s: it does not answer as a store: the greeting was answered by the bytes "
                     "'%s'%s",
                     client->name, blob_text((muster_blob){reply->bytes, shown}, text),
                     shown < reply->size ? " and more" : "");
}

static muster_status no_reply(const tcp_client *client, muster_status status)
{
    if (status == MUSTER_ERR_TIMEOUT)
        return error_set(status,
                         "%s: no answer to the greeting in time (%" PRId64 " ms for an answer): %s",
                         client->name, client->timeout_ms, tcp_client_silence(client));
    return error_set(MUSTER_ERR_PEER_LOST,
                     "%s: the store's host closed the connection at the greeting", client->name);
}

muster_status tcp_greeting_make(const tcp_client *client, int fd, protocol_family family,
                                deadline end, tcp_reply *reply)
{
    size_t wanted = questions[family].answer_size, more;
    *reply = (tcp_reply){.size = 0};
    muster_status status =
        socket_send(fd, questions[family].question, questions[family].question_size, end);
    bool sent = status == MUSTER_OK;
    while (status == MUSTER_OK && reply->size < wanted && is_right(family, reply)) {
        status = socket_receive(fd, reply->bytes + reply->size, wanted - reply->size, end, &more);
        reply->size += status == MUSTER_OK ? more : 0;
    }
    reply->declined = sent && status == MUSTER_ERR_PEER_LOST && errno == EPIPE && reply->size == 0;
    if (status == MUSTER_OK && is_right(family, reply))
        return MUSTER_OK;
    return reply->size > 0 ? strange(client, reply) : no_reply(client, status);
}

muster_status tcp_greeting_closed(const tcp_client *client)
{
    return error_set(MUSTER_ERR_PROTOCOL,
                     "%s: it does not answer as a store: the greeting was answered by closing the "
                     "connection",
                     client->name);
}

/* ---- What the user says -------------------------------------------------------------------- */

muster_status tcp_greeting_read_family(protocol_family *family)
{
    const char *text = getenv("MUSTER_STORE_FAMILY");
    unsigned major, minor;
    *family = PROTOCOL_NUM_FAMILIES;
    if (text == NULL || text[0] == '\0')
        return MUSTER_OK;
    /* What comes behind the two, as in 2.1.2 or 2.8.0+cu128, changes nothing. */
    if (text[0] < '1' || text[0] > '9' || sscanf(text, "%3u.%3u", &major, &minor) != 2)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "the environment says MUSTER_STORE_FAMILY=\"%.100s\"; expected the "
                         "version of torch whose protocol the store speaks, as in 1.13, 2.1 or 2.2",
                         text);
    unsigned version = major * 1000 + minor;
    *family = version < 2001 ? PROTOCOL_1_13 : version == 2001 ? PROTOCOL_2_1 : PROTOCOL_2_2;
    return MUSTER_OK;
}
