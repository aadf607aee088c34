/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who this process is.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "net/host_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fnv.h"

/* Reads a small file whole; false where it can't be opened or is empty. */
static bool host_identity_read(const char *path, char *text, size_t size)
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

static uint64_t host_identity_namespace(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (uint64_t)about.st_ino : 0;
}

/* What a line of /proc/PID/stat says. */
typedef struct process_stat {
    char state;
    unsigned long flags;
    uint64_t start_time;
} process_stat;

/* The program's name in it may hold blanks and parentheses, so the fields are counted from the last
 * one. */
static bool host_identity_read_stat(const char *path, process_stat *process)
{
    enum { STATE = 3, FLAGS = 9, START_TIME = 22 };
    char line[1024];
    if (!host_identity_read(path, line, sizeof(line)))
        return false;
    const char *at = strrchr(line, ')');
    if (at == NULL || at[1] != ' ')
        return false;
    process->state = at[2];
    at++;
    for (int field = STATE; field < START_TIME && at != NULL; field++) {
        if (field == FLAGS)
            process->flags = strtoul(at + 1, NULL, 10);
        at = strchr(at + 1, ' ');
    }
    if (at == NULL)
        return false;
    process->start_time = strtoull(at + 1, NULL, 10);
    return true;
}

static const char boot_path[] = "/proc/sys/kernel/random/boot_id";

/* 32 hexadecimal digits of the boot id, whose dashes are left out. */
static bool host_identity_boot(char digits[33])
{
    char text[64];
    size_t length = 0;
    if (!host_identity_read(boot_path, text, sizeof(text)))
        return false;
    for (const char *at = text; *at != '\0' && length < 32; at++)
        if (strchr("0123456789abcdef", *at) != NULL)
            digits[length++] = *at;
    digits[length] = '\0';
    return length == 32;
}

static int host_identity_cores(void)
{
    for (int most = 1024; most <= 1 << 20; most *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        if (set == NULL)
            break;
        size_t size = CPU_ALLOC_SIZE((size_t)most);
        int failed = sched_getaffinity(0, size, set) != 0 ? errno : 0;
        int cores = failed == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (failed == 0 && cores > 0)
            return cores;
        if (failed != EINVAL)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (int)online;
}

muster_status host_identity_get(host_identity *self)
{
    if (self == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "the identity of this host needs a place to go to");
    memset(self, 0, sizeof(*self));
    if (gethostname(self->host_name, sizeof(self->host_name) - 1) != 0 ||
        self->host_name[0] == '\0')
        strcpy(self->host_name, "unknown");
    char boot[33];
    errno = 0;
    if (!host_identity_boot(boot)) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
            return error_set(MUSTER_ERR_SYSTEM,
                             "can't read which host this is from %s: %s; without that it would be "
                             "taken for another",
                             boot_path, strerror(errno));
        snprintf(boot, sizeof(boot), "%032" PRIx64, fnv_add_text(FNV_START, self->host_name));
    }
    snprintf(self->host_id, sizeof(self->host_id), "%s%016" PRIx64, boot,
             host_identity_namespace("/proc/self/ns/net"));
    self->pid = getpid();
    self->pid_namespace = host_identity_namespace("/proc/self/ns/pid");
    process_stat process;
    if (host_identity_read_stat("/proc/self/stat", &process))
        self->start_time = process.start_time;
    self->cores = host_identity_cores();
    return MUSTER_OK;
}

bool host_identity_alive(uint64_t pid_namespace, int64_t pid, uint64_t start_time)
{
    if (pid <= 0 || pid != (pid_t)pid)
        return false;
    if (pid_namespace != host_identity_namespace("/proc/self/ns/pid"))
        return true;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return false;
    enum { EXITING = 4 }; /* PF_EXITING of the kernel: it has begun to end, which can take long */
    char path[64];
    process_stat process;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    /* Other users' processes may be hidden there; that one runs is all that is known then. */
    if (!host_identity_read_stat(path, &process))
        return true;
    if (process.state == 'Z' || process.state == 'X' || (process.flags & EXITING) != 0)
        return false;
    return start_time == 0 || process.start_time == start_time;
}
