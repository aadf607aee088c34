/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of this process, asked for once; a child of fork asks anew.
 */
#include "config.h"

#include "base/process.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

_Atomic pid_t process_known;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool watches; /* the child of a fork is heard of */

static void forget(void)
{
    atomic_store_explicit(&process_known, 0, memory_order_relaxed);
}

static void watch(void)
{
    watches = pthread_atfork(NULL, NULL, forget) == 0;
}

pid_t process_ask(void)
{
    pthread_once(&once, watch);
    pid_t id = getpid();
    if (watches)
        atomic_store_explicit(&process_known, id, memory_order_relaxed);
    return id;
}
