/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A crew of muster's clients: processes that have a connection each, or threads that share a hash
 * store.
 */
#include "config.h"

#include "store.h"
#include "stopwatch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Small threads: there are 1,000 of them. A server that takes long to greet is none. */
enum { CLIENT_STACK = 256 << 10, CLIENT_OPEN_MS = 30000 };

/* Both are below PIPE_BUF, so that each is written and read whole. */
typedef struct client_order {
    int task;
    long long operations;
    long long round;
} client_order;

typedef struct client_report {
    double cpu;
    char why[500]; /* "" for a client that did its task */
} client_report;

/* What the clients of a crew have in common. */
typedef struct clients_all {
    const store_crew *crew;
    muster_store *shared; /* the hash store of threads */
    /* Orders take turns on two pipes, of which each client reads one order: a fast one can't take
     * that of another. */
    int orders[2][2], reports[2];
    unsigned turn;
} clients_all;

typedef struct client_self {
    const clients_all *all;
    long long number;
    pthread_t thread;
} client_self;

/* ---- A client ------------------------------------------------------------------------------ */

static double client_cpu(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static bool client_report_send(const clients_all *all, bool good, double cpu)
{
    client_report report = {.cpu = cpu};
    if (!good)
        snprintf(report.why, sizeof(report.why), "%s", muster_last_error());
    return write(all->reports[1], &report, sizeof(report)) == (ssize_t)sizeof(report) && good;
}

static bool client_open(const clients_all *all, muster_store **store)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    *store = all->shared;
    if (all->shared != NULL)
        return true;
    args.host = "127.0.0.1";
    args.port = all->crew->port;
    args.timeout_ms =
        all->crew->timeout_ms < CLIENT_OPEN_MS ? all->crew->timeout_ms : CLIENT_OPEN_MS;
    return muster_store_tcp(store, &args) == MUSTER_OK;
}

/* In a process this is its only thread. */
static void *client_run(void *argument)
{
    const client_self *self = argument;
    const clients_all *all = self->all;
    muster_store *store = NULL;
    client_order order;
    bool good = client_report_send(all, client_open(all, &store), 0);
    for (unsigned turn = 0;
         good && read(all->orders[turn % 2][0], &order, sizeof(order)) == (ssize_t)sizeof(order);
         turn++) {
        double before = client_cpu();
        good = store_work(store, all->crew, self->number, (store_task)order.task, order.operations,
                          order.round);
        good = client_report_send(all, good, client_cpu() - before);
    }
    if (all->shared == NULL)
        muster_store_free(store);
    return NULL;
}

/* ---- The crew ------------------------------------------------------------------------------ */

static bool clients_fork(clients_all *all, client_self *self)
{
    pid_t pid = fork();
    if (pid == 0) {
        perf_party_tie();
        close(all->orders[0][1]);
        close(all->orders[1][1]);
        close(all->reports[0]);
        client_run(self);
        _exit(EXIT_SUCCESS);
    }
    return pid > 0;
}

static bool clients_start(clients_all *all, client_self *clients)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, CLIENT_STACK);
    bool good = true;
    for (long long i = 0; good && i < all->crew->clients; i++) {
        clients[i] = (client_self){.all = all, .number = i};
        good = all->shared == NULL
                   ? clients_fork(all, &clients[i])
                   : pthread_create(&clients[i].thread, &attributes, client_run, &clients[i]) == 0;
    }
    pthread_attr_destroy(&attributes);
    return good;
}

/* The reports of all clients, and the answer to the conductor. */
static bool clients_answer(const clients_all *all, double start)
{
    double cpu = 0;
    for (long long i = 0; i < all->crew->clients; i++) {
        client_report report;
        if (read(all->reports[0], &report, sizeof(report)) != (ssize_t)sizeof(report))
            snprintf(report.why, sizeof(report.why), "a client has ended");
        if (report.why[0] != '\0') {
            printf("!%s\n", report.why);
            return false;
        }
        cpu += report.cpu;
    }
    printf("%.6f %.6f\n", stopwatch_seconds() - start, cpu);
    fflush(stdout);
    return true;
}

static bool clients_order(clients_all *all, const char *line)
{
    char name[16];
    client_order order = {0};
    if (sscanf(line, "%15s %lld %lld", name, &order.operations, &order.round) != 3)
        return false;
    while (order.task < STORE_NUM_TASKS && strcmp(store_task_names[order.task], name) != 0)
        order.task++;
    double start = stopwatch_seconds();
    int orders = all->orders[all->turn++ % 2][1];
    for (long long i = 0; i < all->crew->clients; i++)
        if (write(orders, &order, sizeof(order)) != (ssize_t)sizeof(order))
            return false;
    return clients_answer(all, start);
}

static bool clients_serve(clients_all *all, client_self *clients)
{
    char line[64];
    double start = stopwatch_seconds();
    if (!clients_start(all, clients)) {
        printf("!%lld clients can't be started\n", all->crew->clients);
        return false;
    }
    /* What only clients hold has an end when they have gone. */
    if (all->shared == NULL) {
        close(all->orders[0][0]);
        close(all->orders[1][0]);
        close(all->reports[1]);
    }
    bool good = clients_answer(all, start);
    while (good && fgets(line, sizeof(line), stdin) != NULL)
        good = clients_order(all, line);
    return good;
}

int store_clients(const void *context)
{
    clients_all all = {.crew = context};
    client_self *clients = calloc((size_t)all.crew->clients, sizeof(*clients));
    if (clients == NULL || pipe2(all.orders[0], O_CLOEXEC) != 0 ||
        pipe2(all.orders[1], O_CLOEXEC) != 0 || pipe2(all.reports, O_CLOEXEC) != 0) {
        puts("!there are no means for a crew of clients");
        return EXIT_FAILURE;
    }
    if (all.crew->port < 0 && muster_store_hash(&all.shared) != MUSTER_OK) {
        printf("!%s\n", muster_last_error());
        return EXIT_FAILURE;
    }
    bool good = clients_serve(&all, clients);
    close(all.orders[0][1]);
    close(all.orders[1][1]);
    if (all.shared != NULL && good) {
        for (long long i = 0; i < all.crew->clients; i++)
            pthread_join(clients[i].thread, NULL);
        muster_store_free(all.shared);
    }
    free(clients);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
