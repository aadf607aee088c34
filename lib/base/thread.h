/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of the library, which block all signals, and waiting for them with a deadline.
 */
#ifndef MUSTER_LIB_THREAD_H
#define MUSTER_LIB_THREAD_H

#include <pthread.h>

#include "base/deadline.h"
#include "muster.h"

/* Starts a thread that blocks every signal, so that the program's handlers run on the program's own
 * threads. Returns 0 or an error number. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* CPUs for threads to run on; begins as zeros, which is wherever the thread that starts them may
 * run. */
typedef struct thread_home {
    size_t size; /* of words that are in use, in bytes */
    unsigned long words[8192 / (8 * sizeof(unsigned long))];
} thread_home;

/* A CPU that is too large for it is left out. */
void thread_home_add(thread_home *home, int cpu);

/* As thread_start; the thread runs at home, or where the kernel doesn't let it, anywhere. */
int thread_start_at(pthread_t *thread, void *(*run)(void *), void *argument,
                    const thread_home *home);

/* A condition that waits by the clock of deadlines. */
void thread_condition_init(pthread_cond_t *condition);

/* Waits for a signal on the condition, until end at most; false once the time is over. */
bool thread_wait(pthread_cond_t *condition, pthread_mutex_t *lock, deadline end);

/*
 * Runs talk(what) on a thread of its own and waits for it until patience_ms at most: for talking to
 * a store that may be gone when nothing may wait for it. True if it has ended; then what is the
 * caller's again. Otherwise, also where no thread could be started, what is given up: done(what)
 * has been called or will be when talk ends.
 */
bool thread_run_aside(void (*talk)(void *what), void (*done)(void *what), void *what,
                      int64_t patience_ms);

#endif
