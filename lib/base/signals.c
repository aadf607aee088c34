/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signals around system calls that raise one, on a thread that is not ours.
 */
#include "config.h"

#include "base/signals.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void signals_block(signals *before, int raised)
{
    sigset_t all, pending;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before->mask);
    before->raised = raised;
    /* One that the caller holds back himself is his and stays. */
    before->was_pending = sigismember(&before->mask, raised) && sigpending(&pending) == 0 &&
                          sigismember(&pending, raised);
}

void signals_restore(const signals *before)
{
    if (!before->was_pending) {
        sigset_t raised;
        struct timespec at_once = {0, 0};
        sigemptyset(&raised);
        sigaddset(&raised, before->raised);
        int saved = errno;
        while (sigtimedwait(&raised, NULL, &at_once) < 0 && errno == EINTR)
            ;
        errno = saved;
    }
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}
