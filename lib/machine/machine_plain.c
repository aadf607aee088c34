/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This machine without hwloc: the CPUs that the process may use, as the kernel says.
 */
#include "config.h"

#include "machine/machine_plain.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* The kernel's masks are as long as it was built for, which is only found out by trying. */
bool machine_own_binding(cpu_set *binding)
{
    *binding = (cpu_set){{0}};
    cpu_set_t *mask = CPU_ALLOC(CPU_SET_LIMIT);
    if (mask == NULL)
        return false;
    size_t size = CPU_ALLOC_SIZE(CPU_SET_LIMIT);
    bool known = sched_getaffinity(0, size, mask) == 0;
    for (int cpu = 0; known && cpu < CPU_SET_LIMIT; cpu++)
        if (CPU_ISSET_S(cpu, size, mask))
            cpu_set_add(binding, cpu);
    CPU_FREE(mask);
    return known && !cpu_set_is_empty(binding);
}

bool machine_kernel_list(const char *path, cpu_set *cpus)
{
    char text[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got;
    do
        got = read(fd, text, sizeof(text) - 1);
    while (got < 0 && errno == EINTR);
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    error_kept kept;
    error_keep(&kept);
    bool read_it = cpu_set_parse(cpus, text) == MUSTER_OK && !cpu_set_is_empty(cpus);
    if (!read_it)
        error_settle(&kept, MUSTER_OK);
    return read_it;
}

/* The CPUs that the cgroup leaves to this process, in the kernel's second or first way to say so.
 */
static bool cgroup_cpus(cpu_set *cpus)
{
    char own[1024], path[1200];
    FILE *file = fopen("/proc/self/cpuset", "re");
    if (file == NULL)
        return false;
    bool known = fgets(own, sizeof(own), file) != NULL;
    fclose(file);
    if (!known)
        return false;
    own[strcspn(own, "\n")] = '\0';
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpuset.cpus.effective", own);
    if (machine_kernel_list(path, cpus))
        return true;
    snprintf(path, sizeof(path), "/sys/fs/cgroup/cpuset%s/cpuset.cpus", own);
    return machine_kernel_list(path, cpus);
}

static void online_cpus(cpu_set *cpus)
{
    if (machine_kernel_list("/sys/devices/system/cpu/online", cpus))
        return;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    *cpus = (cpu_set){{0}};
    if (!cpu_set_add_range(cpus, 0, online - 1))
        cpu_set_add(cpus, 0);
}

muster_status machine_load_plain(const char *why, machine **made)
{
    machine *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return error_no_memory(sizeof(*m), "the model of this machine");
    snprintf(m->seen_by, sizeof(m->seen_by), "%s", why);
    m->this_system = true;
    m->devices = true;
    cpu_set binding, group;
    online_cpus(&m->cpus);
    if (!machine_own_binding(&binding))
        binding = m->cpus;
    m->cpus = cpu_set_or(&m->cpus, &binding);
    m->allowed = cgroup_cpus(&group) ? cpu_set_or(&group, &binding) : m->cpus;
    m->allowed = cpu_set_and(&m->allowed, &m->cpus);
    machine_bind(m, &binding);
    *made = m;
    return MUSTER_OK;
}
