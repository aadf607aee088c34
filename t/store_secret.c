/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stores with a job secret: who gets in, what is said to whom does not, and servers that are none
 * of the job. User cases 2, 56 and 57.
 */
#include "config.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/store.h"
#include "store_conformance.h"
#include "store_peers.h"
#include "tap.h"
#include "tcp_store/tcp_entry.h"

#define RIGHT "correct horse battery staple"
#define WRONG "correct horse battery stable"

static void set_secret(const char *secret)
{
    if (secret == NULL)
        unsetenv("MUSTER_JOB_SECRET");
    else
        setenv("MUSTER_JOB_SECRET", secret, 1);
}

static void members(void)
{
    set_secret(RIGHT);
    muster_store *host = peer_host(), *client = peer_client(muster_store_port(host));
    store_conformance(client, host, "with a secret");
    muster_store_free(client);
    muster_store_free(host);
}

/* The argument is in place of the variable, on both sides. */
static void argument(void)
{
    muster_tcp_store_args args = peer_args("127.0.0.1", 0, true);
    muster_store *host = NULL, *client = NULL, *other = NULL;
    set_secret(WRONG);
    args.secret = RIGHT;
    is_int(muster_store_tcp(&host, &args), MUSTER_OK, "argument: a server has it");
    args = peer_args("127.0.0.1", muster_store_port(host), false);
    args.secret = RIGHT;
    is_int(muster_store_tcp(&client, &args), MUSTER_OK, "argument: a client with it gets in");
    args.secret = NULL;
    is_int(muster_store_tcp(&other, &args), MUSTER_ERR_MISMATCH,
           "argument: one with the variable's does not");
    set_secret(RIGHT);
    is_int(muster_store_tcp(&other, &args), MUSTER_OK,
           "argument: one with the same in the variable does");
    muster_store_free(other);
    args.secret = "too short";
    is_int(muster_store_tcp(&other, &args), MUSTER_ERR_ARGUMENT, "argument: a short one is none");
    has_str(muster_last_error(), "the argument secret has 9 characters", "argument: which is said");
    args.secret = "";
    is_int(muster_store_tcp(&other, &args), MUSTER_ERR_ARGUMENT, "argument: an empty one neither");
    muster_store_free(client);
    muster_store_free(host);
}

/* Opens a client, which is to be refused; the sentence is the thread's last. */
static muster_status refused(int port, const char *secret, int timeout_ms, long long *ms)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", port, false);
    args.timeout_ms = timeout_ms;
    long long start = now_ms();
    set_secret(secret);
    muster_status status = muster_store_tcp(&store, &args);
    *ms = now_ms() - start;
    muster_store_free(store);
    return status;
}

/* What the server has and the client has not, and the other way round. */
static void disagreements(void)
{
    static const struct {
        const char *server, *client, *words;
    } cases[] = {
        {RIGHT, WRONG, "the store has another job secret: MUSTER_JOB_SECRET must be the same"},
        {RIGHT, NULL, "the store has a job secret, but MUSTER_JOB_SECRET is not set here"},
        {NULL, RIGHT, "the store has no job secret, but MUSTER_JOB_SECRET is set here"},
    };
    long long ms;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        set_secret(cases[i].server);
        muster_store *host = peer_host();
        is_int(refused(muster_store_port(host), cases[i].client, 30000, &ms), MUSTER_ERR_MISMATCH,
               "disagreement %zu is one", i);
        has_str(muster_last_error(), cases[i].words, "disagreement %zu: and said", i);
        ok(ms < patient(1000), "disagreement %zu: without waiting: %lld ms", i, ms);
        muster_store_free(host);
    }
}

static void one_server(void)
{
    muster_store *more = NULL;
    set_secret(RIGHT);
    muster_store *host = peer_host();
    muster_tcp_store_args args = peer_args("127.0.0.1", muster_store_port(host), true);
    set_secret(WRONG);
    is_int(muster_store_tcp(&more, &args), MUSTER_ERR_MISMATCH,
           "a server is not shared with another secret");
    has_str(muster_last_error(), "already, with another job secret", "which is said");
    set_secret(RIGHT);
    is_int(muster_store_tcp(&more, &args), MUSTER_OK, "but with the same");
    set_secret(NULL);
    int64_t sum = 0;
    ok(muster_store_add(more, muster_str("n"), 1, &sum) == MUSTER_OK && sum == 1,
       "and goes on when the variable has gone");
    muster_store_free(more);
    muster_store_free(host);

    set_secret("short");
    args = peer_args("127.0.0.1", 0, true);
    is_int(muster_store_tcp(&more, &args), MUSTER_ERR_ARGUMENT, "a bad secret makes no server");
    set_secret(NULL);
}

/* ---- Whoever took the port ----------------------------------------------------------------- */

typedef struct impostor {
    enum { SILENT, CLOSES, ECHOES, NOISE, CHALLENGES, WELCOMES, NEWER, BUSY_AT_FIRST } how;
    int listen_fd, port;
    pthread_t thread;
    size_t heard; /* of all connections */
    int connections;
} impostor;

/* Speaks as its kind does; what it is told is counted. */
static void speak(impostor *one, int fd)
{
    unsigned char bytes[256];
    buffer answer = {0};
    ssize_t got;
    for (int message = 0; one->how != CLOSES && (got = recv(fd, bytes, sizeof(bytes), 0)) > 0;
         message++) {
        one->heard += (size_t)got;
        answer.size = 0;
        if (one->how == ECHOES)
            buffer_append(&answer, bytes, (size_t)got);
        else if (one->how == NOISE)
            buffer_append(&answer, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", 48);
        else if (one->how == NEWER)
            buffer_append(&answer, "\xb5mustr\2\2", 8);
        else if (one->how == BUSY_AT_FIRST)
            tcp_entry_put(&answer, TCP_ENTRY_REFUSED_BUSY, NULL);
        else if (one->how == CHALLENGES || one->how == WELCOMES)
            tcp_entry_put(&answer,
                          message == 0 && one->how == CHALLENGES ? TCP_ENTRY_CHALLENGE
                                                                 : TCP_ENTRY_WELCOME,
                          bytes + TCP_ENTRY_HEAD);
        send(fd, answer.data, answer.size, MSG_NOSIGNAL);
        if (one->how == BUSY_AT_FIRST)
            break;
    }
    buffer_free(&answer);
}

static void *answer_all(void *argument)
{
    impostor *one = argument;
    int fd;
    while ((fd = accept(one->listen_fd, NULL, NULL)) >= 0) {
        one->connections++;
        speak(one, fd);
        close(fd);
    }
    return NULL;
}

static impostor *impostor_start(int how)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof(at);
    impostor *one = calloc(1, sizeof(*one));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    one->how = how;
    one->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(one->listen_fd, (struct sockaddr *)&at, size) != 0 || listen(one->listen_fd, 64) != 0)
        bail_out("no port for an impostor");
    getsockname(one->listen_fd, (struct sockaddr *)&at, &size);
    one->port = ntohs(at.sin_port);
    pthread_create(&one->thread, NULL, answer_all, one);
    return one;
}

static void impostor_stop(impostor *one)
{
    shutdown(one->listen_fd, SHUT_RDWR);
    pthread_join(one->thread, NULL);
    close(one->listen_fd);
}

/* It learns two nonces and one proof, and never a key of the store. */
static void impostors(void)
{
    static const struct {
        int how;
        muster_status status;
        size_t most_heard;
        const char *name, *words;
    } cases[] = {
        {SILENT, MUSTER_ERR_TIMEOUT, 40, "says nothing", "no answer to the proof"},
        {CLOSES, MUSTER_ERR_PROTOCOL, 0, "closes", "a store of torch or torchrun knows none"},
        {ECHOES, MUSTER_ERR_PROTOCOL, 40, "echoes", "does not know the job secret"},
        {NOISE, MUSTER_ERR_PROTOCOL, 40, "is a web server", "does not know the job secret"},
        {WELCOMES, MUSTER_ERR_PROTOCOL, 40, "welcomes at once", "does not know the job secret"},
        {NEWER, MUSTER_ERR_PROTOCOL, 40, "is newer", "in a way of another version"},
        {CHALLENGES, MUSTER_ERR_PROTOCOL, 80, "gives our proof back",
         "does not know the job secret"},
    };
    long long ms;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        impostor *one = impostor_start(cases[i].how);
        int timeout_ms = cases[i].how == SILENT ? 300 : 60000;
        is_int(refused(one->port, RIGHT, timeout_ms, &ms), cases[i].status,
               "a stranger on the port that %s", cases[i].name);
        has_str(muster_last_error(), cases[i].words, "%s: what to say", cases[i].name);
        ok(ms < patient(5000), "%s: and not to wait: %lld ms", cases[i].name, ms);
        impostor_stop(one);
        ok(one->heard <= cases[i].most_heard, "%s: it heard %zu bytes", cases[i].name, one->heard);
        free(one);
    }
}

/* A store that has no room for now is asked again, until the time is over. */
static void busy(void)
{
    long long ms;
    impostor *one = impostor_start(BUSY_AT_FIRST);
    is_int(refused(one->port, RIGHT, 600, &ms), MUSTER_ERR_TIMEOUT, "a store without room");
    has_str(muster_last_error(), "had no room", "is called that");
    impostor_stop(one);
    ok(one->connections > 3 && ms >= 590, "after %d tries", one->connections);
    free(one);
}

int main(void)
{
#ifndef HAVE_SODIUM
    plan_skip_all("built without libsodium");
#endif
    plan(STORE_CONFORMANCE_POINTS + 7 + 9 + 5 + 28 + 3);
    members();
    argument();
    disagreements();
    one_server();
    impostors();
    busy();
    return done();
}
