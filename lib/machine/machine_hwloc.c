/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Machines from hwloc: opening its tree without noise, and making the model of it.
 */
#include "config.h"

#include "machine/machine_hwloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "machine/machine_nics_kernel.h"
#include "machine/machine_plain.h"
#include "machine/quiet.h"

/* What goes to the quiet thread and comes back from it. */
typedef struct loading {
    const char *xml; /* NULL: this machine */
    size_t size;
    bool devices;              /* which takes reading the configuration of each */
    hwloc_topology_t topology; /* NULL where it failed */
    int error;
} loading;

/* Off are those that start drivers or open displays, that bind the thread to each CPU in turn, or
 * that use libraries which can't be called on two threads at once. The kernel says what they would
 * have said of where devices are. */
static void leave_out(hwloc_topology_t topology)
{
#if HWLOC_API_VERSION >= 0x00020100
    static const char *const components[] = {"opencl", "gl",        "cuda", "nvml",
                                             "rsmi",   "levelzero", "pci",  "x86"};
    for (size_t i = 0; i < sizeof(components) / sizeof(*components); i++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                      components[i]);
#else
    (void)topology;
#endif
}

/* The whole machine, so that the ranks of one host see the same, whatever cgroups they are in. */
static bool prepare(hwloc_topology_t topology, const loading *how)
{
#if HWLOC_API_VERSION >= 0x00020100
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#else
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_WHOLE_SYSTEM;
#endif
    leave_out(topology);
    return hwloc_topology_set_flags(topology, flags) == 0 &&
           (!how->devices ||
            hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0) &&
           (how->xml == NULL ||
            hwloc_topology_set_xmlbuffer(topology, how->xml, (int)how->size) == 0);
}

static void load_quietly(void *what)
{
    loading *how = what;
    errno = 0;
    if (hwloc_topology_init(&how->topology) != 0) {
        how->topology = NULL;
        how->error = errno;
        return;
    }
    if (prepare(how->topology, how) && hwloc_topology_load(how->topology) == 0)
        return;
    how->error = errno;
    hwloc_topology_destroy(how->topology);
    how->topology = NULL;
}

/* hwloc's own advice: the library found must speak the interface that the headers describe. */
static bool same_interface(void)
{
    return hwloc_get_api_version() >> 16 == HWLOC_API_VERSION >> 16;
}

static muster_status read_devices(hwloc_topology_t topology, machine *m)
{
    muster_status status = MUSTER_OK;
    if (!m->devices)
        return m->this_system ? machine_read_kernel_nics("/sys", m) : MUSTER_OK;
    status = machine_read_gpus(topology, m);
    return status == MUSTER_OK ? machine_read_nics(topology, m) : status;
}

static muster_status read_all(hwloc_topology_t topology, machine *m)
{
    muster_status status = machine_read_cpus(topology, m);
    if (status == MUSTER_OK)
        status = read_devices(topology, m);
    if (status == MUSTER_OK)
        status = machine_read_distances(topology, m);
    return status == MUSTER_OK ? machine_read_links(topology, m) : status;
}

static void say_seen_by(machine *m, const char *where)
{
    snprintf(m->seen_by, sizeof(m->seen_by), "hwloc, interface %u.%u%s%s",
             hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff,
             where == NULL ? "" : ", in ", where == NULL ? "" : where);
}

static muster_status to_model(hwloc_topology_t topology, const loading *how, const char *where,
                              machine **made)
{
    machine *m = calloc(1, sizeof(*m));
    if (m == NULL)
        return error_no_memory(sizeof(*m), "the model of the machine");
    m->whole = true;
    m->devices = how->devices;
    m->this_system = hwloc_topology_is_thissystem(topology) != 0;
    say_seen_by(m, where);
    muster_status status = read_all(topology, m);
    cpu_set binding;
    if (status == MUSTER_OK && m->this_system && machine_own_binding(&binding))
        machine_bind(m, &binding);
    if (status == MUSTER_OK)
        *made = m;
    else
        machine_free(m);
    return status;
}

static muster_status load_machine(loading *how, const char *where, machine **made)
{
    if (!same_interface())
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "the hwloc found speaks interface %u.%u, and muster was built for %u.%u: "
                         "install the hwloc that muster was built with",
                         hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff,
                         (unsigned)HWLOC_API_VERSION >> 16,
                         (unsigned)HWLOC_API_VERSION >> 8 & 0xff);
    muster_status status = quiet_run(load_quietly, how);
    if (status != MUSTER_OK)
        return status;
    if (how->topology == NULL && how->xml != NULL)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s is no topology that hwloc %u.%u reads: make one with lstopo FILE.xml "
                         "of the same or an older hwloc",
                         where, hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff);
    if (how->topology == NULL)
        return error_set(MUSTER_ERR_SYSTEM, "hwloc can't see this machine: %s",
                         how->error == 0 ? "it doesn't say why" : strerror(how->error));
    status = to_model(how->topology, how, where, made);
    hwloc_topology_destroy(how->topology);
    return status;
}

muster_status machine_hwloc_load(const char *xml, size_t size, const char *where, machine **made)
{
    loading how = {.xml = xml, .size = size, .devices = true};
    return load_machine(&how, where, made);
}

muster_status machine_hwloc_load_here(bool devices, machine **made)
{
    loading how = {.devices = devices};
    return load_machine(&how, NULL, made);
}
