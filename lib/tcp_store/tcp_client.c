/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The connections of one tcp store.
 */
#include "config.h"
#include "tcp_store/tcp_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "tcp_store/tcp_client_secret.h"
#include "tcp_store/tcp_greeting.h"

/* How long closing waits for a server in this process to have seen it. */
enum { FAREWELL_MS = 1000 };

/* How long a server that is not known yet has for an answer; each time around twice as long. */
enum { FIRST_ANSWER_MS = 4000 };

/* How often in a row a store may close a connection at the first word of the proof, as one with a
 * full queue may, before it is taken for one that knows no proofs. */
enum { MOST_CLOSED = 16 };

struct tcp_link {
    int fd;
    bool busy;
    int64_t patience_ms; /* of socket_receive_blocking */
    tcp_link *next;
    size_t from, to; /* of what has been received and not been read */
    unsigned char received[8192];
};

/* ---- Bytes --------------------------------------------------------------------------------- */

const char *tcp_client_silence(const tcp_client *client)
{
    return client->greeted ? "it has answered before; the store's host is stopped, overloaded or "
                             "cut off"
                           : "it does not answer as a store";
}

static muster_status link_error(const tcp_client *client, muster_status status, const char *what)
{
    if (status == MUSTER_ERR_TIMEOUT)
        return error_set(status, "%s: no answer to %s in time (%" PRId64 " ms for an answer): %s",
                         client->name, what, client->timeout_ms, tcp_client_silence(client));
    if (status == MUSTER_ERR_PEER_LOST)
        return error_set(status, "%s: the store's host closed the connection at %s", client->name,
                         what);
    error_system("%s: %s", client->name, what);
    return status;
}

muster_status tcp_link_send(const tcp_client *client, tcp_link *link, const char *what,
                            const buffer *message, deadline end)
{
    if (message->failed)
        return error_no_memory(message->size, "a message to a tcp store");
    muster_status status = socket_send(link->fd, message->data, message->size, end);
    return status == MUSTER_OK ? status : link_error(client, status, what);
}

static muster_status link_receive(tcp_link *link, void *data, size_t size, deadline end,
                                  size_t *got)
{
    return socket_receive_blocking(link->fd, &link->patience_ms, data, size, end, got);
}

muster_status tcp_link_read(const tcp_client *client, tcp_link *link, const char *what, void *data,
                            size_t size, deadline end)
{
    char *at = data;
    while (size > 0) {
        size_t ready = link->to - link->from, got = 0;
        muster_status status = MUSTER_OK;
        if (ready > 0) {
            got = ready < size ? ready : size;
            memcpy(at, link->received + link->from, got);
            link->from += got;
        } else if (size >= sizeof(link->received)) {
            status = link_receive(link, at, size, end, &got);
        } else {
            link->from = link->to = 0;
            status = link_receive(link, link->received, sizeof(link->received), end, &link->to);
        }
        if (status != MUSTER_OK)
            return link_error(client, status, what);
        at += got;
        size -= got;
    }
    return MUSTER_OK;
}

muster_status tcp_link_read_value(const tcp_client *client, tcp_link *link, const char *what,
                                  buffer *value, size_t *size, deadline end)
{
    unsigned char wire[8];
    muster_status status = tcp_link_read(client, link, what, wire, sizeof(wire), end);
    if (status != MUSTER_OK)
        return status;
    protocol_reader reader = {wire};
    uint64_t length = protocol_get_u64(&reader);
    if (length > PROTOCOL_MAX_VALUE)
        return error_set(MUSTER_ERR_PROTOCOL,
                         "%s: the answer to %s has a value of %" PRIu64
                         " bytes, where %d is the most: it does not answer as a store",
                         client->name, what, length, PROTOCOL_MAX_VALUE);
    if (length == 0) {
        *size = 0;
        return MUSTER_OK;
    }
    if (!buffer_reserve(value, (size_t)length))
        return error_no_memory((size_t)length, "a value");
    status = tcp_link_read(client, link, what, value->data + value->size, (size_t)length, end);
    if (status == MUSTER_OK) {
        value->size += (size_t)length;
        *size = (size_t)length;
    }
    return status;
}

/* ---- Connecting ---------------------------------------------------------------------------- */

/* What comes of one try to connect, when it has failed: whether the next one may be better. */
typedef struct link_try {
    bool connected, busy;
    bool declined; /* the family that was tried is not that of the server */
} link_try;

static muster_status link_try_open(tcp_client *client, tcp_link *link, protocol_family family,
                                   bool retry, deadline end, deadline answer_end, link_try *one)
{
    *one = (link_try){false, false, false};
    link->from = link->to = 0;
    link->patience_ms = 0;
    muster_status status = socket_connect(client->addresses, client->num_addresses, retry, end,
                                          client->name, &link->fd);
    if (status != MUSTER_OK)
        return status;
    one->connected = true;
    if (!client->reached) /* only the first connection, which no other thread sees, sets it */
        client->reached = true;
    status = socket_block(link->fd);
    if (status == MUSTER_OK)
        status = tcp_client_prove(client, link, end, &one->busy);
    if (status == MUSTER_OK) {
        tcp_reply reply;
        status = tcp_greeting_make(client, link->fd, family, answer_end, &reply);
        status = tcp_client_refused(client, reply.bytes, reply.size, status);
        one->declined = reply.declined;
    }
    if (status != MUSTER_OK)
        close(link->fd);
    return status;
}

/* Finds out which family the server speaks, from the newest to the oldest, where that is not known
 * yet. Each question has but a part of the time, since a server that is just being started may
 * never answer the first one. */
static muster_status link_find(tcp_client *client, tcp_link *link, bool retry, deadline end,
                               int64_t answer_ms, link_try *one)
{
    if (client->family != PROTOCOL_NUM_FAMILIES)
        return link_try_open(client, link, client->family, retry, end, end, one);
    muster_status status = MUSTER_ERR_PEER_LOST;
    *one = (link_try){.declined = true};
    for (int left = PROTOCOL_NUM_FAMILIES; left > 0 && one->declined; left--) {
        protocol_family family = (protocol_family)(left - 1);
        deadline answer_end = deadline_in(answer_ms);
        status = link_try_open(client, link, family, retry, end,
                               answer_end.at_ns < end.at_ns ? answer_end : end, one);
        if (status == MUSTER_OK)
            client->family = family;
    }
    return status;
}

static muster_status link_open(tcp_client *client, bool retry, deadline end, tcp_link **link)
{
    tcp_link *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a connection");
    muster_status status;
    int closed = 0, delay_ms = 1; /* closed: at the first word, time after time */
    bool crowded = false;
    link_try one;
    for (int64_t answer_ms = FIRST_ANSWER_MS;; answer_ms *= 2) {
        status = link_find(client, made, retry, end, answer_ms, &one);
        if (status == MUSTER_OK) {
            *link = made;
            return MUSTER_OK;
        }
        crowded = one.busy || (crowded && status == MUSTER_ERR_TIMEOUT);
        closed = one.busy ? 0 : closed + (one.connected && status == MUSTER_ERR_PEER_LOST);
        bool hopeless = client->secret.set && closed >= MOST_CLOSED;
        bool in_vain =
            status == MUSTER_ERR_PEER_LOST || (status == MUSTER_ERR_TIMEOUT && one.connected);
        if (!in_vain || hopeless || !(retry || one.busy))
            break;
        socket_back_off(&delay_ms, end);
        if (deadline_left_ms(end) == 0)
            break; /* a try without time would only hide what the last one found */
    }
    free(made);
    if (crowded)
        return tcp_client_crowded(client);
    if (!retry || closed == 0 || (status != MUSTER_ERR_PEER_LOST && status != MUSTER_ERR_TIMEOUT))
        return status;
    return client->secret.set ? tcp_client_unproved(client) : tcp_greeting_closed(client);
}

/* ---- The pool ------------------------------------------------------------------------------ */

static void links_close(tcp_client *client)
{
    while (client->links != NULL) {
        tcp_link *link = client->links;
        client->links = link->next;
        close(link->fd);
        free(link);
    }
}

/* In a forked child: the connections are the parent's, which goes on using them, and the lock may
 * have been held by a thread that is not here. */
static void pool_enter(tcp_client *client)
{
    static pthread_mutex_t forked = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load(&client->process) != getpid()) {
        pthread_mutex_lock(&forked);
        if (atomic_load(&client->process) != getpid()) {
            pthread_mutex_init(&client->lock, NULL);
            links_close(client);
            client->own_server = false;
            atomic_store(&client->process, getpid());
        }
        pthread_mutex_unlock(&forked);
    }
    pthread_mutex_lock(&client->lock);
}

static void pool_leave(tcp_client *client)
{
    pthread_mutex_unlock(&client->lock);
}

static void pool_add(tcp_client *client, tcp_link *link)
{
    pool_enter(client);
    link->busy = true;
    link->next = client->links;
    client->links = link;
    pool_leave(client);
}

muster_status tcp_client_take(tcp_client *client, deadline end, tcp_link **link)
{
    pool_enter(client);
    tcp_link *idle = client->links;
    while (idle != NULL && idle->busy)
        idle = idle->next;
    if (idle != NULL)
        idle->busy = true;
    pool_leave(client);
    if (idle != NULL) {
        *link = idle;
        return MUSTER_OK;
    }
    muster_status status = link_open(client, false, end, link);
    if (status == MUSTER_OK)
        pool_add(client, *link);
    return status;
}

void tcp_client_give(tcp_client *client, tcp_link *link, bool in_step)
{
    pool_enter(client);
    link->busy = false;
    if (!in_step || link->from != link->to) {
        tcp_link **at = &client->links;
        while (*at != link)
            at = &(*at)->next;
        *at = link->next;
        close(link->fd);
        free(link);
    }
    pool_leave(client);
}

int tcp_client_count(tcp_client *client)
{
    int count = 0;
    pool_enter(client);
    for (const tcp_link *link = client->links; link != NULL; link = link->next)
        count++;
    pool_leave(client);
    return count;
}

muster_status tcp_client_open(tcp_client *client, const char *name, socket_address *addresses,
                              size_t num_addresses, int64_t timeout_ms, deadline end,
                              bool own_server, const job_secret *secret)
{
    *client = (tcp_client){.name = name,
                           .addresses = addresses,
                           .num_addresses = num_addresses,
                           .timeout_ms = timeout_ms,
                           .own_server = own_server,
                           .secret = *secret};
    muster_status status = tcp_greeting_read_family(&client->family);
    if (status != MUSTER_OK)
        return status;
    if (client->secret.set)
        client->family = PROTOCOL_2_2; /* no store of torch knows secrets */
    atomic_store(&client->process, getpid());
    pthread_mutex_init(&client->lock, NULL);
    tcp_link *link;
    status = link_open(client, true, end, &link);
    if (status != MUSTER_OK) {
        pthread_mutex_destroy(&client->lock);
        return status;
    }
    client->greeted = true;
    log_line(MUSTER_LOG_INFO, "%s: connected, it speaks as %s", name,
             protocol_family_name(client->family));
    socket_local_address(link->fd, &client->local);
    pool_add(client, link);
    tcp_client_give(client, link, true);
    return MUSTER_OK;
}

/* So that a server of this process has forgotten the connection before it is asked whether anybody
 * is still there. */
static void say_farewell(const tcp_link *link, deadline end)
{
    char rest[256];
    size_t got;
    if (shutdown(link->fd, SHUT_WR) == 0)
        while (socket_receive(link->fd, rest, sizeof(rest), end, &got) == MUSTER_OK)
            continue;
}

void tcp_client_close(tcp_client *client)
{
    deadline end = deadline_in(FAREWELL_MS);
    pool_enter(client);
    for (const tcp_link *link = client->links; client->own_server && link != NULL;
         link = link->next)
        say_farewell(link, end);
    links_close(client);
    pool_leave(client);
    pthread_mutex_destroy(&client->lock);
    job_secret_forget(&client->secret);
    free(client->addresses);
}
