/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signals around calls of Gloo on a thread that is not ours.
 */
#include "config.h"

#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void signals_block(signals *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before->mask);
    /* One that the caller holds back himself is his and stays. */
    sigset_t pending;
    before->pipe_pending = sigismember(&before->mask, SIGPIPE) && sigpending(&pending) == 0 &&
                           sigismember(&pending, SIGPIPE);
}

void signals_restore(const signals *before)
{
    if (!before->pipe_pending) {
        sigset_t pipe;
        struct timespec at_once = {0, 0};
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        int saved = errno;
        while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
            ;
        errno = saved;
    }
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}
