/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The families of torch's protocol over sockets: how the client finds out which one a server
 * speaks, every operation in each of them, and what the server does with the connections of older
 * clients. t/store_torch.c has the real ones.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store_conformance.h"
#include "store_peers.h"
#include "tcp_store/store_tcp.h"
#include "tap.h"
#include "tcp_store/tcp_loop.h"

/* ---- A server that follows a script --------------------------------------------------------- */

/* What one connection brings after the other: so many bytes, and then an answer, or the end where
 * that has no bytes, or nothing where there is none. */
typedef struct line {
    size_t wanted;
    const char *answer;
    size_t size;
} line;

typedef struct script {
    const line *lines;
    int num, listen_fd, port;
    pthread_t thread;
    char heard[8][16];
} script;

static void *script_run(void *argument)
{
    script *one = argument;
    int last = -1;
    for (int i = 0; i < one->num; i++) {
        int fd = accept(one->listen_fd, NULL, NULL);
        ssize_t got = recv(fd, one->heard[i], one->lines[i].wanted, MSG_WAITALL);
        if (one->lines[i].answer == NULL && peer_closes(fd, 10000))
            close(fd);
        else if (got != (ssize_t)one->lines[i].wanted || one->lines[i].size == 0)
            close(fd);
        else {
            send(fd, one->lines[i].answer, one->lines[i].size, MSG_NOSIGNAL);
            last = fd;
        }
    }
    /* The client counts itself over the last one, and asks for a key that only muster has. */
    char bytes[22 + 29];
    if (last >= 0 && recv(last, bytes, sizeof(bytes), MSG_WAITALL) == (ssize_t)sizeof(bytes))
        send(last, "\x02\0\0\0\0\0\0\0\x01", 9, MSG_NOSIGNAL);
    if (last >= 0)
        peer_closes(last, 5000);
    close(last);
    return NULL;
}

static script script_start(const line *lines, int num)
{
    script one = {.lines = lines, .num = num};
    socket_address at, *addresses;
    size_t count;
    socket_resolve("127.0.0.1", 0, &addresses, &count);
    at = addresses[0];
    free(addresses);
    one.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(one.listen_fd, (struct sockaddr *)&at.at, at.size) != 0 ||
        listen(one.listen_fd, 8) != 0 || !socket_local_address(one.listen_fd, &at))
        bail_out("no server for the test");
    one.port = socket_address_port(&at);
    return one;
}

#define COUNT "\x01\0\0\0\0\0\0\0"
static const line old_1_13[] = {{9, "", 0}, {1, "", 0}, {1, COUNT, 8}};
static const line old_2_1[] = {{9, "", 0}, {1, "\x01", 1}};
static const line present[] = {{9, COUNT COUNT COUNT COUNT, 32}};
static const line slow[] = {{9, NULL, 0}, {9, COUNT COUNT COUNT COUNT, 32}};

static void finds(const line *lines, int num, protocol_family family)
{
    script one = script_start(lines, num);
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", one.port, false);
    pthread_create(&one.thread, NULL, script_run, &one);
    is_int(muster_store_tcp(&store, &args), MUSTER_OK, "a server as of %s",
           protocol_family_name(family));
    if (store == NULL)
        bail_out("%s", muster_last_error());
    is_int(((tcp_store *)store)->client.family, family, "is found to be one");
    muster_store_free(store);
    pthread_join(one.thread, NULL);
    close(one.listen_fd);
    ok(memcmp(one.heard[0], "\0\xce\xf7\x85\x3c\7\7\7\7", 9) == 0 &&
           (num < 2 || one.heard[1][0] == 11 || lines == slow) && (num < 3 || one.heard[2][0] == 6),
       "by questions that do no harm");
}

/* The user says which, and only that one is asked for. */
static void told(const line *lines, protocol_family family, const char *version)
{
    script one = script_start(lines, 1);
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", one.port, false);
    setenv("MUSTER_STORE_FAMILY", version, 1);
    pthread_create(&one.thread, NULL, script_run, &one);
    is_int(muster_store_tcp(&store, &args), MUSTER_OK, "MUSTER_STORE_FAMILY=%s", version);
    ok(store != NULL && ((tcp_store *)store)->client.family == family, "is believed");
    muster_store_free(store);
    pthread_join(one.thread, NULL);
    close(one.listen_fd);
    unsetenv("MUSTER_STORE_FAMILY");
}

static void not_told(const char *text)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", 1, false);
    setenv("MUSTER_STORE_FAMILY", text, 1);
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "MUSTER_STORE_FAMILY=%s", text);
    has_str(muster_last_error(), text, "is quoted");
    unsetenv("MUSTER_STORE_FAMILY");
}

/* What was answered is told, with where. */
static void stranger(const char *bytes, size_t size, const char *shown)
{
    const line says = {9, bytes, size};
    char where[32];
    script one = script_start(&says, 1);
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", one.port, false);
    snprintf(where, sizeof(where), "127.0.0.1:%d", one.port);
    pthread_create(&one.thread, NULL, script_run, &one);
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_PROTOCOL, "%s", shown);
    has_str(muster_last_error(), shown, "is told");
    has_str(muster_last_error(), where, "with its address");
    pthread_join(one.thread, NULL);
    close(one.listen_fd);
}

/* ---- Every operation, in the words of each family -------------------------------------------- */

static void conformance(const char *version)
{
    char kind[32];
    snprintf(kind, sizeof(kind), "tcp as of %s", version);
    setenv("MUSTER_STORE_FAMILY", version, 1);
    muster_store *store = peer_host(), *other = peer_client(muster_store_port(store));
    store_conformance(store, other, kind);
    muster_store_free(other);
    muster_store_free(store);
    unsetenv("MUSTER_STORE_FAMILY");
}

/* 1.13 answers a wait that was given up whenever the keys come: over a connection that must not be
 * used any more. And many values are had without MULTI_GET. */
static void old_ways(void)
{
    enum { KEYS = 3000 };
    static char names[KEYS][16];
    static muster_blob keys[KEYS];
    muster_blob never = muster_str("never"), *values = NULL;
    int64_t sum = 0;
    setenv("MUSTER_STORE_FAMILY", "1.13", 1);
    muster_store *store = peer_host();
    is_int(muster_store_wait(store, &never, 1, 50), MUSTER_ERR_TIMEOUT, "a wait in vain");
    muster_store_set(store, never, muster_str("x"));
    pause_ms(50);
    ok(muster_store_add(store, muster_str("n"), 7, &sum) == MUSTER_OK && sum == 7,
       "is not answered in place of something else");
    for (int i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof(names[i]), "key/%d", i);
        keys[i] = muster_str(names[i]);
    }
    bool right = muster_store_multi_set(store, keys, keys, KEYS) == MUSTER_OK &&
                 muster_store_multi_get(store, keys, KEYS, 1000, &values) == MUSTER_OK;
    for (int i = 0; right && i < KEYS; i++)
        right = values[i].size == keys[i].size &&
                memcmp(values[i].data, keys[i].data, keys[i].size) == 0;
    ok(right, "%d keys at once", KEYS);
    muster_free(values);
    muster_store_free(store);
    unsetenv("MUSTER_STORE_FAMILY");
}

/* ---- The server and the connections of older clients ----------------------------------------- */

/* Whether a connection is answered by these bytes. */
static bool answers(int fd, const char *query, size_t size, const char *expected,
                    size_t expected_size)
{
    char bytes[16];
    return send(fd, query, size, MSG_NOSIGNAL) == (ssize_t)size &&
           recv(fd, bytes, expected_size, MSG_WAITALL) == (ssize_t)expected_size &&
           memcmp(bytes, expected, expected_size) == 0;
}

#define DELETE_K "\x08\x02\0\0\0\0\0\0\0/k", 11
#define SET_K "\0\x02\0\0\0\0\0\0\0/k\x01\0\0\0\0\0\0\0v\x06", 21

static void second_connections(void)
{
    int silent_ms;
    peer_loop *loop = peer_loop_start(200, &silent_ms);
    int port = peer_loop_port(loop), client = peer_connect(port);
    ok(answers(client, SET_K, "\x01\0\0\0\0\0\0\0", 8), "a client of 1.13 or 2.1");
    int second = peer_connect(port), third = peer_connect(port);
    ok(peer_closes(third, 2000), "of two silent ones one is cut off");
    ok(!peer_closes(second, 300), "the other is the client's second connection");
    ok(answers(second, "\x07\x02\0\0\0\0\0\0\0/k", 11, "\3", 1), "over which it watches a key");
    ok(answers(client, SET_K, "\x01\0\0\0\0\0\0\0", 8), "that changes");
    ok(answers(second, "", 0, "\0\x02\0\0\0\0\0\0\0/k", 11), "which it is told there");
    long long start = now_ms();
    ok(answers(client, DELETE_K, "\x01\0\0\0\0\0\0\0", 8), "it deletes a key");
    ok(now_ms() - start >= TCP_LOOP_PUZZLE_MS, "which might become an APPEND for a moment");
    start = now_ms();
    ok(answers(client, DELETE_K, "\0\0\0\0\0\0\0\0", 8) && now_ms() - start < patient(200),
       "but not again");
    close(client);
    close(second);
    close(third);
    peer_loop_stop(loop);
}

int main(void)
{
    plan(4 * 3 + 4 * 2 + 4 * 2 + 3 * 3 + 2 * STORE_CONFORMANCE_POINTS + 3 + 9);
    finds(old_1_13, 3, PROTOCOL_1_13);
    finds(old_2_1, 2, PROTOCOL_2_1);
    finds(present, 1, PROTOCOL_2_2);
    finds(slow, 2, PROTOCOL_2_2); /* as one that is asked before it is quite there */
    told(old_1_13 + 2, PROTOCOL_1_13, "1.13");
    told(old_1_13 + 2, PROTOCOL_1_13, "2.0");
    told(old_2_1 + 1, PROTOCOL_2_1, "2.1.2+cu121");
    told(present, PROTOCOL_2_2, "2.15");
    not_told("new");
    not_told("2");
    not_told("2.x");
    not_told("-1.13");
    stranger("SSH-2.0-OpenSSH_9.2\r\n", 21, "'SSH-2.0-OpenSSH_' and more");
    stranger("HTTP/1.0 400 Bad Request\r\n", 26, "'HTTP/1.0 400 Bad' and more");
    stranger("\xff\xff\xff\xff\xff\xff\xff\xff", 8, "'\\xff\\xff");
    conformance("1.13");
    conformance("2.1");
    old_ways();
    second_connections();
    return done();
}
