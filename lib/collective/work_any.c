/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Waiting for any of several operations: the thread that waits has a place at each of them, and
 * whichever ends wakes it.
 */
#include "config.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "collective/work_handle.h"

/* One thread that waits for any of several operations. */
typedef struct any_wait {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool ended; /* one of them */
} any_wait;

/* Its place at one of them, under that one's lock. */
struct work_waiter {
    any_wait *who;
    work_waiter *next;
};

void work_any_wake(work_waiter *waiters)
{
    for (work_waiter *waiter = waiters; waiter != NULL; waiter = waiter->next) {
        pthread_mutex_lock(&waiter->who->lock);
        waiter->who->ended = true;
        pthread_cond_signal(&waiter->who->woken);
        pthread_mutex_unlock(&waiter->who->lock);
    }
}

/* The first that has ended, from the front; count where none has. */
static size_t first_ended(muster_work *const *works, size_t count, muster_status *status)
{
    size_t found = 0;
    while (found < count && (works[found] == NULL || !atomic_load(&works[found]->done)))
        found++;
    if (found < count)
        *status = work_handle_outcome(works[found]);
    return found;
}

/* At each of them, up to one that has ended meanwhile; returns how many that was. */
static size_t enlist(muster_work *const *works, size_t count, work_waiter *places, any_wait *who)
{
    size_t at = 0;
    for (bool ended = false; at < count && !ended; at++) {
        if (works[at] == NULL)
            continue;
        pthread_mutex_lock(&works[at]->lock);
        places[at] = (work_waiter){who, works[at]->waiters};
        works[at]->waiters = &places[at];
        ended = atomic_load(&works[at]->done);
        pthread_mutex_unlock(&works[at]->lock);
    }
    return at;
}

static void strike_off(muster_work *const *works, size_t count, const work_waiter *places)
{
    for (size_t i = 0; i < count; i++) {
        if (works[i] == NULL)
            continue;
        pthread_mutex_lock(&works[i]->lock);
        work_waiter **at = &works[i]->waiters;
        while (*at != &places[i])
            at = &(*at)->next;
        *at = places[i].next;
        pthread_mutex_unlock(&works[i]->lock);
    }
}

/* Sleeps until one has ended. */
static muster_status sleep_for_any(muster_work *const *works, size_t count, deadline end,
                                   size_t *found)
{
    any_wait who = {.ended = false};
    work_waiter *places = calloc(count, sizeof(*places));
    if (places == NULL)
        return error_no_memory(count * sizeof(*places), "a wait");
    pthread_mutex_init(&who.lock, NULL);
    thread_condition_init(&who.woken);
    size_t enlisted = enlist(works, count, places, &who);
    muster_status status = MUSTER_OK;
    *found = first_ended(works, count, &status);
    if (*found == count) {
        pthread_mutex_lock(&who.lock);
        while (!who.ended && thread_wait(&who.woken, &who.lock, end))
            ;
        pthread_mutex_unlock(&who.lock);
        *found = first_ended(works, count, &status);
    }
    strike_off(works, enlisted, places);
    pthread_mutex_destroy(&who.lock);
    pthread_cond_destroy(&who.woken);
    free(places);
    return status;
}

static muster_status check_any(muster_work *const *works, size_t count, const size_t *index,
                               const char *function)
{
    size_t there = 0;
    if (works == NULL || index == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: %s is NULL", function,
                         works == NULL ? "works" : "index");
    const pid_t pid = getpid(); /* once, since it is a call of the system */
    for (size_t i = 0; i < count; i++) {
        if (works[i] != NULL && works[i]->pid != pid)
            return work_handle_enter(works[i], function);
        there += works[i] != NULL;
    }
    if (there > 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s: there is no work among the %zu to wait for",
                     function, count);
}

muster_status muster_work_wait_any(muster_work *const *works, size_t num_works, int64_t timeout_ms,
                                   size_t *index)
{
    static const char *const function = "muster_work_wait_any";
    muster_status status = check_any(works, num_works, index, function);
    if (status == MUSTER_OK)
        status = work_handle_check_timeout(timeout_ms, function);
    if (status != MUSTER_OK)
        return status;
    size_t found = first_ended(works, num_works, &status);
    if (found == num_works && timeout_ms != 0) {
        status = work_handle_may_wait();
        if (status != MUSTER_OK)
            error_prefix(status, "%s: ", function);
        if (status == MUSTER_OK)
            status = sleep_for_any(works, num_works, work_handle_deadline(timeout_ms), &found);
    }
    if (found == num_works && status == MUSTER_OK)
        status = error_set(MUSTER_ERR_TIMEOUT,
                           "%s: none of %zu operations has ended after %lld ms; all "
                           "go on",
                           function, num_works, (long long)timeout_ms);
    *index = found;
    return status;
}
