/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes of this host.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/process_stat.h"

enum { EXITING = 4 }; /* PF_EXITING of the kernel: it has begun to end, which can take long */

static bool read_stat(int64_t pid, process_stat *line)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    return process_stat_read(path, line);
}

process process_self(void)
{
    process_stat line = {0};
    process self = {.pid = getpid()};
    if (read_stat(self.pid, &line))
        self.start = line.start_time;
    return self;
}

process_cpus process_cpus_self(void)
{
    process_cpus mine = {{0}};
    if (syscall(SYS_sched_getaffinity, 0, sizeof(mine), &mine) <= 0)
        memset(&mine, 0xff, sizeof(mine));
    return mine;
}

bool process_cpus_meet(const process_cpus *a, const process_cpus *b)
{
    for (size_t i = 0; i < PROCESS_CPUS / 64; i++)
        if ((a->words[i] & b->words[i]) != 0)
            return true;
    return false;
}

bool process_ended(process of)
{
    process_stat line = {0};
    if (kill((pid_t)of.pid, 0) != 0 && errno == ESRCH)
        return true;
    if (!read_stat(of.pid, &line))
        return false; /* it may be hidden: that there is one is all that is known */
    return line.state == 'Z' || line.state == 'X' || (line.flags & EXITING) != 0 ||
           (of.start != 0 && line.start_time != of.start);
}

int process_watch(process of)
{
#ifdef SYS_pidfd_open
    process_stat line = {0};
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)of.pid, 0U); /* close-on-exec from the start */
    /* If the pid is another's by now, so is the descriptor. */
    if (fd >= 0 && of.start != 0 && read_stat(of.pid, &line) && line.start_time != of.start) {
        close(fd);
        fd = -1;
    }
    return fd;
#else
    (void)of;
    return -1;
#endif
}

bool process_read(process of, uint64_t from, void *to, size_t size)
{
    char *at = to;
    while (size > 0) {
        struct iovec here = {at, size};
        struct iovec there = {(void *)(uintptr_t)from, size};
        ssize_t got = process_vm_readv((pid_t)of.pid, &here, 1, &there, 1, 0);
        if (got == 0)
            errno = EFAULT;
        if (got <= 0)
            return false;
        at += got;
        from += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}
