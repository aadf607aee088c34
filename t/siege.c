/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tcp store under attack: the store, its member and its log.
 */
#include "config.h"
#include "siege.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store_conformance.h"
#include "store_peers.h"
#include "tap.h"
#include "tcp_store/tcp_loop.h"

struct siege {
    tcp_loop loop;
    int port;
    pthread_t server, member;
    muster_store *store; /* the member's */
    atomic_bool over;
    atomic_bool ended;
    atomic_long operations, failed, worst_ms;
    pthread_mutex_t lock; /* over what follows */
    char log[1 << 16];
    size_t log_size;
    int lines;
};

static void take_line(void *user, muster_log_level level, const char *line)
{
    siege *at = user;
    (void)level;
    pthread_mutex_lock(&at->lock);
    int left = (int)(sizeof(at->log) - at->log_size);
    int size = snprintf(at->log + at->log_size, (size_t)left, "%s\n", line);
    at->log_size += (size_t)(size < left ? size : left - 1);
    at->lines++;
    pthread_mutex_unlock(&at->lock);
}

static enum tcp_loop_verdict end_when_asked(void *owner, size_t num_connections)
{
    (void)num_connections;
    return atomic_load(&((siege *)owner)->ended) ? TCP_LOOP_END : TCP_LOOP_GO_ON;
}

static void *serve(void *loop)
{
    tcp_loop_run(loop);
    return NULL;
}

/* What ranks do all day. */
static void *work(void *argument)
{
    siege *at = argument;
    for (bool last = false; !last;) {
        last = atomic_load(&at->over); /* so that one round begins after the attack */
        long long start = now_ms();
        int64_t sum;
        bool good = muster_store_set(at->store, muster_str("k"), muster_str("v")) == MUSTER_OK &&
                    store_holds(at->store, "k", muster_str("v")) &&
                    muster_store_add(at->store, muster_str("n"), 1, &sum) == MUSTER_OK;
        long took = (long)(now_ms() - start);
        atomic_fetch_add(good ? &at->operations : &at->failed, 1);
        if (took > atomic_load(&at->worst_ms))
            atomic_store(&at->worst_ms, took);
        pause_ms(1);
    }
    return NULL;
}

/* One more round of the member, for the attack must not be over before it has begun to work. */
static void await_round(siege *at)
{
    long before = atomic_load(&at->operations);
    for (long long end = now_ms() + patient(1000);
         atomic_load(&at->operations) == before && now_ms() < end;)
        pause_ms(1);
}

static void set_secret(const char *secret)
{
    if (secret == NULL)
        unsetenv("MUSTER_JOB_SECRET");
    else
        setenv("MUSTER_JOB_SECRET", secret, 1);
}

siege *siege_begin(const char *secret, int silent_ms)
{
    siege *at = calloc(1, sizeof(*at));
    socket_address *addresses = NULL, here;
    size_t num;
    int listen_fd;
    if (at == NULL || socket_resolve("127.0.0.1", 0, &addresses, &num) != MUSTER_OK ||
        socket_listen(&addresses[0], &listen_fd) != MUSTER_OK ||
        tcp_loop_open(&at->loop, &listen_fd, 1) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    free(addresses);
    socket_local_address(listen_fd, &here);
    at->port = socket_address_port(&here);
    pthread_mutex_init(&at->lock, NULL);
    muster_set_log(take_line, at, MUSTER_LOG_WARNING);
    set_secret(secret);
    if (job_secret_read(&at->loop.door.secret, NULL) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    at->loop.silent_ms = silent_ms;
    at->loop.settle = end_when_asked;
    at->loop.owner = at;
    pthread_create(&at->server, NULL, serve, &at->loop);
    at->store = peer_client(at->port);
    pthread_create(&at->member, NULL, work, at);
    await_round(at);
    return at;
}

int siege_port(const siege *at)
{
    return at->port;
}

bool siege_said(siege *at, const char *part)
{
    bool found = false;
    for (long long end = now_ms() + patient(SIEGE_STALL_MS); !found && now_ms() < end;) {
        pthread_mutex_lock(&at->lock);
        found = strstr(at->log, part) != NULL;
        pthread_mutex_unlock(&at->lock);
        if (!found)
            pause_ms(5);
    }
    return found;
}

int siege_lines(siege *at)
{
    pthread_mutex_lock(&at->lock);
    int lines = at->lines;
    pthread_mutex_unlock(&at->lock);
    return lines;
}

muster_status siege_join(const siege *at, const char *secret, long long *ms)
{
    muster_store *store = NULL;
    muster_tcp_store_args args = peer_args("127.0.0.1", at->port, false);
    long long start = now_ms();
    set_secret(secret);
    muster_status status = muster_store_tcp(&store, &args);
    if (status == MUSTER_OK)
        status = muster_store_set(store, muster_str("joined"), muster_str("yes"));
    *ms = now_ms() - start;
    muster_store_free(store);
    return status;
}

void siege_end(siege *at, const char *attack)
{
    long long ms;
    muster_status status = siege_join(at, at->loop.door.secret.set ? SIEGE_SECRET : NULL, &ms);
    ok(status == MUSTER_OK && ms < patient(SIEGE_STALL_MS), "%s: a new member gets in", attack);
    if (status != MUSTER_OK)
        diag("%s", muster_last_error());
    atomic_store(&at->over, true);
    pthread_join(at->member, NULL);
    ok(at->operations > 0 && at->failed == 0 && at->worst_ms < patient(SIEGE_STALL_MS),
       "%s: the job goes on", attack);
    diag("%s: %ld rounds of the job, the longest %ld ms; a new member was in after %lld ms", attack,
         at->operations, at->worst_ms, ms);
    muster_store_free(at->store);
    atomic_store(&at->ended, true);
    tcp_loop_wake(&at->loop);
    pthread_join(at->server, NULL);
    tcp_loop_close(&at->loop);
    muster_set_log(NULL, NULL, MUSTER_LOG_NONE);
    ok(strstr(at->log, SIEGE_SECRET) == NULL, "%s: no log has the secret", attack);
    pthread_mutex_destroy(&at->lock);
    free(at);
}

long siege_resident(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2)
        bail_out("/proc/self/statm can't be read");
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

long siege_cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}
