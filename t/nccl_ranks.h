/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks for tests of the nccl plugin: each drives its table directly over the stand-in for
 * hardware, with the core's side played by memory that the ranks share.
 */
#ifndef MUSTER_T_NCCL_RANKS_H
#define MUSTER_T_NCCL_RANKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/host.h"
#include "base/deadline.h"
#include "ranks.h"

enum { NCCL_RANKS = 8 };

/* One group as its backend sees it. */
typedef struct nccl_group {
    muster_comm_owner owner; /* first */
    int rank, size;
    int members[NCCL_RANKS]; /* their numbers in the case */
    int number;              /* tells the groups of a case apart; the same on all members */
    int rounds;
    muster_blob all[NCCL_RANKS];
    muster_comm *comm;

    /* What open is given; a body may change it. */
    int64_t timeout_ms;
    int device;
    muster_comm *parent;
    int color;
    const char *const *options;                  /* names and values in turn, NULL at the end */
    void (*after_exchange)(struct nccl_group *); /* may change all, or not return */
    atomic_bool cancelled;                       /* what host->cancelled says */

    /* What host->broken was told. */
    pthread_mutex_t lock;
    int broken_count;
    muster_status broken_status;
    char broken_sentence[1024];
    bool abort_when_broken; /* as the core does */
    atomic_bool closed;     /* host->broken must not come any more */
    atomic_bool came_late;  /* it did */
} nccl_group;

/* The plugin's table, after a probe that went well, over the stand-in of the version that T_NCCL in
 * the environment names, or of the newest. */
const muster_backend *nccl_plugin(void);

/* The group of all ranks of the case, not open yet; a device of its own for each. */
void nccl_group_init(nccl_group *group, int rank, int size);

/* The one of every second rank: number tells it from others. parent may be NULL. */
void nccl_group_init_half(nccl_group *half, const nccl_group *of, int number);

/* nccl_open makes a point of it; nccl_try_open returns what comes of it. */
bool nccl_open(nccl_group *group);
muster_status nccl_try_open(nccl_group *group);
void nccl_close(nccl_group *group);

/* Waits for host->broken; false when it does not come in time. */
bool nccl_await_broken(nccl_group *group, int64_t timeout_ms);

/* Device memory of the group's device, and bytes into and out of it by way of pinned memory. */
void *nccl_memory(const nccl_group *group, size_t size);
void nccl_put(const nccl_group *group, void *memory, const void *from, size_t size);
void nccl_get(const nccl_group *group, void *to, const void *memory, size_t size);

/* The stream on which they are copied and operations run. */
void *nccl_stream(const nccl_group *group);

/* Starts an operation and waits for it. */
muster_status nccl_run(nccl_group *group, const muster_call *call, int64_t timeout_ms);

/* An all_reduce that must come out right; makes no point. */
bool nccl_works(nccl_group *group);

/* Threads and descriptors of this process; false after a while if there are more than before. What
 * the stand-in keeps for good counts as before once a communicator has been closed. */
typedef struct nccl_holdings {
    int threads, descriptors;
} nccl_holdings;
nccl_holdings nccl_held(void);
nccl_holdings nccl_held_with_device(const nccl_group *group); /* which the process has used then */
bool nccl_nothing_left(nccl_holdings before, int more_threads);

int64_t nccl_now_ms(void);
bool nccl_in_time(int64_t start_ms, int64_t allowed_ms);

/* 2 points: closing takes no longer than it may and leaves nothing but so many threads. */
enum { NCCL_CLOSE_MS = 1000 };
void nccl_expect_close(nccl_group *group, nccl_holdings before, int more_threads);

/* Rows of cases; the last arguments are the environment, or NULL. The second kind loses its last
 * rank. */
#define NCCL_CASE(words, ranks, count, function, ...)                                              \
    {                                                                                              \
        .name = words, .size = ranks, .points = count, .body = function, .silent = true,           \
        .environment = (const char *const[])                                                       \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define NCCL_DIES(words, ranks, count, function, ...)                                              \
    {                                                                                              \
        .name = words, .size = ranks, .points = count, .body = function, .silent = true,           \
        .environment = (const char *const[]){__VA_ARGS__, NULL}, .deaths = {                       \
            {(ranks)-1, SIGKILL, 0}                                                                \
        }                                                                                          \
    }

/* Where threads stay that were given up, which LeakSanitizer can't trace, or where the runtime
 * frees nothing any more. */
#define NCCL_LEAKS "ASAN_OPTIONS=detect_leaks=0"
#define NCCL_FAULT(what) "MUSTER_STANDIN_FAULTS=" what
#define NCCL_BLOCKING "NCCL_COMM_BLOCKING=1"

#endif
