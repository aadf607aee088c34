/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watch.
 */
#include "config.h"

#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "breach.h"
#include "ear.h"

/* A process of some group. */
struct watched {
    struct watched *next;
    process process;
    int users; /* communicators */
    int fd;    /* readable once it has ended; -1: it is to be looked at now and then */
    bool ended;
};

/* How long it sleeps at most, and where a process has to be looked at. */
enum { PAUSE_MS = 2000, LOOK_MS = 250 };

typedef enum watch_state { WATCH_NONE, WATCH_RUNS, WATCH_ENDS } watch_state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all here */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static watch_state state;
static pthread_t thread;
static int users; /* between watch_enter and watch_leave */
static char ear_name[sizeof(((card *)NULL)->ear)];
static muster_comm *comms; /* that are looked at */
static struct watched *processes;
static int num_processes;

/* The child of fork has no watch, and the groups are the parent's. */
static void after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
    state = WATCH_NONE;
    users = 0;
    comms = NULL;
    ear_close();
    for (struct watched *it = processes; it != NULL; it = it->next)
        if (it->fd >= 0)
            close(it->fd);
    processes = NULL;
    num_processes = 0;
}

static void prepare(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* ---- looking ---- */

static bool needs(muster_comm *comm, int peer)
{
    uint64_t running = atomic_load(&comm->running);
    return running != 0 && atomic_load(&comm_cell(comm, peer)->operations) < running;
}

/* Finds processes that have ended and ranks that have left what they were needed for. */
static void look_at_peers(muster_comm *comm)
{
    for (int peer = 0; peer < comm->size; peer++) {
        const struct watched *it = comm->peers[peer].watched;
        uint32_t is = atomic_load(&comm_cell(comm, peer)->state);
        if (it != NULL && it->ended && is == SEGMENT_PRESENT)
            breach_make(comm, MUSTER_ERR_PEER_LOST, peer, 0, "the process of rank %d has ended",
                        peer);
        else if (is == SEGMENT_LEFT && needs(comm, peer))
            breach_make(comm, MUSTER_ERR_PEER_LOST, peer, BREACH_LEFT, "rank %d has left the group",
                        peer);
    }
}

/* Tells the core, unless it knows already or does not want to know any more: what this rank has
 * found in one of its own operations that operation says. */
static void report(muster_comm *comm)
{
    char sentence[sizeof(comm->cause_text)];
    pthread_mutex_lock(&comm->lock);
    bool wanted = comm->broken && !comm->reported && !comm->aborted &&
                  (comm->cause == MUSTER_ERR_PEER_LOST || comm->cause == MUSTER_ERR_REMOTE);
    comm->reported = comm->reported || wanted;
    muster_status cause = comm->cause;
    int rank = comm->cause_rank;
    memcpy(sentence, comm->cause_text, sizeof(sentence));
    pthread_mutex_unlock(&comm->lock);
    if (wanted)
        local_host->broken(comm->owner, rank, cause, sentence);
}

/* The lock is held, and let go meanwhile. */
static void look_at_all(void)
{
    for (muster_comm *comm = comms; comm != NULL;) {
        comm->looked_at = true;
        pthread_mutex_unlock(&lock);
        look_at_peers(comm);
        breach_notice(comm);
        report(comm);
        pthread_mutex_lock(&lock);
        comm->looked_at = false;
        pthread_cond_broadcast(&changed);
        comm = comm->next;
    }
}

/* ---- the thread ---- */

/* What is to be polled: the ear, then the processes. NULL where there is no memory. The lock is
 * held. */
static struct pollfd *list_polls(nfds_t *count, int *pause)
{
    struct pollfd *polls = calloc((size_t)num_processes + 1, sizeof(*polls));
    *count = 0;
    *pause = polls == NULL ? LOOK_MS : PAUSE_MS;
    if (polls == NULL)
        return NULL;
    polls[(*count)++] = (struct pollfd){.fd = ear_descriptor(), .events = POLLIN};
    for (const struct watched *it = processes; it != NULL; it = it->next) {
        if (it->fd >= 0)
            polls[(*count)++] = (struct pollfd){.fd = it->fd, .events = POLLIN};
        else if (!it->ended)
            *pause = LOOK_MS;
    }
    return polls;
}

static bool has_ended(const struct watched *it)
{
    struct pollfd one = {.fd = it->fd, .events = POLLIN};
    return it->fd >= 0 ? poll(&one, 1, 0) == 1 : process_ended(it->process);
}

/* The lock is held. */
static void look_at_processes(void)
{
    for (struct watched *it = processes; it != NULL; it = it->next) {
        if (it->ended || !has_ended(it))
            continue;
        it->ended = true;
        if (it->fd >= 0)
            close(it->fd);
        it->fd = -1;
    }
}

static void *keep_watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (state == WATCH_RUNS) {
        nfds_t count;
        int pause;
        struct pollfd *polls = list_polls(&count, &pause);
        pthread_mutex_unlock(&lock);
        poll(polls, count, pause);
        free(polls);
        pthread_mutex_lock(&lock);
        ear_empty();
        look_at_processes();
        look_at_all();
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* The lock is held. */
static muster_status start(void)
{
    muster_status status = ear_open(ear_name);
    if (status != MUSTER_OK)
        return status;
    int error = thread_start(&thread, keep_watch, NULL);
    if (error == 0) {
        state = WATCH_RUNS;
        return MUSTER_OK;
    }
    ear_close();
    return local_host->error(MUSTER_ERR_SYSTEM,
                             "can't start a thread to watch the ranks of this host: %s; there are "
                             "too many threads (ulimit -u, or the pids of the container), or there "
                             "is too little memory for its stack (ulimit -v)",
                             strerror(error));
}

muster_status watch_enter(char *name)
{
    muster_status status = MUSTER_OK;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    while (state == WATCH_ENDS)
        pthread_cond_wait(&changed, &lock);
    if (state == WATCH_NONE)
        status = start();
    if (status == MUSTER_OK) {
        users++;
        strcpy(name, ear_name);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- processes and communicators ---- */

static struct watched *find(process of)
{
    for (struct watched *it = processes; it != NULL; it = it->next)
        if (it->process.pid == of.pid && it->process.start == of.start)
            return it;
    return NULL;
}

/* The lock is held. */
static struct watched *add(process of)
{
    struct watched *it = find(of);
    if (it == NULL && (it = calloc(1, sizeof(*it))) != NULL) {
        it->process = of;
        it->fd = process_watch(of);
        it->next = processes;
        processes = it;
        num_processes++;
    }
    if (it != NULL)
        it->users++;
    return it;
}

/* The lock is held. */
static void drop(struct watched *it)
{
    if (it == NULL || --it->users > 0)
        return;
    struct watched **at = &processes;
    while (*at != it)
        at = &(*at)->next;
    *at = it->next;
    num_processes--;
    if (it->fd >= 0)
        close(it->fd);
    free(it);
}

muster_status watch_peers(muster_comm *comm)
{
    muster_status status = MUSTER_OK;
    pthread_mutex_lock(&lock);
    for (int peer = 0; peer < comm->size && status == MUSTER_OK; peer++) {
        comm_peer *it = &comm->peers[peer];
        if (it->process.pid == comm->self.pid)
            continue;
        it->watched = add(it->process);
        if (it->watched == NULL)
            status =
                local_host->error(MUSTER_ERR_NO_MEMORY, "no memory to watch %d ranks", comm->size);
        else if (it->watched->fd < 0 && process_ended(it->process))
            status = local_host->error(MUSTER_ERR_PEER_LOST,
                                       "the process of rank %d has ended while the group was made",
                                       peer);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void watch_look(void)
{
    ear_speak(ear_name);
}

void watch_begin(muster_comm *comm)
{
    pthread_mutex_lock(&lock);
    comm->listed = true;
    comm->next = comms;
    comms = comm;
    pthread_mutex_unlock(&lock);
    watch_look();
}

/* The lock is held. */
static void unlist(muster_comm *comm)
{
    while (comm->looked_at)
        pthread_cond_wait(&changed, &lock);
    muster_comm **at = &comms;
    while (*at != comm)
        at = &(*at)->next;
    *at = comm->next;
}

/* The last one has left. The lock is held, and let go meanwhile. */
static void stop(void)
{
    state = WATCH_ENDS;
    pthread_mutex_unlock(&lock);
    watch_look();
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
    ear_close();
    state = WATCH_NONE;
    pthread_cond_broadcast(&changed);
}

void watch_leave(muster_comm *comm)
{
    pthread_mutex_lock(&lock);
    if (comm->listed)
        unlist(comm);
    for (int peer = 0; peer < comm->size; peer++)
        drop(comm->peers[peer].watched);
    if (--users == 0)
        stop();
    pthread_mutex_unlock(&lock);
}
