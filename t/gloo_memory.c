/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gloo plugin where there is too little memory to open: what is told, at every amount.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend_ranks.h"
#include "tap.h"

#ifndef SANITIZED

enum { WORKED, NO_THREAD, NO_MEMORY };

/* Address space for so much more than there is now. */
static void allow_space(long extra_kb)
{
    struct rlimit limit;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        bail_out("/proc/self/statm can't be read");
    fclose(file);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = extra_kb < 0
                         ? limit.rlim_max
                         : (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)extra_kb * 1024;
    setrlimit(RLIMIT_AS, &limit);
}

/* One try to open. The address is not at fault where memory or threads are lacking. */
static void open_within(rank *me, long extra_kb)
{
    allow_space(extra_kb);
    muster_status status = rank_try_open(me);
    allow_space(-1);
    const char *words = status == MUSTER_OK ? "" : muster_last_error();
    bool no_thread = status == MUSTER_ERR_SYSTEM && strstr(words, "can't start a thread") != NULL &&
                     strstr(words, "(ulimit -u") != NULL;
    rank_check(me, status == MUSTER_OK || status == MUSTER_ERR_NO_MEMORY || no_thread,
               "%ld KiB more: %s: %s", extra_kb, muster_status_name(status), words);
    rank_check(me, strstr(words, "choose another") == NULL && strstr(words, "errno") == NULL,
               "%ld KiB more: %s", extra_kb, words);
    atomic_fetch_add(rank_flag(me, status == MUSTER_OK ? WORKED
                                   : no_thread         ? NO_THREAD
                                                       : NO_MEMORY),
                     1);
}

/* In a child each, for libc itself ends a process in which a thread has no room for its variables,
 * with the status 127. */
static void little_memory(rank *me)
{
    enum { LEAST_KB = 128, MOST_KB = 2 << 20 };
    for (long extra = LEAST_KB; atomic_load(rank_flag(me, WORKED)) == 0 && extra < MOST_KB;
         extra += extra / 8) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            open_within(me, extra);
            _exit(0);
        }
        rank_check(me, waitpid(child, &status, 0) == child && WIFEXITED(status),
                   "%ld KiB more: ended by signal %d", extra, WTERMSIG(status));
    }
    rank_check(me, atomic_load(rank_flag(me, WORKED)) > 0, "it never works");
    rank_check(me, atomic_load(rank_flag(me, NO_THREAD)) > 0, "no thread was ever lacking");
    rank_check(me, atomic_load(rank_flag(me, NO_MEMORY)) > 0, "memory was never lacking");
}

#endif

int main(void)
{
#ifdef SANITIZED
    plan_skip_all("a sanitizer has more address space than it could be allowed");
#else
    needs_gloo();
    plan(1);
    ranks_run("too little memory", 1, little_memory);
    return done();
#endif
}
