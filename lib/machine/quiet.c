/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calling what may write to stderr.
 */
#include "config.h"

#include "machine/quiet.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"

typedef struct errand {
    void (*work)(void *what);
    void *what;
} errand;

/* A table of descriptors for this thread alone. What others have open is best not kept in it: a
 * connection that they close would stay open until this thread ends. */
static bool own_descriptors(void)
{
#ifdef SYS_close_range
    enum { UNSHARE = 2 }; /* CLOSE_RANGE_UNSHARE, which old headers lack */
    if (syscall(SYS_close_range, (unsigned)STDERR_FILENO + 1, ~0u, UNSHARE) == 0)
        return true;
#endif
    return unshare(CLONE_FILES) == 0;
}

static void *quiet_thread(void *argument)
{
    errand *own = argument;
    if (own_descriptors()) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0) {
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
        }
    }
    own->work(own->what);
    return NULL;
}

muster_status quiet_run(void (*work)(void *what), void *what)
{
    errand own = {work, what};
    pthread_t thread;
    int error = thread_start(&thread, quiet_thread, &own);
    if (error != 0)
        return error_set(MUSTER_ERR_SYSTEM, "can't start a thread to look at the machine: %s",
                         strerror(error));
    pthread_join(thread, NULL);
    return MUSTER_OK;
}
