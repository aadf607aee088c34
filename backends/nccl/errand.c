/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Errands, and the threads that run them.
 */
#include "config.h"

#include "errand.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/thread.h"
#include "device.h"
#include "nccl_api.h"
#include "owner.h"

/* How long a thread waits for something to do. */
enum { IDLE_MS = 1000 };

static struct {
    pthread_mutex_t lock; /* of this, and of what is errand.c's in all errands */
    pthread_cond_t changed;
    errand *first, *last; /* that no thread has begun */
    size_t queued, idle;
    atomic_size_t hanging; /* that were given up */
} office = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t office_once = PTHREAD_ONCE_INIT;

/* The child of fork has none of the threads. */
static void office_reset(void)
{
    pthread_mutex_init(&office.lock, NULL);
    thread_condition_init(&office.changed);
    office.first = office.last = NULL;
    office.queued = office.idle = 0;
    office.hanging = 0;
}

static void office_prepare(void)
{
    thread_condition_init(&office.changed);
    pthread_atfork(NULL, NULL, office_reset);
}

void errand_unref(errand *me)
{
    pthread_mutex_lock(&office.lock);
    bool last = --me->refs == 0;
    pthread_mutex_unlock(&office.lock);
    if (!last)
        return;
    pthread_cond_destroy(&me->changed);
    me->release(me);
}

/* ---- the threads ---- */

static void make_calls(errand *me)
{
    me->error = me->outside ? CUDA_OK : device_enter(me->cuda, me->device, &me->entering);
    if (me->error == CUDA_OK) {
        me->error = me->run(me);
        if (!me->outside)
            device_leave(me->cuda);
    }
    if (me->error != CUDA_OK)
        me->cuda->get_last_error();
}

static void carry_out(errand *me)
{
    make_calls(me);
    pthread_mutex_lock(&office.lock);
    me->done = true;
    bool given_up = me->given_up;
    if (given_up)
        office.hanging--;
    pthread_cond_broadcast(&me->changed);
    pthread_mutex_unlock(&office.lock);
    if (given_up && me->late != NULL)
        me->late(me);
    errand_unref(me);
}

/* NULL where there is nothing to do for a while. The lock is held. */
static errand *next_errand(void)
{
    deadline end = deadline_in(IDLE_MS);
    bool in_time = true;
    office.idle++;
    while (office.first == NULL && in_time)
        in_time = thread_wait(&office.changed, &office.lock, end);
    office.idle--;
    errand *next = office.first;
    if (next == NULL)
        return NULL;
    office.first = next->next;
    office.queued--;
    return next;
}

static void *office_run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&office.lock);
    for (errand *next = next_errand(); next != NULL; next = next_errand()) {
        pthread_mutex_unlock(&office.lock);
        carry_out(next);
        pthread_mutex_lock(&office.lock);
    }
    pthread_mutex_unlock(&office.lock);
    return NULL;
}

/* The lock is held. */
static int start_thread(void)
{
    pthread_t thread;
    int error = thread_start(&thread, office_run, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

/* ---- elsewhere ---- */

/* Puts it into the line, behind the others. The lock is held. */
static int hand_over(errand *me, int refs)
{
    if (office.queued >= office.idle) {
        int error = start_thread();
        if (error != 0)
            return error;
    }
    me->refs = refs;
    me->next = NULL;
    if (office.first == NULL)
        office.first = me;
    else
        office.last->next = me;
    office.last = me;
    office.queued++;
    pthread_cond_signal(&office.changed);
    return 0;
}

static void errand_init(errand *me)
{
    pthread_once(&office_once, office_prepare);
    thread_condition_init(&me->changed);
    me->refs = 1;
}

muster_status errand_await(errand *me, deadline end)
{
    errand_init(me);
    bool in_time = true;
    pthread_mutex_lock(&office.lock);
    int error = hand_over(me, 2);
    while (error == 0 && !me->done && in_time)
        in_time = thread_wait(&me->changed, &office.lock, end);
    bool done = me->done;
    me->given_up = error == 0 && !done;
    if (me->given_up)
        office.hanging++;
    pthread_mutex_unlock(&office.lock);
    if (error != 0)
        return owner_no_thread("for calls of CUDA", error);
    return done ? MUSTER_OK : MUSTER_ERR_TIMEOUT;
}

muster_status errand_run(errand *me, deadline end)
{
    char words[256], where[32] = "";
    int64_t begun_ns = deadline_now_ns();
    muster_status status = errand_await(me, end);
    if (!me->outside)
        snprintf(where, sizeof(where), " on device %d", me->device);
    if (status == MUSTER_ERR_TIMEOUT)
        return nccl_host->error(status,
                                "%s: CUDA has not come back from that%s within %lld ms; "
                                "the driver or the device hangs",
                                me->what, where,
                                (long long)((deadline_now_ns() - begun_ns) / 1000000));
    if (status != MUSTER_OK || me->error == CUDA_OK)
        return status;
    snprintf(words, sizeof(words), "can't %s device %d",
             me->entering != NULL ? me->entering : "work on", me->device);
    return cuda_api_sentence(me->cuda, me->error, me->entering != NULL ? words : me->what);
}

bool errand_some_hang(void)
{
    return atomic_load_explicit(&office.hanging, memory_order_relaxed) > 0;
}

void errand_send(errand *me)
{
    errand_init(me);
    pthread_mutex_lock(&office.lock);
    int error = hand_over(me, 1);
    pthread_mutex_unlock(&office.lock);
    if (error != 0)
        errand_unref(me);
}
