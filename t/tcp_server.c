/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The server of tcp stores: where it listens, who shares it, when it ends, and strangers.
 */
#include "config.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks_port.h"
#include "store/store.h"
#include "store_conformance.h"
#include "store_peers.h"
#include "tap.h"
#include "tcp_store/tcp_loop.h"
#include "tcp_store/tcp_server.h"

/* Whether the kernel's table has a listener with this address and port, both in hex. */
static bool listens_at(const char *table, const char *address, int port)
{
    char line[512], wanted[64];
    bool found = false;
    FILE *lines = fopen(table, "r");
    snprintf(wanted, sizeof(wanted), " %s:%04X ", address, port);
    while (lines != NULL && !found && fgets(line, sizeof(line), lines) != NULL)
        found = strstr(line, wanted) != NULL && strstr(line, " 0A ") != NULL;
    if (lines != NULL)
        fclose(lines);
    return found;
}

/* user case 56: exactly the address that was asked for. */
static void listening(void)
{
    muster_store *store = peer_host(), *any = NULL, *v6 = NULL;
    int port = muster_store_port(store);
    char address[64] = "";
    ok(listens_at("/proc/net/tcp", "0100007F", port), "it listens on 127.0.0.1");
    ok(!listens_at("/proc/net/tcp", "00000000", port) &&
           !listens_at("/proc/net/tcp6", "00000000000000000000000000000000", port),
       "and not on the wildcard");
    ok(store_local_address(store, address, sizeof(address)), "a client has an address");
    is_str(address, "127.0.0.1", "of its own");
    ok(!store_local_address(store, address, 5), "which needs room");
    muster_store_free(store);

    muster_tcp_store_args args = peer_args("0.0.0.0", 0, true);
    is_int(muster_store_tcp(&any, &args), MUSTER_OK, "the wildcard on request");
    ok(listens_at("/proc/net/tcp", "00000000", muster_store_port(any)), "is that");
    muster_store_free(any);

    args = peer_args("::1", 0, true);
    if (muster_store_tcp(&v6, &args) != MUSTER_OK) {
        skip(2, "no IPv6 on this host: %s", muster_last_error());
        return;
    }
    ok(listens_at("/proc/net/tcp6", "00000000000000000000000001000000", muster_store_port(v6)),
       "::1 is ::1");
    has_str(store_describe(v6), "tcp store [::1]:", "and is shown with brackets");
    muster_store_free(v6);
}

/* user case 1: a port that is taken, an address of somebody else, a socket handed over. */
static void ports(void)
{
    muster_store *store = peer_host(), *other = NULL;
    muster_tcp_store_args args = peer_args("192.0.2.1", 0, true);
    is_int(muster_store_tcp(&other, &args), MUSTER_ERR_SYSTEM, "an address of somebody else");
    has_str(muster_last_error(), "192.0.2.1", "is named");
    has_str(muster_last_error(), "127.0.0.1", "with those that this host has");

    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof(at);
    char port_text[32];
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bind(fd, (struct sockaddr *)&at, sizeof(at));
    getsockname(fd, (struct sockaddr *)&at, &size);
    args = peer_args("127.0.0.1", 0, false);
    args.listen_fd = fd;
    is_int(muster_store_tcp(&other, &args), MUSTER_ERR_ARGUMENT, "a socket that does not listen");
    listen(fd, 1);
    snprintf(port_text, sizeof(port_text), "127.0.0.1:%d", ntohs(at.sin_port));
    args = peer_args("127.0.0.1", ntohs(at.sin_port), true);
    is_int(muster_store_tcp(&other, &args), MUSTER_ERR_SYSTEM, "a port that somebody has");
    has_str(muster_last_error(), port_text, "is named");
    args = peer_args(NULL, 0, false);
    args.listen_fd = fd;
    is_int(muster_store_tcp(&other, &args), MUSTER_OK, "a socket that listens is taken over");
    is_int(muster_store_port(other), ntohs(at.sin_port), "with its port");
    has_str(store_describe(other), port_text, "and its address");
    muster_store *client = peer_client(ntohs(at.sin_port));
    ok(muster_store_set(client, muster_str("k"), muster_str("v")) == MUSTER_OK, "and serves");
    muster_store_free(client);
    muster_store_free(other);
    ok(fcntl(fd, F_GETFD) < 0, "it is closed at the end");
    muster_store_free(store);
}

static void life(void)
{
    int descriptors = count_descriptors(), threads = count_threads();
    muster_store *one = peer_host(), *two = NULL;
    int port = muster_store_port(one);
    muster_tcp_store_args args = peer_args("127.0.0.1", port, true);
    is_int(muster_store_tcp(&two, &args), MUSTER_OK, "a second store shares the server");
    is_int(tcp_server_count(), 1, "which is one");
    muster_store_set(one, muster_str("k"), muster_str("v"));
    muster_store_free(one);
    ok(store_holds(two, "k", muster_str("v")), "and lives with the second store");
    muster_store_free(two);
    is_int(tcp_server_count(), 0, "it ends with its last store");
    ok(count_descriptors() == descriptors && count_threads() == threads,
       "at once, with nothing left");

    one = peer_host();
    port = muster_store_port(one);
    args.port = port;
    muster_store *client = peer_client(port);
    long long start = now_ms();
    muster_store_set(one, muster_str("k"), muster_str("v"));
    muster_store_free(one);
    ok(now_ms() - start < patient(500), "freeing does not wait for clients");
    ok(store_holds(client, "k", muster_str("v")), "who go on");
    is_int(muster_store_tcp(&two, &args), MUSTER_OK, "a server that was left is taken up again");
    ok(store_holds(two, "k", muster_str("v")), "with what it has");
    muster_store_free(two);
    is_int(tcp_server_count(), 1, "and is left again");
    muster_store_free(client);
    ok(counts_return_to(descriptors, threads), "it ends with its last client");
    is_int(tcp_server_count(), 0, "and is forgotten");

    for (int i = 0; i < 50; i++) {
        one = peer_host();
        two = peer_client(muster_store_port(one));
        muster_store_free(i % 2 == 0 ? one : two);
        muster_store_free(i % 2 == 0 ? two : one);
    }
    ok(counts_return_to(descriptors, threads), "50 servers leave nothing behind");
}

/* What went wrong, or NULL. */
static void *open_and_free(void *port)
{
    muster_tcp_store_args args = peer_args("127.0.0.1", *(int *)port, true);
    for (int i = 0; i < 200; i++) {
        muster_store *store = NULL;
        if (muster_store_tcp(&store, &args) != MUSTER_OK)
            return strdup(muster_last_error());
        muster_store_free(store);
    }
    return NULL;
}

static void shared_by_threads(void)
{
    pthread_t threads[4];
    /* The port is left and taken up again; meanwhile it must not become somebody else's. */
    struct port port = port_reserve();
    int right = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, open_and_free, &port.number);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        right += wrong == NULL;
        if (wrong != NULL)
            diag("%s", (char *)wrong);
        free(wrong);
    }
    is_int(right, 4, "threads open and free stores on one port");
    port_free(&port);
}

/* user case 58: strangers neither harm nor delay clients. */
static void strangers(void)
{
    enum { SILENT = 50, HASTY = 1000, NOISE = 1 << 20 };
    muster_store *store = peer_host();
    int port = muster_store_port(store), silent[SILENT], descriptors = count_descriptors();
    for (int i = 0; i < SILENT; i++)
        silent[i] = peer_connect(port);
    for (int i = 0; i < HASTY; i++)
        close(peer_connect(port));
    char *noise = malloc(NOISE);
    unsigned seed = 7;
    for (int i = 0; i < NOISE; i++)
        noise[i] = (char)((seed = seed * 1103515245u + 12345u) >> 16);
    noise[0] = 'x';
    int fd = peer_connect(port);
    for (int sent = 0; sent < NOISE;) {
        ssize_t now = send(fd, noise + sent, (size_t)(NOISE - sent), MSG_NOSIGNAL);
        sent = now < 0 ? NOISE : sent + (int)now;
    }
    ok(peer_closes(fd, 2000), "noise is cut off");
    close(fd);
    free(noise);
    fd = peer_connect(port);
    send(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27, MSG_NOSIGNAL);
    ok(peer_closes(fd, 2000), "so is who asks for a web page");
    close(fd);
    fd = peer_greet(port);
    send(fd, "\x01\0\0\0\0\0\0\0\x80", 9, MSG_NOSIGNAL);
    ok(peer_closes(fd, 2000), "and an absurd length");
    close(fd);
    fd = peer_greet(port);
    send(fd, "\x01\x02\0\0\0\0\0\0\0/k\x01", 12, MSG_NOSIGNAL);
    long long start = now_ms();
    muster_store *client = peer_client(port);
    ok(muster_store_set(client, muster_str("k"), muster_str("v")) == MUSTER_OK &&
           store_holds(client, "k", muster_str("v")),
       "clients work meanwhile, half a message of somebody else does not count");
    ok(now_ms() - start < patient(1000), "without delay");
    close(fd);
    muster_store_free(client);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    ok(counts_return_to(descriptors, count_threads()), "all are forgotten");
    muster_store_free(store);
}

/* Messages byte by byte, and cut anywhere. */
static void pieces(void)
{
    static const char message[] = "\0\xce\xf7\x85\x3c\x01\x02\0\0\0\0\0\0\0/p\x01\0\0\0\0\0\0\0v"
                                  "\x07";
    muster_store *store = peer_host();
    int port = muster_store_port(store);
    char answer[8];
    int fd = peer_connect(port), on = 1;
    setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof(on));
    for (size_t i = 0; i < sizeof(message) - 1; i++) {
        send(fd, message + i, 1, MSG_NOSIGNAL);
        pause_ms(1);
    }
    ok(recv(fd, answer, 8, MSG_WAITALL) == 8, "a message that comes byte by byte is answered");
    close(fd);
    for (size_t cut = 1; cut < sizeof(message) - 1; cut++) {
        fd = peer_connect(port);
        send(fd, message, cut, MSG_NOSIGNAL);
        close(fd);
    }
    ok(store_holds(store, "p", muster_str("v")), "messages cut anywhere do no harm");
    muster_store_free(store);
}

/* The loop by itself, with less patience than it usually has. */
static void silence(void)
{
    int silent_ms;
    peer_loop *loop = peer_loop_start(200, &silent_ms);
    int port = peer_loop_port(loop);
    is_int(silent_ms, 10000, "a loop is patient with who is silent");
    int known = peer_greet(port), silent = peer_connect(port);
    long long start = now_ms();
    ok(peer_closes(silent, 2000), "who says nothing is cut off");
    ok(now_ms() - start >= 190 && now_ms() - start < patient(1000), "after a while");
    ok(!peer_closes(known, 300), "a client may be silent for ever");
    close(silent);
    peer_loop_stop(loop);
    ok(peer_closes(known, 1000), "until the loop is closed");
    close(known);
}

/* When no descriptor is left the server must neither spin nor stop. */
static void no_descriptors(void)
{
    enum { MOST = 64 };
    struct rlimit before, few;
    struct rusage start, end;
    muster_store *store = peer_host();
    int port = muster_store_port(store), pile[MOST], num = 0, fd = peer_connect(port);
    close(fd);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = MOST;
    setrlimit(RLIMIT_NOFILE, &few);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    while (num < MOST && (pile[num] = dup(0)) >= 0)
        num++;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    getrusage(RUSAGE_SELF, &start);
    is_int(connect(client, (struct sockaddr *)&at, sizeof(at)), 0, "the kernel takes a client");
    pause_ms(400);
    getrusage(RUSAGE_SELF, &end);
    long used_ms = (end.ru_utime.tv_sec - start.ru_utime.tv_sec) * 1000 +
                   (end.ru_utime.tv_usec - start.ru_utime.tv_usec) / 1000 +
                   (end.ru_stime.tv_sec - start.ru_stime.tv_sec) * 1000 +
                   (end.ru_stime.tv_usec - start.ru_stime.tv_usec) / 1000;
    ok(used_ms < patient(100), "no descriptor is left and the server does not spin: %ld ms",
       used_ms);
    while (num > 0)
        close(pile[--num]);
    setrlimit(RLIMIT_NOFILE, &before);
    char echo[4];
    send(client, "\0\xce\xf7\x85\x3c\x0d\x01\x02\x03\x04", 10, MSG_NOSIGNAL);
    ok(recv(client, echo, 4, MSG_WAITALL) == 4, "the client is served when there is one again");
    close(client);
    muster_store_free(store);
}

/* The server's thread takes no signals, and a forked child neither keeps the port nor the clients.
 */
static void forks(void)
{
    int descriptors = count_descriptors(), status = 1;
    muster_store *store = peer_host();
    int port = muster_store_port(store), fd = peer_greet(port);
#ifdef __SANITIZE_THREAD__
    close(fd);
    muster_store_free(store);
    skip(3, "the thread sanitizer takes no threads after a fork");
    return;
#endif
    pid_t child = fork();
    if (child == 0) {
        close(fd);
        muster_store_free(store); /* frees memory, sends nothing */
        bool gone = tcp_server_count() == 0;
        muster_store *own = peer_host();
        gone = gone && muster_store_set(own, muster_str("k"), muster_str("v")) == MUSTER_OK;
        muster_store_free(own);
        _exit(gone && count_descriptors() == descriptors ? 0 : 1);
    }
    waitpid(child, &status, 0);
    is_int(status, 0, "a child frees its parent's store and makes its own");
    ok(muster_store_set(store, muster_str("k"), muster_str("v")) == MUSTER_OK,
       "the parent's goes on");
    child = fork();
    if (child == 0) {
        close(fd);
        pause_ms(1500);
        _exit(0);
    }
    close(fd);
    muster_store_free(store);
    muster_tcp_store_args args = peer_args("127.0.0.1", port, true);
    is_int(muster_store_tcp(&store, &args), MUSTER_OK, "a child does not keep the port taken");
    muster_store_free(store);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

int main(void)
{
    plan(53);
    listening();
    ports();
    life();
    shared_by_threads();
    strangers();
    pieces();
    silence();
    no_descriptors();
    forks();
    return done();
}
