/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tcp store seen from its clients.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store.h"
#include "store_conformance.h"
#include "store_peers.h"
#include "tcp_store/store_tcp.h"
#include "tap.h"

/* A sanitizer has memory of its own for each thread. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MOST_KIB = 8192 };
#else
enum { MOST_KIB = 1024 };
#endif

static void bad_input(void)
{
    muster_store *store = NULL;
    muster_tcp_store_args good = peer_args("127.0.0.1", 1, false), args = good;
    struct {
        muster_tcp_store_args args;
        char later[16];
    } newer = {good, ""};
    is_int(muster_store_tcp(NULL, &good), MUSTER_ERR_ARGUMENT, "a place is needed");
    is_int(muster_store_tcp(&store, NULL), MUSTER_ERR_ARGUMENT, "arguments are needed");
    args.host = NULL;
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "a host is needed");
    args.host = "";
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "an empty one is none");
    args = peer_args("127.0.0.1", 65536, false);
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "a port over 65535");
    has_str(muster_last_error(), "65536", "is quoted");
    args.port = -1;
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "a negative port");
    args.port = 0;
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "no port to connect to");
    args = good;
    args.timeout_ms = 0;
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "no time");
    args = good;
    args.struct_size = 3;
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "no size");
    args.struct_size = 1 << 20;
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_ARGUMENT, "an absurd size");
    newer.args.struct_size = sizeof(newer);
    newer.later[5] = 1;
    is_int(muster_store_tcp(&store, &newer.args), MUSTER_ERR_ARGUMENT,
           "an argument of a later version that is set");
    newer.later[5] = 0;
    newer.args = peer_args("127.0.0.1", 0, true);
    newer.args.struct_size = sizeof(newer);
    is_int(muster_store_tcp(&store, &newer.args), MUSTER_OK, "and one that is not");
    muster_store_free(store);
    args = peer_args("no..such.host", 1, false);
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_NOT_FOUND, "a host that is none");
    has_str(muster_last_error(), "no..such.host", "is quoted");
    args = peer_args("127.0.0.1", 0, false);
    args.listen_fd = 0;
    is_int(muster_store_tcp(&store, &args) != MUSTER_OK, 1, "a descriptor that is no socket");
}

/* ---- user case 2: somebody else answers ----------------------------------------------------- */

static void stranger(peer_server *server, muster_status expected, bool in_full, const char *what)
{
    char where[32];
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", peer_server_port(server), false);
    args.timeout_ms = 600;
    snprintf(where, sizeof(where), "127.0.0.1:%d", args.port);
    long long start = now_ms();
    is_int(muster_store_tcp(&store, &args), expected, "%s is no store", what);
    long long took = now_ms() - start;
    ok(took < patient(800) && (!in_full || took >= 600), "which is found in time");
    has_str(muster_last_error(), where, "with its address");
    has_str(muster_last_error(), "does not answer as a store", "and said so");
    peer_server_stop(server);
}

static void strangers(void)
{
    char noise[64];
    struct rusage before, after;
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (char)(i * 37 + 11);
    getrusage(RUSAGE_SELF, &before);
    stranger(peer_server_start("", 0, false), MUSTER_ERR_TIMEOUT, true, "who is silent");
    stranger(peer_server_start(noise, sizeof(noise), false), MUSTER_ERR_PROTOCOL, false,
             "who sends noise");
    stranger(peer_server_start("HTTP/1.0 400 Bad Request\r\n\r\n", 28, true), MUSTER_ERR_PROTOCOL,
             false, "a web server");
    stranger(peer_server_start("", 0, true), MUSTER_ERR_PROTOCOL, true, "who closes at once");
    getrusage(RUSAGE_SELF, &after);
    ok(after.ru_maxrss - before.ru_maxrss < MOST_KIB, "strangers take no memory: %ld KiB",
       after.ru_maxrss - before.ru_maxrss);
}

/* A peer that greets as a store, counts, and then gives what it likes. */
typedef struct rigged {
    int listen_fd, port;
    pthread_t thread;
    const char *answer;
    size_t size;
} rigged;

static void *rigged_run(void *argument)
{
    rigged *peer = argument;
    char bytes[256], counts[32] = "";
    int fd = accept(peer->listen_fd, NULL, NULL);
    if (recv(fd, bytes, 9, MSG_WAITALL) == 9)
        send(fd, counts, sizeof(counts), MSG_NOSIGNAL);
    if (recv(fd, bytes, 51, MSG_WAITALL) == 51)
        send(fd, "\x01\0\0\0\0\0\0\0\x01", 9, MSG_NOSIGNAL);
    if (recv(fd, bytes, sizeof(bytes), 0) > 0 && peer->size > 0)
        send(fd, peer->answer, peer->size, MSG_NOSIGNAL);
    peer_closes(fd, 5000);
    close(fd);
    return NULL;
}

/* The answer to a compare_set, and what the client makes of it. */
static void rigged_answer(const char *answer, size_t size, muster_status expected, const char *part)
{
    rigged peer = {.answer = answer, .size = size};
    socket_address *addresses, at;
    size_t num, length;
    void *data;
    muster_store *store = NULL;
    socket_resolve("127.0.0.1", 0, &addresses, &num);
    socket_listen(&addresses[0], &peer.listen_fd);
    free(addresses);
    socket_local_address(peer.listen_fd, &at);
    fcntl(peer.listen_fd, F_SETFL, 0); /* accept waits */
    muster_tcp_store_args args = peer_args("127.0.0.1", socket_address_port(&at), false);
    args.timeout_ms = 300;
    pthread_create(&peer.thread, NULL, rigged_run, &peer);
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    long long start = now_ms();
    is_int(muster_store_compare_set(store, muster_str("k"), muster_str(""), muster_str("v"), &data,
                                    &length),
           expected, "an answer of %zu bytes", size);
    ok(now_ms() - start < patient(500), "is judged in time");
    has_str(muster_last_error(), part, "in words");
    muster_store_free(store);
    close(peer.listen_fd);
    pthread_join(peer.thread, NULL);
}

/* ---- Threads, many clients ------------------------------------------------------------------ */

static void *wait_long(void *store)
{
    return store_holds(store, "after", muster_str("x")) ? store : NULL;
}

static void two_threads(void)
{
    pthread_t thread;
    void *result;
    muster_store *store = peer_host();
    pthread_create(&thread, NULL, wait_long, store);
    pause_ms(50);
    long long start = now_ms();
    is_int(muster_store_set(store, muster_str("other"), muster_str("v")), MUSTER_OK,
           "a thread goes on while another one waits");
    ok(now_ms() - start < patient(200), "without waiting itself");
    is_int(tcp_client_count(&((tcp_store *)store)->client), 2, "over a second connection");
    muster_store_set(store, muster_str("after"), muster_str("x"));
    pthread_join(thread, &result);
    ok(result == store, "and ends the wait");
    muster_store_set(store, muster_str("other"), muster_str("w"));
    is_int(tcp_client_count(&((tcp_store *)store)->client), 2, "connections are used again");
    muster_store_free(store);
}

enum { CLIENTS = 200 };

typedef struct crowd {
    int port, rank;
    bool right;
} crowd;

static void *one_of_many(void *argument)
{
    crowd *one = argument;
    int64_t sum;
    void *data = NULL;
    size_t size;
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", one->port, false);
    args.timeout_ms = 30000;
    one->right = muster_store_tcp(&store, &args) == MUSTER_OK &&
                 muster_store_add(store, muster_str("count"), 1, &sum) == MUSTER_OK;
    if (one->right && sum == CLIENTS)
        one->right = muster_store_set(store, muster_str("all"), muster_str("here")) == MUSTER_OK;
    one->right =
        one->right && muster_store_get(store, muster_str("all"), 30000, &data, &size) == MUSTER_OK;
    if (!one->right)
        diag("client %d: %s", one->rank, muster_last_error());
    muster_free(data);
    muster_store_free(store);
    return NULL;
}

static void many_clients(void)
{
    static pthread_t threads[CLIENTS];
    static crowd clients[CLIENTS];
    int right = 0;
    muster_store *store = peer_host();
    long long start = now_ms();
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (crowd){muster_store_port(store), i, false};
        pthread_create(&threads[i], NULL, one_of_many, &clients[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        right += clients[i].right;
    }
    is_int(right, CLIENTS, "%d clients count themselves and meet", CLIENTS);
    diag("in %lld ms", now_ms() - start);
    muster_store_free(store);
}

/* ---- Time ---------------------------------------------------------------------------------- */

static void *serve_late(void *port)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", *(int *)port, true);
    pause_ms(200);
    return muster_store_tcp(&store, &args) == MUSTER_OK ? store : NULL;
}

static void late_server(void)
{
    pthread_t thread;
    void *host;
    muster_store *store = peer_host();
    int port = muster_store_port(store);
    muster_store_free(store);
    muster_tcp_store_args args = peer_args("127.0.0.1", port, false);
    args.timeout_ms = 100;
    long long start = now_ms();
    is_int(muster_store_tcp(&store, &args), MUSTER_ERR_TIMEOUT, "nobody listens");
    ok(now_ms() - start >= 100 && now_ms() - start < patient(300), "for as long as was asked");
    has_str(muster_last_error(), "Connection refused", "and that is said");
    pthread_create(&thread, NULL, serve_late, &port);
    muster_store *client = peer_client(port);
    ok(client != NULL, "a client may come before its server");
    pthread_join(thread, &host);
    muster_store_free(client);
    muster_store_free(host);
}

/* After a wait in vain the connection is in step, also when the key comes at the last moment. */
static void cancelled(void)
{
    muster_store *store = peer_host(), *other = peer_client(muster_store_port(store));
    muster_blob key = muster_str("never");
    int right = 0, raced = 0;
    muster_store_wait(store, &key, 1, 20);
    is_int(tcp_client_count(&((tcp_store *)store)->client), 1, "the connection is kept");
    for (int i = 0; i < 100; i++) {
        int64_t sum = 0;
        char name[32];
        snprintf(name, sizeof(name), "race %d", i);
        muster_blob raced_for = muster_str(name);
        pid_t child = fork();
        if (child == 0) {
            pause_ms(1 + i % 4);
            _exit(muster_store_set(other, raced_for, muster_str("x")) != MUSTER_OK);
        }
        muster_status status = muster_store_wait(store, &raced_for, 1, 3);
        raced += status == MUSTER_OK;
        right += (status == MUSTER_OK || status == MUSTER_ERR_TIMEOUT) &&
                 muster_store_add(store, muster_str("n"), 1, &sum) == MUSTER_OK && sum == i + 1;
        waitpid(child, NULL, 0);
    }
    is_int(right, 100, "100 races between a key and a time-out leave the answers in step");
    diag("the key won %d of them", raced);
    muster_store_free(other);
    muster_store_free(store);
}

static void many_missing(void)
{
    enum { KEYS = 2000 };
    static char names[KEYS][16];
    static muster_blob keys[KEYS], values[KEYS];
    muster_store *store = peer_host();
    for (int i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof(names[i]), "rank/%d", i);
        keys[i] = muster_str(names[i]);
        values[i] = muster_str("x");
    }
    muster_store_multi_set(store, keys, values, KEYS - 500);
    long long start = now_ms();
    is_int(muster_store_wait(store, keys, KEYS, 200), MUSTER_ERR_TIMEOUT, "500 of 2,000 missing");
    ok(now_ms() - start < patient(400), "in time");
    has_str(muster_last_error(), "'rank/1500', 'rank/1501'", "the first are named");
    has_str(muster_last_error(), "and 492 more", "the others counted");
    muster_store_free(store);
}

/* ---- Ends ---------------------------------------------------------------------------------- */

/* A server in a process of its own; writes its port. */
static pid_t serve_apart(int *port)
{
    int ends[2];
    if (pipe(ends) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0) {
        muster_store *store = peer_host();
        int mine = muster_store_port(store);
        if (write(ends[1], &mine, sizeof(mine)) != sizeof(mine))
            _exit(1);
        pause_ms(20000);
        _exit(0);
    }
    if (read(ends[0], port, sizeof(*port)) != sizeof(*port))
        bail_out("no server");
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void *kill_later(void *child)
{
    pause_ms(100);
    kill(*(pid_t *)child, SIGKILL);
    return NULL;
}

static void server_lost(void)
{
    int port;
    pthread_t thread;
    void *data;
    size_t size;
    pid_t child = serve_apart(&port);
    muster_store *store = peer_client(port);
    pthread_create(&thread, NULL, kill_later, &child);
    long long start = now_ms();
    is_int(muster_store_get(store, muster_str("k"), 10000, &data, &size), MUSTER_ERR_PEER_LOST,
           "a server that dies ends the wait");
    ok(now_ms() - start < patient(1000), "at once");
    has_str(muster_last_error(), "host closed the connection", "and that is said");
    is_int(muster_store_set(store, muster_str("k"), muster_str("v")), MUSTER_ERR_PEER_LOST,
           "later operations fail as well");
    has_str(muster_last_error(), "127.0.0.1:", "with the address");
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    muster_store_free(store);
}

/* A forked child opens connections of its own: were it to use its parent's, one would read the
 * other's answers. */
static void forked(void)
{
    muster_store *store = peer_host();
    int64_t sum = 0;
    int status = 1;
    pid_t child = fork();
    for (int i = 0; i < 200; i++)
        muster_store_add(store, muster_str(child == 0 ? "child" : "parent"), child == 0 ? 3 : 1,
                         &sum);
    if (child == 0) {
        bool right = sum == 600;
        muster_store_free(store);
        _exit(right ? 0 : 1);
    }
    is_int(sum, 200, "the parent's answers are its own");
    waitpid(child, &status, 0);
    is_int(status, 0, "and the child's");
    is_int(muster_store_add(store, muster_str("child"), 0, &sum), MUSTER_OK, "the parent goes on");
    is_int(sum, 600, "over the same server");
    muster_store_free(store);
}

static void announced(void)
{
    muster_store *store = peer_host(), *client = peer_client(muster_store_port(store));
    int64_t num_keys = 0;
    int fd = peer_greet(muster_store_port(store));
    char answer[9];
    muster_store_num_keys(store, &num_keys);
    is_int(num_keys, 1, "a new store has one key");
    send(fd, "\x03\x05\0\0\0\0\0\0\0init/", 14, MSG_NOSIGNAL);
    ok(recv(fd, answer, 9, MSG_WAITALL) == 9 && answer[8] == '2', "the number of its clients");
    close(fd);
    muster_store_free(client);
    muster_store_free(store);
}

int main(void)
{
    plan(2 * STORE_CONFORMANCE_POINTS + 68);
    bad_input();
    strangers(); /* has started threads, so that a sanitizer has its own by now */
    int descriptors = count_descriptors(), threads = count_threads();
    rigged_answer("\0\0\0\0\0\x01\0\0", 8, MUSTER_ERR_PROTOCOL, "1099511627776");
    rigged_answer("\x03\0\0\0\0\0\0\0ab", 10, MUSTER_ERR_TIMEOUT, "COMPARE_SET");
    two_threads();
    late_server();
    cancelled();
    many_missing();
    server_lost();
    forked();
    announced();
    muster_store *store = peer_host(), *other = peer_client(muster_store_port(store)), *prefix;
    store_conformance(store, other, "tcp");
    muster_store_prefix(&prefix, other, "p");
    store_conformance(prefix, prefix, "prefix over tcp");
    is_int(muster_store_port(prefix), muster_store_port(store), "the port is that below");
    muster_store_free(prefix);
    muster_store_free(other);
    muster_store_free(store);
    many_clients();
    ok(counts_return_to(descriptors, threads), "nothing is left");
    return done();
}
