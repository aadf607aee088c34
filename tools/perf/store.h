/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf store: its parts. A conductor (this process) has parties, which are processes of
 * their own: servers, and crews of clients.
 */
#ifndef MUSTER_PERF_STORE_H
#define MUSTER_PERF_STORE_H

#include "party.h"
#include "perf.h"

/* What the clients of a crew do, all of them at the same time. XX(name, column of the table) */
#define STORE_TASK_MAP(XX)                                                                         \
    XX(SET, "set")     /* each its own key */                                                      \
    XX(GET, "get")     /* that of the next client */                                               \
    XX(ADD, "add")     /* one counter of all */                                                    \
    XX(MIX, "mix")     /* check and wait in turn, for a key that is there */                       \
    XX(SHARE, "share") /* each sets a new key, then gets those of all */

typedef enum store_task {
#define STORE_TASK_ENUM(name, word) STORE_##name,
    STORE_TASK_MAP(STORE_TASK_ENUM)
#undef STORE_TASK_ENUM
        STORE_NUM_TASKS
} store_task;

extern const char *const store_task_names[STORE_NUM_TASKS];

/* What was measured for one task by clients of one number; a number for each round. */
typedef struct store_figures {
    long long operations; /* of all clients together, in a round */
    double *seconds;
    double *server_cpu; /* seconds; 0 where there is no server */
    double *client_cpu;
} store_figures;

/* A kind of server with a kind of clients. */
typedef struct store_side {
    const char *name;  /* in JSON */
    const char *label; /* in a sentence */
    char title[128];
    bool has_server;
    char why_not[512]; /* this side can't be measured; "" for one that can */
    store_figures figures[PERF_MOST_COUNTS][STORE_NUM_TASKS];
} store_side;

enum { STORE_HASH, STORE_MUSTER, STORE_TORCH, STORE_CROSSED, STORE_NUM_SIDES };

/* ---- Bodies of parties --------------------------------------------------------------------- */

typedef struct store_crew {
    int port;          /* of the server, on 127.0.0.1; -1: a hash store in this process */
    long long clients; /* processes, or threads where the store is in the process */
    long long value_size;
    int64_t timeout_ms;
    const char *python; /* for the bodies that run torch */
} store_crew;

/* A server answers "PORT 0 what it is", and then any line with the CPU time it took so far and
 * 0. A crew answers "0 0" when all have a connection, and an order "set OPERATIONS ROUND" with the
 * time it took and the CPU time of all. */
int store_serve(const void *crew);
int store_clients(const void *crew);
int store_torch_serve(const void *crew);
int store_torch_clients(const void *crew);

/* What one client does. */
bool store_work(muster_store *store, const store_crew *crew, long long client, store_task task,
                long long operations, long long round);

/* ---- Output -------------------------------------------------------------------------------- */

void store_print(const perf_options *options, store_side sides[STORE_NUM_SIDES]);
void store_print_json(const perf_options *options, store_side sides[STORE_NUM_SIDES]);

#endif
