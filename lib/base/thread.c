/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of the library.
 */
#include "config.h"

#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include "base/patience.h"

static int start_with(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                      void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    return start_with(thread, NULL, run, argument);
}

void thread_home_add(thread_home *home, int cpu)
{
    enum { BITS = 8 * sizeof(unsigned long) };
    size_t word = (size_t)cpu / BITS;
    if (cpu < 0 || word >= sizeof(home->words) / sizeof(*home->words))
        return;
    home->words[word] |= 1UL << (cpu % (int)BITS);
    if (home->size <= word * sizeof(*home->words))
        home->size = (word + 1) * sizeof(*home->words);
}

int thread_start_at(pthread_t *thread, void *(*run)(void *), void *argument,
                    const thread_home *home)
{
    pthread_attr_t attributes;
    if (home->size == 0 || pthread_attr_init(&attributes) != 0)
        return thread_start(thread, run, argument);
    int error = pthread_attr_setaffinity_np(&attributes, home->size,
                                            (const cpu_set_t *)(const void *)home->words);
    if (error == 0)
        error = start_with(thread, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return error == 0 ? 0 : thread_start(thread, run, argument);
}

void thread_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, deadline end)
{
    struct timespec at = deadline_timespec(end);
    return pthread_cond_timedwait(condition, lock, &at) != ETIMEDOUT;
}

/* What the thread aside and the one that waits for it share; whoever lets go last frees it. */
typedef struct aside {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool over;
    bool left; /* the caller waits no more */
    void (*talk)(void *what);
    void (*done)(void *what);
    void *what;
    deadline end; /* of the wait for it */
} aside;

static void aside_free(aside *shared)
{
    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->ended);
    free(shared);
}

static void *aside_thread(void *argument)
{
    aside *shared = argument;
    patience_until(shared->end);
    shared->talk(shared->what);
    pthread_mutex_lock(&shared->lock);
    shared->over = true;
    bool left = shared->left;
    pthread_cond_signal(&shared->ended);
    pthread_mutex_unlock(&shared->lock);
    if (left) {
        shared->done(shared->what);
        aside_free(shared);
    }
    return NULL;
}

bool thread_run_aside(void (*talk)(void *what), void (*done)(void *what), void *what,
                      int64_t patience_ms)
{
    aside *shared = calloc(1, sizeof(*shared));
    pthread_t thread;
    if (shared == NULL) {
        done(what);
        return false;
    }
    deadline end = deadline_in(patience_ms);
    *shared = (aside){.talk = talk, .done = done, .what = what, .end = end};
    pthread_mutex_init(&shared->lock, NULL);
    thread_condition_init(&shared->ended);
    if (thread_start(&thread, aside_thread, shared) != 0) {
        aside_free(shared);
        done(what);
        return false;
    }
    pthread_mutex_lock(&shared->lock);
    while (!shared->over && thread_wait(&shared->ended, &shared->lock, end))
        ;
    bool over = shared->over;
    shared->left = !over;
    pthread_mutex_unlock(&shared->lock);
    if (!over) {
        pthread_detach(thread);
        return false;
    }
    pthread_join(thread, NULL);
    aside_free(shared);
    return true;
}
