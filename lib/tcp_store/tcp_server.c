/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The servers of this process's tcp stores: started, shared, ended.
 */
#include "config.h"
#include "tcp_store/tcp_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "tcp_store/tcp_loop.h"
#include "base/thread.h"

/* How long the one who frees a store waits for the server's thread to see who is still connected.
 */
enum { SETTLE_MS = 1000 };

struct tcp_server {
    tcp_loop loop;
    socket_address addresses[TCP_LOOP_MOST_LISTENERS]; /* of its listening sockets */
    pthread_t thread;
    pid_t pid;
    int uses;
    bool settled; /* since the last use was given up: it has ended or goes on alone */
    bool ended;
    int waiting; /* those who wait for that in tcp_server_release */
    bool joined; /* when it ended one of them waited, who is to join the thread */
    tcp_server *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t settled; /* on CLOCK_MONOTONIC */
    tcp_server *servers;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t registry_once = PTHREAD_ONCE_INIT;

/* ---- Fork ---------------------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&registry.lock);
    for (tcp_server *one = registry.servers; one != NULL; one = one->next)
        pthread_mutex_lock(&one->loop.lock);
}

static void after_fork(void)
{
    for (tcp_server *one = registry.servers; one != NULL; one = one->next)
        pthread_mutex_unlock(&one->loop.lock);
    pthread_mutex_unlock(&registry.lock);
}

/* The child has copies of the sockets and no thread. It must not keep the port taken, nor the
 * clients connected, when the parent ends. */
static void after_fork_in_child(void)
{
    for (tcp_server *one = registry.servers; one != NULL; one = one->next)
        tcp_loop_close_copies(&one->loop);
    after_fork();
    registry.servers = NULL;
}

static void registry_start(void)
{
    thread_condition_init(&registry.settled);
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static void registry_lock(void)
{
    pthread_once(&registry_once, registry_start);
    pthread_mutex_lock(&registry.lock);
}

static void registry_remove(const tcp_server *server)
{
    tcp_server **link = &registry.servers;
    while (*link != NULL && *link != server)
        link = &(*link)->next;
    if (*link != NULL)
        *link = server->next;
}

/* ---- The thread ---------------------------------------------------------------------------- */

/* With the registry locked. Whoever finds no server there may listen at once where it did. */
static void forget(tcp_server *server)
{
    tcp_loop_stop_listening(&server->loop);
    registry_remove(server);
}

static enum tcp_loop_verdict settle(void *owner, size_t num_connections)
{
    tcp_server *server = owner;
    enum tcp_loop_verdict verdict = TCP_LOOP_GO_ON;
    pthread_mutex_lock(&registry.lock);
    if (server->uses == 0) {
        verdict = num_connections == 0 ? TCP_LOOP_END : TCP_LOOP_ASK_AGAIN;
        server->settled = true;
        server->ended = num_connections == 0;
        server->joined = server->waiting > 0;
        if (server->ended)
            forget(server);
        pthread_cond_broadcast(&registry.settled);
    }
    pthread_mutex_unlock(&registry.lock);
    return verdict;
}

static void server_free(tcp_server *server)
{
    tcp_loop_close(&server->loop);
    free(server);
}

static void *server_thread(void *argument)
{
    tcp_server *server = argument;
    tcp_loop_run(&server->loop);
    if (!server->joined) {
        pthread_detach(pthread_self());
        server_free(server);
    }
    return NULL;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static muster_status prepare(tcp_server *server, const int *listen_fds, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        if (!socket_local_address(listen_fds[i], &server->addresses[i]))
            return error_system("reading the address of the listening socket %d", listen_fds[i]);
        muster_status status = socket_prepare(listen_fds[i], false);
        if (status != MUSTER_OK)
            return status;
    }
    return tcp_loop_open(&server->loop, listen_fds, num);
}

/* With the registry locked. Owns the sockets only if it succeeds. */
static muster_status start(tcp_server **server, const int *listen_fds, size_t num,
                           const job_secret *secret)
{
    tcp_server *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "the server of a tcp store");
    muster_status status = prepare(made, listen_fds, num);
    if (status != MUSTER_OK) {
        free(made);
        return status;
    }
    made->loop.door.secret = *secret;
    made->loop.settle = settle;
    made->loop.owner = made;
    made->pid = getpid();
    made->uses = 1;
    errno = thread_start(&made->thread, server_thread, made);
    if (errno != 0) {
        status = error_system("starting the thread of a tcp store's server");
        made->loop.num_listen_fds = 0;
        server_free(made);
        return status;
    }
    made->next = registry.servers;
    registry.servers = made;
    *server = made;
    return MUSTER_OK;
}

static bool listens_on(const tcp_server *server, const socket_address *address)
{
    for (size_t i = 0; i < server->loop.num_listen_fds; i++)
        if (socket_address_equal(&server->addresses[i], address))
            return true;
    return false;
}

static tcp_server *search(const socket_address *addresses, size_t num)
{
    for (size_t i = 0; i < num; i++)
        for (tcp_server *one = registry.servers; one != NULL; one = one->next)
            if (listens_on(one, &addresses[i]))
                return one;
    return NULL;
}

static muster_status share(tcp_server **server, tcp_server *found, const job_secret *secret)
{
    if (!job_secret_equal(&found->loop.door.secret, secret))
        return error_set(MUSTER_ERR_MISMATCH,
                         "this process serves a store at %s already, with another job secret: "
                         "MUSTER_JOB_SECRET has been changed since, or the argument secret "
                         "differs; choose another port",
                         found->loop.door.where);
    found->uses++;
    *server = found;
    return MUSTER_OK;
}

static muster_status open_all(tcp_server **server, const socket_address *addresses, size_t num,
                              const job_secret *secret)
{
    int fds[TCP_LOOP_MOST_LISTENERS];
    size_t listening = 0;
    tcp_server *found = search(addresses, num);
    if (found != NULL)
        return share(server, found, secret);
    muster_status status =
        socket_listen_all(addresses, num, fds, TCP_LOOP_MOST_LISTENERS, &listening);
    if (status != MUSTER_OK)
        return status;
    status = start(server, fds, listening, secret);
    for (size_t i = 0; status != MUSTER_OK && i < listening; i++)
        close(fds[i]);
    return status;
}

muster_status tcp_server_open(tcp_server **server, const char *host, int port,
                              const job_secret *secret)
{
    socket_address *addresses;
    size_t num;
    muster_status status = socket_resolve(host, port, &addresses, &num);
    if (status != MUSTER_OK)
        return status;
    registry_lock();
    status = open_all(server, addresses, num, secret);
    pthread_mutex_unlock(&registry.lock);
    free(addresses);
    return status;
}

muster_status tcp_server_adopt(tcp_server **server, int listen_fd, const job_secret *secret)
{
    int listens = 0;
    socklen_t size = sizeof(listens);
    socket_address address;
    if (getsockopt(listen_fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0)
        return error_system("listen_fd %d is no socket that can serve a tcp store", listen_fd);
    if (!listens || !socket_local_address(listen_fd, &address))
        return error_set(MUSTER_ERR_ARGUMENT,
                         "listen_fd %d is no listening TCP socket: bind it and call listen() first",
                         listen_fd);
    registry_lock();
    muster_status status = start(server, &listen_fd, 1, secret);
    pthread_mutex_unlock(&registry.lock);
    return status;
}

const socket_address *tcp_server_address(const tcp_server *server)
{
    return &server->addresses[0];
}

int tcp_server_count(void)
{
    int count = 0;
    registry_lock();
    for (const tcp_server *one = registry.servers; one != NULL; one = one->next)
        count++;
    pthread_mutex_unlock(&registry.lock);
    return count;
}

/* ---- Ending -------------------------------------------------------------------------------- */

/* With the registry locked: lets the thread look who is connected. True when it has ended and the
 * caller, as the last who waits, is to clear up. */
static bool wait_settled(tcp_server *server)
{
    struct timespec end = deadline_timespec(deadline_in(SETTLE_MS));
    server->settled = false;
    server->waiting++;
    tcp_loop_wake(&server->loop);
    while (!server->settled && server->uses == 0)
        if (pthread_cond_timedwait(&registry.settled, &registry.lock, &end) == ETIMEDOUT)
            break;
    return --server->waiting == 0 && server->ended;
}

void tcp_server_release(tcp_server *server)
{
    /* In a forked child the descriptors are closed already and the rest can't be freed, having been
     * copied at any moment. */
    if (server->pid != getpid())
        return;
    registry_lock();
    bool ended = --server->uses == 0 && wait_settled(server);
    pthread_mutex_unlock(&registry.lock);
    if (!ended)
        return;
    pthread_join(server->thread, NULL);
    server_free(server);
}
