/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The descriptors of this process.
 */
#include "config.h"

#include "descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm.h"

struct descriptors {
    size_t count;
    size_t size;          /* in bytes */
    unsigned char bits[]; /* one for each descriptor */
};

/* Where /proc/self/fd can't be read, which takes a descriptor. */
static void each_by_number(void (*visit)(void *user, int fd), void *user)
{
    enum { MOST = 1 << 16 };
    for (int fd = 0; fd < MOST; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            visit(user, fd);
}

void descriptors_each(void (*visit)(void *user, int fd), void *user)
{
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        each_by_number(visit, user);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && fd != dirfd(folder))
            visit(user, (int)fd);
    }
    closedir(folder);
}

static void descriptors_highest(void *user, int fd)
{
    int *highest = user;
    if (fd > *highest)
        *highest = fd;
}

static void descriptors_mark(void *user, int fd)
{
    descriptors *now = user;
    if ((size_t)fd / 8 >= now->size)
        return;
    now->bits[fd / 8] |= (unsigned char)(1 << fd % 8);
    now->count++;
}

descriptors *descriptors_now(void)
{
    int highest = 0;
    descriptors_each(descriptors_highest, &highest);
    size_t size = (size_t)highest / 8 + 1;
    descriptors *now = calloc(1, sizeof(*now) + size);
    if (now == NULL)
        return NULL;
    now->size = size;
    descriptors_each(descriptors_mark, now);
    return now;
}

void descriptors_free(descriptors *now)
{
    free(now);
}

muster_status descriptors_reserve(const descriptors *now, size_t needed)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return MUSTER_OK;
    size_t open_now = now == NULL ? 0 : now->count;
    if (open_now + needed <= limit.rlim_cur)
        return MUSTER_OK;
    if (limit.rlim_max == RLIM_INFINITY || open_now + needed <= limit.rlim_max) {
        struct rlimit raised = {open_now + needed, limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            return MUSTER_OK;
    }
    return gloo_host->error(MUSTER_ERR_SYSTEM,
                            "too few descriptors: %zu are open, this group needs %zu more, and the "
                            "limit is %llu (ulimit -n, hard limit %llu); raise it",
                            open_now, needed, (unsigned long long)limit.rlim_cur,
                            (unsigned long long)limit.rlim_max);
}

/* A socket or an epoll; where there is no /proc an epoll looks like any that is no file. What /proc
 * knows no more is of a thread that has closed it meanwhile, and is not touched. */
static bool is_of_network(int fd)
{
    char path[48], what[32];
    struct stat about;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, what, sizeof(what) - 1);
    if (length < 0)
        return access("/proc/self/fd", F_OK) != 0 && fstat(fd, &about) == 0 &&
               (S_ISSOCK(about.st_mode) || (about.st_mode & S_IFMT) == 0);
    what[length] = '\0';
    return strncmp(what, "socket:", 7) == 0 || strcmp(what, "anon_inode:[eventpoll]") == 0;
}

static void descriptors_set_new(void *user, int fd)
{
    const descriptors *before = user;
    if ((size_t)fd / 8 < before->size && (before->bits[fd / 8] >> fd % 8 & 1) != 0)
        return;
    if (!is_of_network(fd))
        return;
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0)
        fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

void descriptors_close_on_exec(const descriptors *before)
{
    if (before != NULL)
        descriptors_each(descriptors_set_new, (void *)before);
}
