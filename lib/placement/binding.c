/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding the calling thread, by the kernel's own calls: they are about one thread, as hwloc's for
 * a process are not, and can be made between fork and exec.
 */
#include "config.h"

#include "placement/binding.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"

static const char *const words[] = {
    [BINDING_NONE] = "none",
    [BINDING_CORE] = "core",
    [BINDING_NUMA] = "numa",
    [BINDING_DEVICE] = "device",
};

muster_status binding_read(const char *text, binding_to *to)
{
    nearest search = {.wanted = text};
    for (int i = 0; i <= BINDING_DEVICE; i++) {
        if (strcasecmp(words[i], text) == 0) {
            *to = (binding_to)i;
            return MUSTER_OK;
        }
        nearest_offer(&search, words[i]);
    }
    return error_set(
        MUSTER_ERR_ARGUMENT,
        "a rank can't be bound to \"%.100s\"%s%s%s: bind is none, core, numa or device", text,
        search.best != NULL ? " (did you mean " : "", search.best != NULL ? search.best : "",
        search.best != NULL ? "?)" : "");
}

muster_status binding_cpus(const cpu_set *cpus)
{
    union {
        cpu_set_t whole[CPU_SET_LIMIT / CPU_SETSIZE];
        unsigned char bytes[CPU_SET_LIMIT / 8];
    } mask;
    memset(&mask, 0, sizeof(mask));
    for (int cpu = cpu_set_first(cpus); cpu >= 0; cpu = cpu_set_next(cpus, cpu))
        CPU_SET_S((size_t)cpu, sizeof(mask), mask.whole);
    if (sched_setaffinity(0, sizeof(mask), mask.whole) == 0)
        return MUSTER_OK;
    int error = errno;
    char list[160];
    cpu_set_write(cpus, list, sizeof(list));
    errno = error;
    return error_system("can't bind this thread to CPUs %s", list);
}

void binding_memory(int node)
{
#ifdef SYS_set_mempolicy
    enum { PREFERRED = 1, MOST_NODES = 1024, WORD = 8 * sizeof(unsigned long) };
    unsigned long mask[MOST_NODES / WORD] = {0};
    if (node < 0 || node >= MOST_NODES)
        return;
    mask[node / (int)WORD] |= 1UL << (node % (int)WORD);
    int before = errno;
    syscall(SYS_set_mempolicy, PREFERRED, mask, (unsigned long)MOST_NODES + 1);
    errno = before;
#else
    (void)node;
#endif
}
