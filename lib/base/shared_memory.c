/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory to share: memfd_create, and where that is not there or not allowed /dev/shm.
 */
#include "config.h"

#include "base/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int shared_memory_make(void)
{
#ifdef SYS_memfd_create
    enum { CLOSE_ON_EXEC = 1, SEALABLE = 2 };
    int made = (int)syscall(SYS_memfd_create, "muster", CLOSE_ON_EXEC | SEALABLE);
    if (made >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
        return made;
#endif
    char name[64];
    static _Atomic unsigned count;
    snprintf(name, sizeof(name), "/muster.%ld.%u", (long)getpid(), count++);
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        shm_unlink(name);
    return fd;
}
