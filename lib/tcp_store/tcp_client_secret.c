/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The client's side of proving the job secret.
 */
#include "config.h"
#include "tcp_store/tcp_client_secret.h"

#include "base/error.h"
#include "tcp_store/tcp_entry.h"

static const char what[] = "the proof of the job secret";

static muster_status no_proof(const tcp_client *client)
{
    return error_set(MUSTER_ERR_PROTOCOL,
                     "%s: what listens there does not know the job secret and was told nothing: "
                     "it is no store of this job; see who has taken the port",
                     client->name);
}

static muster_status other_version(const tcp_client *client)
{
    return error_set(MUSTER_ERR_PROTOCOL,
                     "%s: the store proves the job secret in a way of another version of muster: "
                     "use the same version for all ranks",
                     client->name);
}

static muster_status refused(const tcp_client *client, int kind, bool *busy)
{
    switch (kind) {
    case TCP_ENTRY_REFUSED_WRONG:
        return error_set(MUSTER_ERR_MISMATCH,
                         "%s: the store has another job secret: MUSTER_JOB_SECRET must be the same "
                         "for all ranks and for whoever hosts the store",
                         client->name);
    case TCP_ENTRY_REFUSED_OPEN:
        return error_set(MUSTER_ERR_MISMATCH,
                         "%s: the store has no job secret, but MUSTER_JOB_SECRET is set here: set "
                         "the same one where the store is hosted, or unset it here",
                         client->name);
    case TCP_ENTRY_REFUSED_PLAIN:
        return error_set(MUSTER_ERR_MISMATCH,
                         "%s: the store has a job secret, but MUSTER_JOB_SECRET is not set here: "
                         "set it to the store's, or host the store without one (muster-run "
                         "--no-secret)",
                         client->name);
    case TCP_ENTRY_REFUSED_BUSY:
        *busy = true;
        return MUSTER_ERR_PEER_LOST;
    case TCP_ENTRY_REFUSED_VERSION:
        return other_version(client);
    default:
        return no_proof(client);
    }
}

static muster_status read_body(const tcp_client *client, tcp_link *link, tcp_entry_kind expected,
                               unsigned char body[TCP_ENTRY_BODY], deadline end, bool *busy)
{
    unsigned char head[TCP_ENTRY_HEAD];
    muster_status status = tcp_link_read(client, link, what, head, sizeof(head), end);
    if (status != MUSTER_OK)
        return status;
    if (!tcp_entry_is_ours(head, TCP_ENTRY_MARK))
        return no_proof(client);
    if (head[TCP_ENTRY_MARK] != TCP_ENTRY_VERSION)
        return other_version(client);
    if (head[TCP_ENTRY_MARK + 1] != expected)
        return refused(client, head[TCP_ENTRY_MARK + 1], busy);
    return tcp_link_read(client, link, what, body, TCP_ENTRY_BODY, end);
}

static muster_status send_message(const tcp_client *client, tcp_link *link, tcp_entry_kind kind,
                                  const unsigned char *body, deadline end)
{
    buffer message = {0};
    tcp_entry_put(&message, kind, body);
    muster_status status = tcp_link_send(client, link, what, &message, end);
    buffer_free(&message);
    return status;
}

muster_status tcp_client_prove(const tcp_client *client, tcp_link *link, deadline end, bool *busy)
{
    job_secret_nonces nonces;
    unsigned char proof[JOB_SECRET_PROOF];
    *busy = false;
    if (!client->secret.set)
        return MUSTER_OK;
    job_secret_draw(nonces.client);
    muster_status status = send_message(client, link, TCP_ENTRY_HELLO, nonces.client, end);
    if (status == MUSTER_OK)
        status = read_body(client, link, TCP_ENTRY_CHALLENGE, nonces.server, end, busy);
    if (status != MUSTER_OK)
        return status;
    job_secret_prove(&client->secret, JOB_SECRET_CLIENT, &nonces, proof);
    status = send_message(client, link, TCP_ENTRY_PROOF, proof, end);
    if (status == MUSTER_OK)
        status = read_body(client, link, TCP_ENTRY_WELCOME, proof, end, busy);
    if (status == MUSTER_OK &&
        !job_secret_verify(&client->secret, JOB_SECRET_SERVER, &nonces, proof))
        status = no_proof(client);
    return status;
}

muster_status tcp_client_refused(const tcp_client *client, const unsigned char *bytes, size_t size,
                                 muster_status status)
{
    bool busy;
    if (status == MUSTER_OK || client->secret.set || size < TCP_ENTRY_HEAD ||
        !tcp_entry_is_ours(bytes, size))
        return status;
    return refused(client, bytes[TCP_ENTRY_MARK + 1], &busy);
}

muster_status tcp_client_unproved(const tcp_client *client)
{
    return error_set(
        MUSTER_ERR_PROTOCOL,
        "%s: what listens there closes the connection when it is to prove the job "
        "secret: a store of torch or torchrun knows none; unset MUSTER_JOB_SECRET for it "
        "(under muster-run: --no-secret), or see who has taken the port",
        client->name);
}

muster_status tcp_client_crowded(const tcp_client *client)
{
    return error_set(MUSTER_ERR_TIMEOUT,
                     "%s: the store had no room for a further connection in the time given: too "
                     "many strangers connect to it; its log says from where",
                     client->name);
}
