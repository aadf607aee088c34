/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a tcp store: its arguments, its server where it is to have one, its first connection.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "tcp_store/store_tcp.h"

/* The size of the arguments' first version, and more than any later one can have. */
enum {
    FIRST_SIZE = offsetof(muster_tcp_store_args, timeout_ms) + sizeof(int64_t),
    ABSURD_SIZE = 4096
};

/* Takes what the caller's header knew; what this library does not know must not be set. */
static muster_status take_args(muster_tcp_store_args *taken, const muster_tcp_store_args *given)
{
    size_t size = given->struct_size;
    if (size < FIRST_SIZE || size > ABSURD_SIZE)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_store_tcp: struct_size is %zu, but should be %zu: start with "
                         "MUSTER_TCP_STORE_ARGS_INIT",
                         size, sizeof(*given));
    for (size_t i = sizeof(*given); i < size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return error_set(MUSTER_ERR_ARGUMENT,
                             "muster_store_tcp: an argument is set that this version of muster "
                             "(%d.%d.%d) does not know",
                             MUSTER_VERSION_MAJOR, MUSTER_VERSION_MINOR, MUSTER_VERSION_PATCH);
    *taken = (muster_tcp_store_args)MUSTER_TCP_STORE_ARGS_INIT;
    memcpy(taken, given, size < sizeof(*taken) ? size : sizeof(*taken));
    return MUSTER_OK;
}

static muster_status check_args(const muster_tcp_store_args *args)
{
    bool serves = args->listen || args->listen_fd >= 0;
    if (args->host == NULL && args->listen_fd < 0)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_tcp: host is NULL");
    if (args->host != NULL && args->host[0] == '\0')
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_tcp: host is empty");
    if (args->port < 0 || args->port > 65535)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_tcp: the port is %d, not 0 to 65535",
                         args->port);
    if (args->port == 0 && !serves)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_store_tcp: port 0 says where to listen, not where to connect to; "
                         "give the port of the store on host '%s'",
                         args->host);
    if (args->timeout_ms <= 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_store_tcp: the time-out is %" PRId64 " ms, but must be over 0",
                         args->timeout_ms);
    return MUSTER_OK;
}

/* "tcp store 192.0.2.1:80 of rank 0", with the host as the caller named it. */
static char *make_name(const char *host, int port, const char *whose)
{
    size_t size = strlen(host) + strlen(whose) + 32;
    char *name = malloc(size);
    if (name != NULL)
        snprintf(name, size,
                 strchr(host, ':') != NULL ? "tcp store [%s]:%d%s" : "tcp store %s:%d%s", host,
                 port, whose);
    return name;
}

static muster_status serve(tcp_store *tcp, const muster_tcp_store_args *args,
                           const job_secret *secret)
{
    /* A copy, so that the caller still has his own if this fails. */
    if (args->listen_fd >= 0) {
        int copy = fcntl(args->listen_fd, F_DUPFD_CLOEXEC, 0);
        if (copy < 0)
            return error_system("taking over listen_fd %d", args->listen_fd);
        muster_status status = tcp_server_adopt(&tcp->server, copy, secret);
        if (status != MUSTER_OK)
            close(copy);
        return status;
    }
    return args->listen ? tcp_server_open(&tcp->server, args->host, args->port, secret) : MUSTER_OK;
}

/* Where the client goes: to this process's server by the address that it really has. */
static muster_status find_server(tcp_store *tcp, const muster_tcp_store_args *args,
                                 const char *whose, deadline end, socket_address **addresses,
                                 size_t *num)
{
    char text[SOCKET_TEXT_SIZE];
    const char *host = args->host;
    tcp->port = args->port;
    if (tcp->server != NULL) {
        const socket_address *own = tcp_server_address(tcp->server);
        tcp->port = socket_address_port(own);
        if (host == NULL)
            host = socket_address_text(own, false, text);
        *addresses = malloc(sizeof(**addresses));
        if (*addresses == NULL)
            return error_no_memory(sizeof(**addresses), "an address");
        **addresses = socket_address_reachable(own);
        *num = 1;
    }
    tcp->name = make_name(host, tcp->port, whose);
    if (tcp->name == NULL)
        return error_no_memory(strlen(host), "a name");
    return tcp->server != NULL ? MUSTER_OK
                               : socket_resolve_until(host, tcp->port, end, addresses, num);
}

/* As torch's clients do, since a server of torch counts them; and asks what the server is. */
static muster_status announce(tcp_client *client)
{
    tcp_link *link;
    unsigned char answer[9];
    const muster_blob await_key = muster_str(PROTOCOL_AWAIT_KEY);
    buffer message = {0};
    deadline end = deadline_in(client->timeout_ms);
    protocol_put_query(&message, client->family, PROTOCOL_ADD);
    protocol_put_bytes(&message, muster_str("init/"));
    protocol_put_u64(&message, 1);
    protocol_put_query(&message, client->family, PROTOCOL_CHECK);
    protocol_put_u64(&message, 1);
    protocol_put_bytes(&message, await_key);
    muster_status status = tcp_client_take(client, end, &link);
    if (status == MUSTER_OK) {
        status = tcp_link_send(client, link, "ADD", &message, end);
        if (status == MUSTER_OK)
            status = tcp_link_read(client, link, "ADD", answer, sizeof(answer), end);
        tcp_client_give(client, link, status == MUSTER_OK);
    }
    client->knows_await = status == MUSTER_OK && answer[8] == PROTOCOL_READY &&
                          protocol_has(client->family, PROTOCOL_AWAIT);
    buffer_free(&message);
    return status;
}

static muster_status open_client(tcp_store *tcp, const muster_tcp_store_args *args,
                                 const char *whose, const job_secret *secret)
{
    socket_address *addresses = NULL;
    size_t num = 0;
    deadline end = deadline_in(args->timeout_ms);
    muster_status status = find_server(tcp, args, whose, end, &addresses, &num);
    if (status == MUSTER_OK)
        status = tcp_client_open(&tcp->client, tcp->name, addresses, num, args->timeout_ms, end,
                                 tcp->server != NULL, secret);
    if (status != MUSTER_OK) {
        free(addresses);
        return status;
    }
    status = announce(&tcp->client);
    if (status != MUSTER_OK)
        tcp_client_close(&tcp->client);
    return status;
}

muster_status store_tcp_open(muster_store **store, const muster_tcp_store_args *args,
                             const char *whose, bool *reached)
{
    muster_tcp_store_args taken;
    job_secret secret;
    if (reached != NULL)
        *reached = false;
    if (store == NULL || args == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_store_tcp: %s is NULL",
                         store == NULL ? "store" : "args");
    muster_status status = take_args(&taken, args);
    if (status == MUSTER_OK)
        status = check_args(&taken);
    if (status != MUSTER_OK)
        return status;
    tcp_store *tcp = calloc(1, sizeof(*tcp));
    if (tcp == NULL)
        return error_no_memory(sizeof(*tcp), "a tcp store");
    status = job_secret_read(&secret, taken.secret);
    if (status == MUSTER_OK)
        status = serve(tcp, &taken, &secret);
    if (status == MUSTER_OK)
        status = open_client(tcp, &taken, whose, &secret);
    job_secret_forget(&secret);
    if (reached != NULL)
        *reached = tcp->client.reached;
    if (status != MUSTER_OK) {
        if (tcp->server != NULL)
            tcp_server_release(tcp->server);
        free(tcp->name);
        free(tcp);
        return status;
    }
    if (taken.listen_fd >= 0)
        close(taken.listen_fd);
    store_init(&tcp->store, &store_tcp_ops);
    *store = &tcp->store;
    return MUSTER_OK;
}

muster_status muster_store_tcp(muster_store **store, const muster_tcp_store_args *args)
{
    error_kept before;
    error_keep(&before);
    return error_settle(&before, store_tcp_open(store, args, "", NULL));
}
