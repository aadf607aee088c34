/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What hwloc sees of this machine, in short.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

#include "base/error.h"
#include "base/facts.h"
#include "net/host_identity.h"

/* Numbers of the whole machine; 0 where nobody could tell. */
typedef struct machine {
    int packages;
    int numa_nodes;
    int cores;
    int processing_units;
    char seen_by[80];
} machine;

#ifdef HAVE_HWLOC
/* hwloc's own advice: the library found must speak the interface that the headers describe. */
static bool same_interface(void)
{
    return hwloc_get_api_version() >> 16 == HWLOC_API_VERSION >> 16;
}

static void look(machine *seen)
{
    hwloc_topology_t topology;
    snprintf(seen->seen_by, sizeof(seen->seen_by),
             "nobody, for the hwloc found is of another interface");
    if (!same_interface() || hwloc_topology_init(&topology) != 0)
        return;
    /* Devices are not asked for: finding some of them opens a display, and writes to stderr. */
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(topology) == 0) {
        snprintf(seen->seen_by, sizeof(seen->seen_by), "hwloc, interface %u.%u",
                 hwloc_get_api_version() >> 16, hwloc_get_api_version() >> 8 & 0xff);
        seen->packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
        seen->numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
        seen->cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        seen->processing_units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    }
    hwloc_topology_destroy(topology);
}
#else
static void look(machine *seen)
{
    snprintf(seen->seen_by, sizeof(seen->seen_by), "nobody, for muster was built without hwloc");
}
#endif

muster_status muster_describe_host(bool json, char **text)
{
    if (text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_describe_host: text is NULL");
    host_identity self;
    muster_status status = host_identity_get(&self);
    if (status != MUSTER_OK)
        return status;
    machine seen = {0};
    facts f;
    look(&seen);
    status = facts_begin(&f, json);
    if (status != MUSTER_OK)
        return status;
    facts_text(&f, "host", self.host_name);
    facts_number(&f, "usable cores", self.cores);
    facts_text(&f, "topology by", seen.seen_by);
    facts_number(&f, "packages", seen.packages);
    facts_number(&f, "NUMA nodes", seen.numa_nodes);
    facts_number(&f, "cores", seen.cores);
    facts_number(&f, "threads", seen.processing_units);
    return facts_end(&f, text);
}
