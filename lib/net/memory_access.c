/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks find each other's memory as files in /proc. There the kernel lets a process in that has
 * the same user, group and user namespace as the other and no fewer rights, unless the other is
 * closed to all (it is not dumpable). All this is known before a group is made, so that ranks can
 * agree to go another way.
 */
#include "config.h"

#include "net/memory_access.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/namespace.h"
#include "base/shared_memory.h"

/* A bit for each capability that the process may use. */
static uint64_t capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &head, sets) != 0)
        return 0;
    return (uint64_t)sets[1].permitted << 32 | sets[0].permitted;
}

static bool is_closed(uint64_t rights)
{
    return prctl(PR_GET_DUMPABLE) != 1 && (rights >> CAP_SYS_PTRACE & 1) == 0;
}

static bool is_passing(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR;
}

/* Makes some memory, and opens it as others would. */
static void try_memory(memory_access *self)
{
    char path[64];
    int made = shared_memory_make();
    if (made < 0 && !is_passing(errno))
        snprintf(self->why_not, sizeof(self->why_not),
                 "it can't make memory to share (%s); memfd_create, or /dev/shm, must be there and "
                 "allowed",
                 strerror(errno));
    if (made < 0)
        return;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)getpid(), made);
    int again = open(path, O_RDWR | O_CLOEXEC);
    if (again < 0 && !is_passing(errno))
        snprintf(self->why_not, sizeof(self->why_not),
                 "its memory can't be opened by its name in /proc (%s)", strerror(errno));
    if (again >= 0)
        close(again);
    close(made);
}

void memory_access_get(memory_access *self)
{
    uint64_t users = namespace_number("user");
    uint64_t rights = capabilities();
    *self = (memory_access){"", ""};
    if (users == 0 || namespace_number("pid") == 0 || namespace_number("net") == 0) {
        snprintf(self->why_not, sizeof(self->why_not),
                 "no /proc is mounted there, or not that of its pid namespace");
        return;
    }
    snprintf(self->as, sizeof(self->as),
             "user %lu, group %lu, user namespace %llu, capabilities %llx",
             (unsigned long)geteuid(), (unsigned long)getegid(), (unsigned long long)users,
             (unsigned long long)rights);
    if (is_closed(rights))
        snprintf(self->why_not, sizeof(self->why_not),
                 "its memory is closed to other processes (PR_SET_DUMPABLE), as that of programs "
                 "with rights of their own is");
    else
        try_memory(self);
}
