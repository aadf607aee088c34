/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hall where the ranks of one host meet: collectives over a piece of memory that they share.
 *
 * Whoever makes the segment maps it, finds out what hall_place asks for, and watches for ranks that
 * die; the hall starts no thread and owns nothing but what hall_open allocates.
 */
#ifndef MUSTER_LOCAL_HALL_H
#define MUSTER_LOCAL_HALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/deadline.h"
#include "muster/backend.h"
#include "traffic.h"

typedef struct hall hall;

/* What a hall is opened on. */
typedef struct hall_place {
    const muster_host *host;
    int rank;
    int size;           /* ranks; at least 1 */
    void *base;         /* hall_bytes(size) bytes of the segment at a page's start, zero at first */
    bool cores_for_all; /* a core each for all ranks of the host: waiting ranks may spin */
    /* Called in hall_run before it sleeps, or NULL: in most operations it does not. */
    void (*waits)(void *waiter);
    void *waiter;
} hall_place;

/* How much of the segment the hall of so many ranks wants. What is not used is never touched, so
 * that memory is taken for what is. */
size_t hall_bytes(int size);

muster_status hall_open(hall **made, const hall_place *place);

/* Frees what hall_open allocated; touches the segment no more. NULL does nothing. */
void hall_close(hall *of);

/* As backend->can: whether hall_run carries the operation out. */
bool hall_can(const muster_call *call);

/*
 * As backend->run: one call at a time, on any thread. The time runs from when it begins to wait;
 * call->timeout_ms is not looked at.
 *
 * MUSTER_ERR_MISMATCH as there. MUSTER_ERR_TIMEOUT with the ranks that were waited for in the
 * sentence. MUSTER_ERR_FAILED where the hall was broken by another rank or by hall_break: whoever
 * knows why has a better sentence. After each of them the hall is broken for all ranks.
 */
muster_status hall_run(hall *of, const muster_call *call, int64_t timeout_ms);

/*
 * From any thread, more than once, also while hall_run runs on another: every operation of every
 * rank that runs or comes fails with MUSTER_ERR_FAILED, at once. Call it when a rank was lost, and
 * for abort.
 */
void hall_break(hall *of);

/* Of the operations that have gone well here; from any thread. */
const traffic *hall_traffic(const hall *of);

/* Of the latest operation that timed out: whether that rank was waited for. */
bool hall_waited_for(const hall *of, int rank);

#endif
