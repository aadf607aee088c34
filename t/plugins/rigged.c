/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stand-in for a real backend, for tests alone: it moves messages between ranks that are threads
 * of one process, and fails where it is told to.
 *
 * The switch is the option rigged.fail, or the variable MUSTER_RIGGED_FAIL where that is not set:
 *
 *   WHERE[:RANK][@CALL]    on that rank alone (all ranks without), from that call on (1 without)
 *
 *   probe      the probe fails (variable only; no rank or call)
 *   open       open fails before its exchange
 *   open_late  open fails after its exchange
 *   stall      open waits after its exchange until it is cancelled, or for its time-out
 *   send       post_send fails
 *   recv       post_recv fails
 *   wait       wait fails with MUSTER_ERR_PEER_LOST
 *   hang       wait ends with its time-out, though the message may be there
 *   break      at a post_send, host->broken is called on a thread of the backend, for no rank
 *
 * Other options: rigged.delay_ms, how long each wait sleeps first; rigged.trace, a debug line for
 * each send; rigged.turbo and rigged.slow_start, for the checks of versions alone. It calls itself
 * version 2.10.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "room.h"

struct muster_comm {
    room *shared;
    muster_comm_owner *owner;
    int rank;
    muster_status broken; /* the next four under the room's lock */
    int broken_by;
    bool break_wanted;
    bool closing;
    pthread_t watcher;
    char where[16]; /* the switch, taken apart */
    int fail_rank;
    int fail_call;
    atomic_int calls;
    int64_t delay_ms;
    bool trace;
    char words[64];
};

static const muster_host *host;

/* ---- the switch ---- */

static void rigged_read_switch(const char *text, muster_comm *comm)
{
    comm->fail_rank = -1;
    comm->fail_call = 1;
    if (text == NULL)
        return;
    snprintf(comm->where, sizeof(comm->where), "%.*s", (int)strcspn(text, ":@"), text);
    const char *at = strchr(text, ':');
    if (at != NULL)
        comm->fail_rank = atoi(at + 1);
    at = strchr(text, '@');
    if (at != NULL)
        comm->fail_call = atoi(at + 1);
}

/* Whether this call at where is one that fails. A comm has one switch, so one counter will do. */
static bool rigged_fails(muster_comm *comm, const char *where)
{
    if (strcmp(comm->where, where) != 0 || (comm->fail_rank >= 0 && comm->fail_rank != comm->rank))
        return false;
    return atomic_fetch_add(&comm->calls, 1) + 1 >= comm->fail_call;
}

static muster_status rigged_refuse(const muster_comm *comm, muster_status status, const char *where)
{
    return host->error(status, "rank %d is rigged to fail in %s", comm->rank, where);
}

static void rigged_sleep(int64_t ms)
{
    struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    while (ms > 0 && nanosleep(&left, &left) != 0) {
    }
}

/* ---- telling the core that a peer aborted ---- */

/* Sleeps until there is something to tell or the comm is closed. */
static void *rigged_watch(void *argument)
{
    muster_comm *comm = argument;
    room *shared = comm->shared;
    pthread_mutex_lock(&shared->lock);
    while (!comm->closing && !comm->break_wanted &&
           (shared->aborted < 0 || shared->aborted == comm->rank))
        pthread_cond_wait(&shared->changed, &shared->lock);
    bool tell = !comm->closing;
    int by = comm->break_wanted ? -1 : shared->aborted;
    pthread_mutex_unlock(&shared->lock);
    char sentence[64];
    snprintf(sentence, sizeof(sentence), by < 0 ? "rigged to break" : "rank %d aborted", by);
    if (tell)
        host->broken(comm->owner, by, by < 0 ? MUSTER_ERR_PEER_LOST : MUSTER_ERR_REMOTE, sentence);
    return NULL;
}

static bool rigged_start_watcher(muster_comm *comm)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&comm->watcher, NULL, rigged_watch, comm) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* ---- probe, open, close ---- */

static muster_status rigged_probe(const muster_host *functions, muster_backend_info *info)
{
    host = functions;
    const char *fail = getenv("MUSTER_RIGGED_FAIL");
    if (fail != NULL && strcmp(fail, "probe") == 0)
        return host->error(MUSTER_ERR_UNAVAILABLE, "it is rigged to fail in probe");
    snprintf(info->version, sizeof(info->version), "2.10");
    snprintf(info->details, sizeof(info->details), "a stand-in for tests");
    return MUSTER_OK;
}

/* Rank 0 makes the room; the others learn its number. */
typedef struct ticket {
    int64_t pid;
    uint64_t room;
} ticket;

static muster_status rigged_stall(const muster_comm *comm, int64_t timeout_ms)
{
    const int64_t nap_ms = 10;
    for (int64_t slept = 0; slept < timeout_ms; slept += nap_ms) {
        if (host->cancelled(comm->owner))
            return host->error(MUSTER_ERR_FAILED, "rank %d was cancelled", comm->rank);
        rigged_sleep(nap_ms);
    }
    return rigged_refuse(comm, MUSTER_ERR_TIMEOUT, "stall");
}

static muster_status rigged_enter(muster_comm *comm, const muster_open_args *args)
{
    const muster_blob *all;
    ticket mine = {getpid(), 0}, first;
    if (args->rank == 0) {
        comm->shared = room_make(args->num_ranks);
        if (comm->shared == NULL)
            return host->error(MUSTER_ERR_NO_MEMORY, "no memory for a room");
        mine.room = comm->shared->number;
    }
    muster_status status = host->exchange(comm->owner, (muster_blob){&mine, sizeof(mine)}, &all);
    if (status != MUSTER_OK)
        return status;
    if (all[0].size != sizeof(first))
        return host->error(MUSTER_ERR_PROTOCOL, "rank 0 sent a ticket of %zu bytes", all[0].size);
    memcpy(&first, all[0].data, sizeof(first));
    if (args->rank != 0 && first.pid == mine.pid)
        comm->shared = room_find(first.room, args->num_ranks);
    if (comm->shared == NULL)
        return host->error(MUSTER_ERR_UNSUPPORTED,
                           "the rigged backend needs all ranks in one process");
    if (rigged_fails(comm, "stall"))
        return rigged_stall(comm, args->timeout_ms);
    return rigged_fails(comm, "open_late") ? rigged_refuse(comm, MUSTER_ERR_SYSTEM, "open_late")
                                           : MUSTER_OK;
}

static void rigged_read_options(muster_comm *comm)
{
    rigged_read_switch(host->option(comm->owner, "rigged.fail"), comm);
    comm->delay_ms = atoll(host->option(comm->owner, "rigged.delay_ms"));
    comm->trace = strcmp(host->option(comm->owner, "rigged.trace"), "1") == 0;
}

static muster_status rigged_open(muster_comm_owner *owner, const muster_open_args *args,
                                 muster_comm **comm)
{
    muster_comm *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return host->error(MUSTER_ERR_NO_MEMORY, "no memory for a communicator");
    made->owner = owner;
    made->rank = args->rank;
    rigged_read_options(made);
    muster_status status = rigged_fails(made, "open")
                               ? rigged_refuse(made, MUSTER_ERR_SYSTEM, "open")
                               : rigged_enter(made, args);
    if (status == MUSTER_OK && !rigged_start_watcher(made))
        status = host->error(MUSTER_ERR_SYSTEM, "no thread for a communicator");
    if (status != MUSTER_OK) {
        if (made->shared != NULL)
            room_leave(made->shared, made->rank);
        free(made);
        return status;
    }
    snprintf(made->words, sizeof(made->words), "room %" PRIu64 " of one process",
             made->shared->number);
    *comm = made;
    return MUSTER_OK;
}

static void rigged_close(muster_comm *comm)
{
    pthread_mutex_lock(&comm->shared->lock);
    comm->closing = true;
    pthread_cond_broadcast(&comm->shared->changed);
    pthread_mutex_unlock(&comm->shared->lock);
    pthread_join(comm->watcher, NULL);
    room_leave(comm->shared, comm->rank);
    free(comm);
}

/* The room stays: its locks may be held by threads that this process does not have. */
static void rigged_forget(muster_comm *comm)
{
    free(comm);
}

static void rigged_abort(muster_comm *comm)
{
    room *shared = comm->shared;
    pthread_mutex_lock(&shared->lock);
    comm->broken = MUSTER_ERR_FAILED;
    comm->broken_by = comm->rank;
    if (shared->aborted < 0)
        shared->aborted = comm->rank;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
}

/* ---- messages ---- */

/* With the lock held: whether anything can still be moved to and from peer. */
static muster_status rigged_state(muster_comm *comm, int peer)
{
    room *shared = comm->shared;
    if (comm->broken == MUSTER_OK && shared->aborted >= 0) {
        comm->broken = MUSTER_ERR_FAILED;
        comm->broken_by = shared->aborted;
    }
    if (comm->broken != MUSTER_OK)
        return host->error(comm->broken, "the communicator is broken, by rank %d", comm->broken_by);
    if (shared->left[peer])
        return host->error(MUSTER_ERR_PEER_LOST, "rank %d has left", peer);
    return MUSTER_OK;
}

static muster_status rigged_request(const char *what, address where, void *data, size_t size,
                                    muster_request **request)
{
    muster_request *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return host->error(MUSTER_ERR_NO_MEMORY, "no memory for a %s", what);
    made->where = where;
    made->data = data;
    made->size = size;
    *request = made;
    return MUSTER_OK;
}

static muster_status rigged_send_locked(muster_comm *comm, address where, const void *data,
                                        size_t size)
{
    if (rigged_fails(comm, "break")) {
        comm->break_wanted = true;
        pthread_cond_broadcast(&comm->shared->changed);
    }
    muster_status status = rigged_state(comm, where.to);
    if (status == MUSTER_OK && !room_send(comm->shared, where, data, size))
        status = host->error(MUSTER_ERR_NO_MEMORY, "no memory for a message of %zu bytes", size);
    return status;
}

static muster_status rigged_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                      size_t size, muster_request **request)
{
    const address where = {comm->rank, peer, slot};
    muster_request *made = NULL;
    if (rigged_fails(comm, "send"))
        return rigged_refuse(comm, MUSTER_ERR_SYSTEM, "send");
    muster_status status = rigged_request("send", where, NULL, size, &made);
    if (status != MUSTER_OK)
        return status;
    pthread_mutex_lock(&comm->shared->lock);
    status = rigged_send_locked(comm, where, data, size);
    pthread_mutex_unlock(&comm->shared->lock);
    if (status != MUSTER_OK) {
        free(made);
        return status;
    }
    if (comm->trace)
        host->log(MUSTER_LOG_DEBUG, "rank %d sent %zu bytes to %d in slot %" PRIu64, comm->rank,
                  size, peer, slot);
    made->done = true;
    *request = made;
    return MUSTER_OK;
}

static muster_status rigged_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data,
                                      size_t size, muster_request **request)
{
    const address where = {peer, comm->rank, slot};
    muster_request *made = NULL;
    if (rigged_fails(comm, "recv"))
        return rigged_refuse(comm, MUSTER_ERR_SYSTEM, "recv");
    muster_status status = rigged_request("receive", where, data, size, &made);
    if (status != MUSTER_OK)
        return status;
    pthread_mutex_lock(&comm->shared->lock);
    if (comm->shared->left[peer] == 0 || comm->broken != MUSTER_OK)
        status = rigged_state(comm, peer);
    if (status == MUSTER_OK)
        room_receive(comm->shared, made); /* what a peer sent before it left can still be had */
    pthread_mutex_unlock(&comm->shared->lock);
    if (status == MUSTER_OK)
        *request = made;
    else
        free(made);
    return status;
}

/* With the lock held: until the request is done, the comm is broken or the time is over. */
static muster_status rigged_wait_locked(muster_comm *comm, muster_request *request,
                                        const struct timespec *end)
{
    int peer = request->where.from == comm->rank ? request->where.to : request->where.from;
    int timed_out = 0;
    muster_status status = comm->broken == MUSTER_OK ? MUSTER_OK : rigged_state(comm, peer);
    while (status == MUSTER_OK && !request->done && timed_out == 0) {
        status = rigged_state(comm, peer);
        if (status == MUSTER_OK)
            timed_out = pthread_cond_timedwait(&comm->shared->changed, &comm->shared->lock, end);
    }
    if (request->mismatch)
        status = host->error(MUSTER_ERR_PROTOCOL, "rank %d sent another size than %zu", peer,
                             request->size);
    else if (!request->done && status == MUSTER_OK)
        status = host->error(MUSTER_ERR_TIMEOUT, "no message from rank %d in time", peer);
    if (!request->done)
        room_forget(comm->shared, request);
    if (status != MUSTER_OK && comm->broken == MUSTER_OK) {
        comm->broken = MUSTER_ERR_PEER_LOST;
        comm->broken_by = peer;
    }
    return status;
}

/* What the switch makes of a wait: the time-out or the status that it ends with. */
static muster_status rigged_spoil_wait(muster_comm *comm, int64_t timeout_ms)
{
    if (rigged_fails(comm, "hang")) {
        rigged_sleep(timeout_ms);
        return rigged_refuse(comm, MUSTER_ERR_TIMEOUT, "hang");
    }
    return rigged_fails(comm, "wait") ? rigged_refuse(comm, MUSTER_ERR_PEER_LOST, "wait")
                                      : MUSTER_OK;
}

static struct timespec rigged_end(int64_t timeout_ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (timeout_ms > INT32_MAX)
        timeout_ms = INT32_MAX;
    int64_t ns = end.tv_nsec + timeout_ms % 1000 * 1000000;
    end.tv_sec += (time_t)(timeout_ms / 1000 + ns / 1000000000);
    end.tv_nsec = (long)(ns % 1000000000);
    return end;
}

static muster_status rigged_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms)
{
    const struct timespec end = rigged_end(timeout_ms);
    rigged_sleep(comm->delay_ms < timeout_ms ? comm->delay_ms : timeout_ms);
    muster_status spoilt = rigged_spoil_wait(comm, timeout_ms), status = spoilt;
    pthread_mutex_lock(&comm->shared->lock);
    if (spoilt == MUSTER_OK) {
        status = rigged_wait_locked(comm, request, &end);
    } else {
        room_forget(comm->shared, request);
        comm->broken = spoilt;
        comm->broken_by = comm->rank;
    }
    pthread_mutex_unlock(&comm->shared->lock);
    free(request);
    return status;
}

static const char *rigged_describe(muster_comm *comm)
{
    return comm->words;
}

static const muster_option rigged_options[] = {
    {"rigged.fail", MUSTER_OPTION_STRING, NULL, NULL, NULL, NULL, "MUSTER_RIGGED_FAIL",
     "where to fail, as WHERE[:RANK][@CALL]"},
    {"rigged.delay_ms", MUSTER_OPTION_INTEGER, "0", NULL, NULL, "rigged.latency rigged.latency_ms",
     NULL, "how long each wait sleeps first"},
    {"rigged.trace", MUSTER_OPTION_BOOLEAN, "no", "2.6", NULL, NULL, NULL,
     "log each message that is sent"},
    {"rigged.turbo", MUSTER_OPTION_BOOLEAN, NULL, "3.0", NULL, NULL, NULL,
     "for tests: known from 3.0 on"},
    {"rigged.slow_start", MUSTER_OPTION_INTEGER, NULL, NULL, "1.9", NULL, NULL,
     "for tests: known up to 1.9"},
    {.name = NULL},
};

extern MUSTER_API const muster_backend muster_backend_1;

const muster_backend muster_backend_1 = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = "rigged",
    .priority = 10,
    .options = rigged_options,
    .probe = rigged_probe,
    .open = rigged_open,
    .post_send = rigged_post_send,
    .post_recv = rigged_post_recv,
    .wait = rigged_wait,
    .abort = rigged_abort,
    .close = rigged_close,
    .forget = rigged_forget,
    .describe = rigged_describe,
};
