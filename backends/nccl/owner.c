/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread of a device.
 */
#include "config.h"

#include "owner.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "nccl_api.h"

/* One thread. It is the device's while owner.worker says so, and frees this when it ends. */
typedef struct worker {
    owner *of;
    owner_member *inside; /* whose step it is in */
    bool lost;            /* it was given up in there */
    bool renew;           /* it is to end after this step */
} worker;

/* Of a device, from the first use to the end of the process. */
struct owner {
    owner *next;
    const cuda_api *cuda;
    int device;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    worker *worker; /* NULL: none */
    owner_member *members;
    int aborts;
    int users;
    int lost; /* threads that were given up and have not come back */
};

static pthread_mutex_t owners_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t owners_once = PTHREAD_ONCE_INIT;
static owner *owners;

static _Thread_local worker *this_worker;

static void owner_reset(owner *of)
{
    pthread_mutex_init(&of->lock, NULL);
    thread_condition_init(&of->changed);
    of->worker = NULL;
    of->members = NULL;
    of->aborts = 0;
    of->users = 0;
    of->lost = 0;
}

/* The child of fork has none of the threads, and must not make use of the devices. */
static void owners_after_fork(void)
{
    pthread_mutex_init(&owners_lock, NULL);
    for (owner *of = owners; of != NULL; of = of->next)
        owner_reset(of);
}

static void owners_prepare(void)
{
    pthread_atfork(NULL, NULL, owners_after_fork);
}

owner *owner_of(const cuda_api *cuda, int device)
{
    pthread_once(&owners_once, owners_prepare);
    pthread_mutex_lock(&owners_lock);
    owner *of = owners;
    while (of != NULL && of->device != device)
        of = of->next;
    if (of == NULL && (of = calloc(1, sizeof(*of))) != NULL) {
        of->cuda = cuda;
        of->device = device;
        owner_reset(of);
        of->next = owners;
        owners = of;
    }
    pthread_mutex_unlock(&owners_lock);
    return of;
}

/* ---- the thread; the lock is held unless said otherwise ---- */

static owner_member *earliest(const owner *of)
{
    owner_member *first = of->members;
    for (owner_member *member = of->members; member != NULL; member = member->next)
        if (member->due_ns < first->due_ns)
            first = member;
    return first;
}

/* Runs one step without the lock. False: the thread was given up meanwhile, and the member is its
 * own affair. */
static bool run_step(worker *me, owner_member *member)
{
    owner *of = me->of;
    me->inside = member;
    member->due_ns = INT64_MAX;
    pthread_mutex_unlock(&of->lock);
    int64_t pause_ns = member->step(member);
    pthread_mutex_lock(&of->lock);
    me->inside = NULL;
    pthread_cond_broadcast(&of->changed);
    if (me->lost)
        return false;
    if (member->due_ns == INT64_MAX) /* nobody has poked it */
        member->due_ns = deadline_now_ns() + pause_ns;
    return true;
}

static int worker_start(owner *of);

static void *worker_run(void *argument)
{
    worker *me = argument;
    owner *of = me->of;
    this_worker = me;
    /* Where this fails, so does the first thing that is made on the device. */
    of->cuda->set_device(of->device);
    pthread_mutex_lock(&of->lock);
    while (of->worker == me && of->members != NULL && !me->renew) {
        owner_member *member = earliest(of);
        deadline due = {member->due_ns};
        if (deadline_now_ns() < due.at_ns) {
            thread_wait(&of->changed, &of->lock, due);
        } else if (!run_step(me, member)) {
            of->lost--;
            pthread_mutex_unlock(&of->lock);
            member->late(member);
            free(me);
            return NULL;
        }
    }
    if (of->worker == me) {
        of->worker = NULL;
        if (of->members != NULL)
            worker_start(of);
    }
    pthread_mutex_unlock(&of->lock);
    free(me);
    return NULL;
}

static int worker_start(owner *of)
{
    pthread_t thread;
    worker *started = calloc(1, sizeof(*started));
    if (started == NULL)
        return ENOMEM;
    started->of = of;
    of->worker = started;
    int error = thread_start(&thread, worker_run, started);
    if (error != 0) {
        of->worker = NULL;
        free(started);
        return error;
    }
    pthread_detach(thread);
    return 0;
}

muster_status owner_no_thread(const char *purpose, int error)
{
    return nccl_host->error(MUSTER_ERR_SYSTEM,
                            "can't start a thread %s: %s; there are too many threads (ulimit -u, "
                            "or the pids of the container), or there is too little memory for its "
                            "stack (ulimit -v)",
                            purpose, strerror(error));
}

/* ---- members ---- */

muster_status owner_join(owner *of, owner_member *member)
{
    pthread_mutex_lock(&of->lock);
    int error = of->worker == NULL ? worker_start(of) : 0;
    if (error == 0) {
        member->of = of;
        member->due_ns = 0;
        member->next = of->members;
        of->members = member;
        of->users++;
        pthread_cond_broadcast(&of->changed);
    }
    pthread_mutex_unlock(&of->lock);
    return error == 0 ? MUSTER_OK : owner_no_thread("for a device", error);
}

void owner_poke(owner_member *member)
{
    owner *of = member->of;
    pthread_mutex_lock(&of->lock);
    member->due_ns = deadline_now_ns();
    if (of->worker == NULL && of->members != NULL) /* there was no thread to be had */
        worker_start(of);
    pthread_cond_broadcast(&of->changed);
    pthread_mutex_unlock(&of->lock);
}

static void take_out(owner *of, const owner_member *member)
{
    owner_member **at = &of->members;
    while (*at != NULL && *at != member)
        at = &(*at)->next;
    if (*at != NULL)
        *at = member->next;
}

bool owner_leave(owner_member *member, deadline end)
{
    owner *of = member->of;
    bool in_time = true;
    pthread_mutex_lock(&of->lock);
    while (of->worker != NULL && of->worker->inside == member && in_time)
        in_time = thread_wait(&of->changed, &of->lock, end);
    take_out(of, member);
    bool stuck = of->worker != NULL && of->worker->inside == member;
    if (stuck) {
        of->worker->lost = true;
        of->lost++;
        of->worker = NULL;
        if (of->members != NULL)
            worker_start(of);
    }
    pthread_cond_broadcast(&of->changed);
    pthread_mutex_unlock(&of->lock);
    return !stuck;
}

bool owner_done(owner *of)
{
    pthread_mutex_lock(&of->lock);
    bool last = --of->users == 0;
    pthread_mutex_unlock(&of->lock);
    return last;
}

bool owner_is_idle(owner *of)
{
    pthread_mutex_lock(&of->lock);
    bool idle = of->users == 0;
    pthread_mutex_unlock(&of->lock);
    return idle;
}

bool owner_is_sound(owner *of)
{
    pthread_mutex_lock(&of->lock);
    bool sound = of->aborts == 0 && of->lost == 0;
    pthread_mutex_unlock(&of->lock);
    return sound;
}

void owner_renew(void)
{
    this_worker->renew = true;
}

/* ---- aborts ---- */

void owner_abort_begin(owner *of)
{
    pthread_mutex_lock(&of->lock);
    of->aborts++;
    pthread_mutex_unlock(&of->lock);
}

void owner_abort_end(owner *of)
{
    pthread_mutex_lock(&of->lock);
    of->aborts--;
    pthread_cond_broadcast(&of->changed);
    pthread_mutex_unlock(&of->lock);
}

bool owner_await_aborts(owner *of, deadline end)
{
    pthread_mutex_lock(&of->lock);
    while (of->aborts > 0 && thread_wait(&of->changed, &of->lock, end))
        ;
    bool none = of->aborts == 0;
    pthread_mutex_unlock(&of->lock);
    return none;
}
