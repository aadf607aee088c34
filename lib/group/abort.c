/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Breaking off a group. A signal handler may do next to nothing, so it posts a semaphore, and a
 * thread of the group that waits for it does the rest.
 */
#include "config.h"

#include "group/abort.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "group/failure.h"

struct abort_listener {
    muster_group *group;
    pthread_t thread;
    sem_t word;
    atomic_bool stopping;
};

static void *listen_for_word(void *argument)
{
    abort_listener *listener = argument;
    while (sem_wait(&listener->word) != 0)
        ;
    if (!atomic_load(&listener->stopping))
        failure_break_off(listener->group, "its signal handler called "
                                           "muster_group_abort_from_signal()");
    return NULL;
}

void abort_listener_forget(abort_listener *listener)
{
    if (listener == NULL)
        return;
    sem_destroy(&listener->word);
    free(listener);
}

void abort_listener_stop(abort_listener *listener)
{
    if (listener == NULL)
        return;
    atomic_store(&listener->stopping, true);
    sem_post(&listener->word);
    pthread_join(listener->thread, NULL);
    abort_listener_forget(listener);
}

static muster_status start_listener(muster_group *group, abort_listener **listener)
{
    abort_listener *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "a listener");
    made->group = group;
    sem_init(&made->word, 0, 0);
    int error = thread_start_at(&made->thread, listen_for_word, made, &group->home);
    if (error != 0) {
        abort_listener_forget(made);
        return error_set(MUSTER_ERR_SYSTEM, "can't start a thread that waits for a signal: %s",
                         strerror(error));
    }
    *listener = made;
    return MUSTER_OK;
}

muster_status muster_group_abort(muster_group *group)
{
    muster_status status = group_enter(group, "muster_group_abort");
    if (status == MUSTER_OK)
        failure_break_off(group, "it called muster_group_abort()");
    return status;
}

muster_status muster_group_allow_abort_from_signal(muster_group *group)
{
    static const char *const function = "muster_group_allow_abort_from_signal";
    muster_status status = group_enter(group, function);
    if (status != MUSTER_OK || atomic_load(&group->listener) != NULL)
        return status;
    abort_listener *made = NULL, *none = NULL;
    status = start_listener(group, &made);
    if (status != MUSTER_OK)
        return group_error(group, function, status);
    if (!atomic_compare_exchange_strong(&group->listener, &none, made))
        abort_listener_stop(made);
    return MUSTER_OK;
}

/* Async-signal-safe: an atomic load, getpid and sem_post. */
void muster_group_abort_from_signal(muster_group *group)
{
    int before = errno;
    if (group != NULL && group->pid == getpid()) {
        abort_listener *listener = atomic_load(&group->listener);
        if (listener != NULL)
            sem_post(&listener->word);
    }
    errno = before;
}
