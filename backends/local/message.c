/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages: posting one, and waiting for it.
 */
#include "config.h"

#include "message.h"

#include <stdlib.h>

#include "bell.h"
#include "breach.h"
#include "carry.h"
#include "relax.h"

/* How long who waits looks before it sleeps, where there is a core for every rank; and where that
 * was in vain some times on end, since the core may be the one that the peer needs: then it is
 * tried again now and then. Letting others run instead would let all others run, whoever they are.
 */
enum { LOOK_NS = 40000, LOOK_SHORT_NS = 1000, PATIENT = 4, TRY_AGAIN = 64 };

static muster_status has_left(int peer)
{
    return local_host->error(MUSTER_ERR_PEER_LOST, "rank %d has left the group", peer);
}

/* What has come is wrong, or there is no memory for it: the group can't go on. */
static muster_status spoiled(muster_comm *comm, int peer, muster_status status)
{
    breach_make(comm, status, peer, 0, "what rank %d has sent can't be taken in: %s", peer,
                status == MUSTER_ERR_NO_MEMORY ? "no memory" : "it is not what was to come");
    return breach_error(comm);
}

/* The lock is held. A message may be there from one who has left since. */
static muster_status begin(muster_comm *comm, muster_request *request)
{
    bool left = breach_left(comm, request->peer);
    if (left && request->send)
        return has_left(request->peer);
    muster_status status = carry_begin(comm, request);
    if (status == MUSTER_OK)
        status = carry_peer(comm, request->peer);
    if (status == MUSTER_OK && left && request->state == REQUEST_POSTED)
        status = has_left(request->peer);
    if (status != MUSTER_OK)
        carry_drop(comm, request);
    return status;
}

static muster_status post(muster_comm *comm, muster_request wanted, muster_request **posted)
{
    muster_request *request = malloc(sizeof(*request));
    if (request == NULL)
        return local_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a request");
    *request = wanted;
    pthread_mutex_lock(&comm->lock);
    bool broken = breach_notice_locked(comm);
    muster_status status = broken ? MUSTER_OK : begin(comm, request);
    pthread_mutex_unlock(&comm->lock);
    if (!broken && status == MUSTER_OK) {
        *posted = request;
        return MUSTER_OK;
    }
    free(request);
    if (broken)
        return breach_error(comm);
    return status == MUSTER_ERR_PEER_LOST ? status : spoiled(comm, wanted.peer, status);
}

muster_status message_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                size_t size, muster_request **request)
{
    muster_request wanted = {.peer = peer,
                             .send = true,
                             .slot = slot,
                             .data = (unsigned char *)(uintptr_t)data,
                             .size = size};
    return post(comm, wanted, request);
}

muster_status message_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data, size_t size,
                                muster_request **request)
{
    muster_request wanted = {.peer = peer, .slot = slot, .data = data, .size = size};
    return post(comm, wanted, request);
}

/* ---- waiting ---- */

/* One who waits. */
typedef struct waiter {
    muster_comm *comm;
    muster_request *request;
    deadline end;
    int64_t since_ns; /* when it began to look; 0: not yet */
    int looks;
    bool slept;
    bool answered; /* the bell, so that it sleeps when there is nothing to do */
    uint32_t number;
} waiter;

/* Whether it has looked long enough. */
static bool is_tired(waiter *it)
{
    enum { BETWEEN = 16 }; /* looks between two at the clock */
    if (!it->comm->cores_for_all)
        return true;
    if (it->looks++ % BETWEEN != 0)
        return false;
    int64_t now = deadline_now_ns();
    if (it->since_ns == 0)
        it->since_ns = now;
    int in_vain = it->comm->in_vain;
    bool patient = in_vain < PATIENT || in_vain % TRY_AGAIN == 0;
    return now - it->since_ns > (patient ? LOOK_NS : LOOK_SHORT_NS);
}

/* There was nothing to do. The lock is not held. */
static void idle(waiter *it)
{
    segment_cell *mine = comm_cell(it->comm, it->comm->rank);
    if (it->answered) {
        bell_sleep(mine, it->number, it->end);
        *it = (waiter){.comm = it->comm, .request = it->request, .end = it->end, .slept = true};
    } else if (is_tired(it)) {
        it->number = bell_answer(mine);
        it->answered = true;
    } else
        relax();
}

/* The lock is held. */
static void stop_waiting(waiter *it)
{
    if (it->slept || it->looks > 0)
        it->comm->in_vain = it->slept ? (it->comm->in_vain + 1) & INT32_MAX : 0;
    if (it->answered)
        bell_stay_awake(comm_cell(it->comm, it->comm->rank));
    it->answered = false;
}

/* The first thing that can be done for it, and for others on the way; false where there is nothing.
 * The lock is held. */
static bool work(waiter *it, muster_status *status)
{
    *status = carry_all(it->comm);
    return *status != MUSTER_OK || it->request->state == REQUEST_DONE || carry_pull(it->comm);
}

/* It is not done, and nothing came while this was so. The lock is not held. */
static void find_fault(waiter *it, bool left)
{
    const muster_request *request = it->request;
    const char *doing = request->send ? "a send to" : "a receive from";
    if (left)
        breach_make(it->comm, MUSTER_ERR_PEER_LOST, request->peer, BREACH_LEFT,
                    "rank %d has left the group while %s it was open", request->peer, doing);
    else if (deadline_now_ns() >= it->end.at_ns)
        breach_make(it->comm, MUSTER_ERR_TIMEOUT, request->peer, 0,
                    "timed out waiting for rank %d to take part in a message of %zu bytes",
                    request->peer, request->size);
}

/* Until it is done or the communicator is broken; the lock is held, and let go meanwhile. */
static void wait_for(waiter *it)
{
    muster_comm *comm = it->comm;
    while (!breach_notice_locked(comm) && it->request->state != REQUEST_DONE) {
        muster_status status;
        bool left = breach_left(comm, it->request->peer);
        if (work(it, &status) && status == MUSTER_OK)
            continue;
        pthread_mutex_unlock(&comm->lock);
        bool checks = it->answered || it->looks == 0;
        if (status != MUSTER_OK)
            spoiled(comm, it->request->peer, status);
        else if (checks || left)
            find_fault(it, left);
        if (!breach_is_there(comm))
            idle(it);
        pthread_mutex_lock(&comm->lock);
    }
    stop_waiting(it);
}

/* The status of a wait that has failed; the caller's memory is its own again. */
static muster_status give_up(const waiter *it)
{
    muster_comm *comm = it->comm;
    pthread_mutex_lock(&comm->lock);
    while (it->request->busy)
        pthread_cond_wait(&comm->settled, &comm->lock);
    bool mine = comm->cause == MUSTER_ERR_TIMEOUT && deadline_now_ns() >= it->end.at_ns;
    pthread_mutex_unlock(&comm->lock);
    muster_status status = breach_error(comm);
    return mine ? local_host->error(MUSTER_ERR_TIMEOUT, "%s", comm->cause_text) : status;
}

muster_status message_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    waiter it = {.comm = comm, .request = request, .end = deadline_in(timeout_ms)};
    pthread_mutex_lock(&comm->lock);
    wait_for(&it);
    bool broken = comm->broken;
    pthread_mutex_unlock(&comm->lock);
    muster_status status = broken ? give_up(&it) : MUSTER_OK;
    pthread_mutex_lock(&comm->lock);
    carry_drop(comm, request);
    pthread_mutex_unlock(&comm->lock);
    free(request);
    return status;
}
