/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of the tcp store share.
 */
#include "config.h"
#include "store_peers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store_conformance.h"
#include "tap.h"
#include "tcp_store/tcp_loop.h"

muster_tcp_store_args peer_args(const char *host, int port, bool listens)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = host;
    args.port = port;
    args.listen = listens;
    args.timeout_ms = 10000;
    return args;
}

static muster_store *open_store(int port, bool listens)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", port, listens);
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return store;
}

muster_store *peer_host(void)
{
    return open_store(0, true);
}

muster_store *peer_client(int port)
{
    return open_store(port, false);
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

int peer_connect(int port)
{
    struct sockaddr_in at = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
        bail_out("no connection to port %d", port);
    return fd;
}

int peer_greet(int port)
{
    char echo[4];
    int fd = peer_connect(port);
    if (send(fd, "\0\xce\xf7\x85\x3c\x0d\x01\x02\x03\x04", 10, MSG_NOSIGNAL) != 10 ||
        recv(fd, echo, 4, MSG_WAITALL) != 4 || memcmp(echo, "\x01\x02\x03\x04", 4) != 0)
        bail_out("the server on port %d did not answer the greeting", port);
    return fd;
}

bool peer_closes(int fd, int ms)
{
    char bytes[4096];
    struct pollfd one = {fd, POLLIN, 0};
    while (poll(&one, 1, ms) == 1)
        if (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0)
            return true;
    return false;
}

/* ---- Peers that are no stores -------------------------------------------------------------- */

struct peer_server {
    int listen_fd, port;
    const char *bytes;
    size_t size;
    bool closes;
    pthread_t thread;
};

static void *serve_all(void *argument)
{
    peer_server *server = argument;
    int clients[64], num_clients = 0;
    while (num_clients < 64) {
        int fd = accept(server->listen_fd, NULL, NULL);
        if (fd < 0)
            break;
        if (server->size > 0)
            send(fd, server->bytes, server->size, MSG_NOSIGNAL);
        if (server->closes)
            close(fd);
        else
            clients[num_clients++] = fd;
    }
    while (num_clients > 0)
        close(clients[--num_clients]);
    return NULL;
}

peer_server *peer_server_start(const char *bytes, size_t size, bool closes)
{
    struct sockaddr_in at = loopback(0);
    socklen_t length = sizeof(at);
    peer_server *server = calloc(1, sizeof(*server));
    *server = (peer_server){.bytes = bytes, .size = size, .closes = closes};
    server->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server->listen_fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(server->listen_fd, 8) != 0 ||
        getsockname(server->listen_fd, (struct sockaddr *)&at, &length) != 0 ||
        pthread_create(&server->thread, NULL, serve_all, server) != 0)
        bail_out("no server for the test");
    server->port = ntohs(at.sin_port);
    return server;
}

int peer_server_port(const peer_server *server)
{
    return server->port;
}

void peer_server_stop(peer_server *server)
{
    shutdown(server->listen_fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->listen_fd);
    free(server);
}

/* ---- A loop by itself ----------------------------------------------------------------------- */

struct peer_loop {
    tcp_loop loop;
    pthread_t thread;
    int port;
};

static enum tcp_loop_verdict end_when_asked(void *owner, size_t num_connections)
{
    (void)owner;
    (void)num_connections;
    return TCP_LOOP_END;
}

static void *run_loop(void *one)
{
    tcp_loop_run(&((peer_loop *)one)->loop);
    return NULL;
}

peer_loop *peer_loop_start(int ms, int *silent_ms)
{
    peer_loop *one = calloc(1, sizeof(*one));
    socket_address *addresses = NULL, at;
    size_t num;
    int listen_fd;
    if (one == NULL || socket_resolve("127.0.0.1", 0, &addresses, &num) != MUSTER_OK ||
        socket_listen(&addresses[0], &listen_fd) != MUSTER_OK ||
        !socket_local_address(listen_fd, &at) ||
        tcp_loop_open(&one->loop, &listen_fd, 1) != MUSTER_OK)
        bail_out("no loop: %s", muster_last_error());
    free(addresses);
    one->port = socket_address_port(&at);
    *silent_ms = one->loop.silent_ms;
    one->loop.silent_ms = ms;
    one->loop.settle = end_when_asked;
    if (pthread_create(&one->thread, NULL, run_loop, one) != 0)
        bail_out("no thread");
    return one;
}

int peer_loop_port(const peer_loop *one)
{
    return one->port;
}

void peer_loop_stop(peer_loop *one)
{
    tcp_loop_wake(&one->loop);
    pthread_join(one->thread, NULL);
    tcp_loop_close(&one->loop);
    free(one);
}

/* ---- Counts -------------------------------------------------------------------------------- */

static int count_entries(const char *folder)
{
    int count = 0;
    DIR *entries = opendir(folder);
    while (entries != NULL && readdir(entries) != NULL)
        count++;
    if (entries != NULL)
        closedir(entries);
    return count;
}

int count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

int count_threads(void)
{
    return count_entries("/proc/self/task");
}

bool counts_return_to(int descriptors, int threads)
{
    for (int i = 0; i < 100; i++) {
        if (count_descriptors() == descriptors && count_threads() == threads)
            return true;
        pause_ms(10);
    }
    diag("%d descriptors, %d threads; were %d, %d", count_descriptors(), count_threads(),
         descriptors, threads);
    return false;
}
