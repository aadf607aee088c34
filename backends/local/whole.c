/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole operations.
 */
#include "config.h"

#include "whole.h"

#include "breach.h"
#include "watch.h"

/* Whoever has broken the hall says why a moment later. */
enum { CAUSE_MS = 1000 };

bool whole_can(muster_comm *comm, const muster_call *call)
{
    (void)comm;
    return hall_can(call);
}

/* The watch need know of an operation only where it waits: then it looks for ranks that have left.
 * One that had left before is not seen by it any more. */
void whole_waits(void *waiter)
{
    muster_comm *comm = waiter;
    atomic_store(&comm->running, comm->operations);
    if (atomic_load(&segment_at_head(&comm->memory)->gone) > 0)
        watch_look();
}

void whole_traffic(muster_comm *comm, uint64_t *operations, uint64_t *given, uint64_t *taken)
{
    const traffic none = {0}, *all = comm->hall != NULL ? hall_traffic(comm->hall) : &none;
    *operations = atomic_load_explicit(&all->operations, memory_order_relaxed);
    *given = atomic_load_explicit(&all->given, memory_order_relaxed);
    *taken = atomic_load_explicit(&all->taken, memory_order_relaxed);
}

static int find_waited_for(const muster_comm *comm)
{
    for (int peer = 0; peer < comm->size; peer++)
        if (peer != comm->rank && hall_waited_for(comm->hall, peer))
            return peer;
    return -1;
}

bool whole_has_come(muster_comm *comm, int peer)
{
    return comm->hall != NULL && find_waited_for(comm) >= 0 && !hall_waited_for(comm->hall, peer);
}

static void await_cause(muster_comm *comm)
{
    struct timespec pause = {0, 1000000};
    deadline until = deadline_in(CAUSE_MS);
    while (!breach_notice(comm) && deadline_left_ms(until) > 0)
        nanosleep(&pause, NULL);
    breach_make(comm, MUSTER_ERR_FAILED, -1, 0, "the group was broken off");
}

/* The hall has failed with a sentence of its own. */
static muster_status fail(muster_comm *comm, muster_status status)
{
    if (status == MUSTER_ERR_TIMEOUT)
        breach_make(comm, status, find_waited_for(comm), 0, "an operation timed out");
    else if (status == MUSTER_ERR_FAILED)
        await_cause(comm);
    else
        breach_make(comm, status, -1, 0, "an operation failed");
    return status == MUSTER_ERR_FAILED ? breach_error(comm) : status;
}

muster_status whole_run(muster_comm *comm, const muster_call *call)
{
    if (comm->hall == NULL)
        return breach_error(comm);
    int64_t timeout_ms = call->timeout_ms > 0 ? call->timeout_ms : comm->timeout_ms;
    comm->operations++;
    muster_status status = hall_run(comm->hall, call, timeout_ms);
    if (atomic_load_explicit(&comm->running, memory_order_relaxed) != 0)
        atomic_store(&comm->running, 0);
    return status == MUSTER_OK ? MUSTER_OK : fail(comm, status);
}
