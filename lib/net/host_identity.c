/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who this process is.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "net/host_identity.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fnv.h"
#include "base/namespace.h"
#include "base/process_stat.h"

static const char boot_path[] = "/proc/sys/kernel/random/boot_id";

/* 32 hexadecimal digits of the boot id, whose dashes are left out. */
static bool host_identity_boot(char digits[33])
{
    char text[64];
    size_t length = 0;
    if (!process_text_read(boot_path, text, sizeof(text)))
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
    snprintf(self->host_id, sizeof(self->host_id), "%s%016" PRIx64, boot, namespace_number("net"));
    self->pid = getpid();
    self->pid_namespace = namespace_number("pid");
    process_stat process;
    if (process_stat_read("/proc/self/stat", &process))
        self->start_time = process.start_time;
    self->cores = host_identity_cores();
    return MUSTER_OK;
}

bool host_identity_alive(uint64_t pid_namespace, int64_t pid, uint64_t start_time)
{
    if (pid <= 0 || pid != (pid_t)pid)
        return false;
    if (pid_namespace != namespace_number("pid"))
        return true;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return false;
    enum { EXITING = 4 }; /* PF_EXITING of the kernel: it has begun to end, which can take long */
    char path[64];
    process_stat process;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    /* Other users' processes may be hidden there; that one runs is all that is known then. */
    if (!process_stat_read(path, &process))
        return true;
    if (process.state == 'Z' || process.state == 'X' || (process.flags & EXITING) != 0)
        return false;
    return start_time == 0 || process.start_time == start_time;
}
