/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Processes of this host.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { EXITING = 4 }; /* PF_EXITING of the kernel: it has begun to end, which can take long */

typedef struct process_line {
    char state;
    unsigned long flags;
    uint64_t start;
} process_line;

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got;
    do
        got = read(fd, text, size - 1);
    while (got < 0 && errno == EINTR);
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

/* The program's name in it may hold blanks and parentheses: fields are counted from the last one.
 */
static bool read_line(int64_t pid, process_line *line)
{
    enum { STATE = 3, FLAGS = 9, START = 22 };
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    if (!read_text(path, text, sizeof(text)))
        return false;
    const char *at = strrchr(text, ')');
    if (at == NULL || at[1] != ' ')
        return false;
    line->state = at[2];
    at++;
    for (int field = STATE; field < START && at != NULL; field++) {
        if (field == FLAGS)
            line->flags = strtoul(at + 1, NULL, 10);
        at = strchr(at + 1, ' ');
    }
    if (at == NULL)
        return false;
    line->start = strtoull(at + 1, NULL, 10);
    return true;
}

process process_self(void)
{
    process_line line = {0};
    process self = {.pid = getpid()};
    if (read_line(self.pid, &line))
        self.start = line.start;
    return self;
}

uint64_t process_namespace(const char *kind)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
    return stat(path, &about) == 0 ? (uint64_t)about.st_ino : 0;
}

bool process_ended(process of)
{
    process_line line = {0};
    if (kill((pid_t)of.pid, 0) != 0 && errno == ESRCH)
        return true;
    if (!read_line(of.pid, &line))
        return false; /* it may be hidden: that there is one is all that is known */
    return line.state == 'Z' || line.state == 'X' || (line.flags & EXITING) != 0 ||
           (of.start != 0 && line.start != of.start);
}

int process_watch(process of)
{
#ifdef SYS_pidfd_open
    process_line line = {0};
    int fd = (int)syscall(SYS_pidfd_open, (pid_t)of.pid, 0U); /* close-on-exec from the start */
    /* If the pid is another's by now, so is the descriptor. */
    if (fd >= 0 && of.start != 0 && read_line(of.pid, &line) && line.start != of.start) {
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
