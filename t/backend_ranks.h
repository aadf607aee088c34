/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks for tests of a backend: processes that drive its table directly, with the core's side
 * played by memory that they share. Which backend that is, the harness is compiled for, unless
 * MUSTER_TEST_PLUGIN names the file of another one.
 */
#ifndef MUSTER_T_BACKEND_RANKS_H
#define MUSTER_T_BACKEND_RANKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/deadline.h"
#include "backend/host.h"

enum { RANKS_MAX = 64 };

struct ranks_shared;

typedef struct rank {
    muster_comm_owner owner; /* first */
    struct ranks_shared *shared;
    int number, size;
    int rounds; /* exchanges so far */
    muster_blob all[RANKS_MAX];

    const muster_backend *ops;
    muster_comm *comm;

    /* What open is given; a body may change it. */
    const char *address;
    const char *batch;       /* gloo.batch */
    const char *single_copy; /* local.single_copy */
    int cores;
    int64_t timeout_ms;
    void (*after_exchange)(struct rank *me); /* may change me->all, or not return */

    atomic_bool cancelled; /* what host->cancelled says */

    /* What host->broken was told. */
    pthread_mutex_t lock;
    int broken_count;
    int broken_rank;
    muster_status broken_status;
    char broken_sentence[512];
    int64_t broken_at_ns;
    bool abort_when_broken; /* as the core does */
    atomic_bool closed;     /* host->broken must not come any more */
} rank;

/* Runs body as size processes, and makes one TAP point of it: ok if every rank comes to its end
 * with no failed check. A rank that is killed by a signal that nobody expects, or that takes
 * more than seconds, fails it. */
void ranks_run(const char *name, int size, void (*body)(rank *me));

/* The same with an address other than 127.0.0.1. */
void ranks_run_at(const char *address, const char *name, int size, void (*body)(rank *me));

/* In a body: notes the first failed check. Returns passed. */
bool rank_check(rank *me, bool passed, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* This rank will be killed, or ends itself without more ado: not a failure. */
void rank_may_die(rank *me);

/* Opens me->comm; rank_open checks that it works, rank_try_open returns what comes of it. */
bool rank_open(rank *me);
muster_status rank_try_open(rank *me);
void rank_close(rank *me);

/* Checks that host->broken was not called so far. */
bool rank_not_broken(rank *me);

/* Waits for host->broken; false when it does not come in time. */
bool rank_wait_broken(rank *me, int64_t timeout_ms);

/* Numbers that all ranks see, 0 at first; and waiting for one to become at least so large. */
enum { FLAGS = 32 };
atomic_llong *rank_flag(rank *me, int flag);
bool rank_wait_flag(rank *me, int flag, long long least);

/* All ranks meet; each meeting has a flag of its own. */
bool rank_meet(rank *me, int flag);

/* The process number of a rank. */
pid_t rank_pid(rank *me, int number);

/* One message each way with peer, checked. */
bool rank_swap(rank *me, int peer, uint64_t slot, size_t size);

#endif
