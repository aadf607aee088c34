/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reaper: one thread a process, there while there is something to free.
 */
#include "config.h"

#include "reaper.h"

#include "base/signals.h"

enum { FEW = 16 };

static pthread_mutex_t reaper_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reaper_progress;
static pthread_once_t reaper_once = PTHREAD_ONCE_INIT;
static muster_comm *waiting;
static int waiting_count; /* the one being freed included */
static bool reaper_runs;

static void reaper_init(void)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&reaper_progress, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* The child of fork has no reaper, and what waits for it belongs to the parent. */
static void reaper_after_fork(void)
{
    pthread_mutex_init(&reaper_lock, NULL);
    reaper_init();
    waiting = NULL;
    waiting_count = 0;
    reaper_runs = false;
}

static void reaper_prepare(void)
{
    reaper_init();
    pthread_atfork(NULL, NULL, reaper_after_fork);
}

static void *reaper_run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&reaper_lock);
    while (waiting != NULL) {
        muster_comm *comm = waiting;
        waiting = comm->next;
        pthread_mutex_unlock(&reaper_lock);
        comm_destroy(comm);
        pthread_mutex_lock(&reaper_lock);
        waiting_count--;
        pthread_cond_broadcast(&reaper_progress);
    }
    reaper_runs = false;
    pthread_mutex_unlock(&reaper_lock);
    return NULL;
}

/* The lock is held. Where there is no memory left the caller has to free by itself. */
static bool reaper_start(void)
{
    if (!gloo_c_thread_room())
        return false;
    pthread_t thread;
    signals before;
    signals_block(&before, SIGPIPE);
    int error = pthread_create(&thread, NULL, reaper_run, NULL);
    signals_restore(&before);
    if (error == 0)
        pthread_detach(thread);
    return error == 0;
}

void reaper_give(muster_comm *comm)
{
    pthread_once(&reaper_once, reaper_prepare);
    pthread_mutex_lock(&reaper_lock);
    reaper_runs = reaper_runs || reaper_start();
    bool taken = reaper_runs;
    if (taken) {
        comm->next = waiting;
        waiting = comm;
        waiting_count++;
    }
    pthread_mutex_unlock(&reaper_lock);
    if (!taken)
        comm_destroy(comm);
}

void reaper_catch_up(deadline end)
{
    pthread_once(&reaper_once, reaper_prepare);
    struct timespec at = deadline_timespec(end);
    int error = 0;
    pthread_mutex_lock(&reaper_lock);
    while (waiting_count > FEW && error == 0)
        error = pthread_cond_timedwait(&reaper_progress, &reaper_lock, &at);
    pthread_mutex_unlock(&reaper_lock);
}
