/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: packages, NUMA nodes, caches and cores.
 */
#include "config.h"

#include "machine/machine_hwloc.h"

#include "base/error.h"

/* How many objects of a type have CPUs. */
static int count_with_cpus(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int count = 0;
    for (hwloc_obj_t at = NULL; (at = machine_hwloc_next(topology, type, at)) != NULL;)
        count += hwloc_bitmap_iszero(at->cpuset) ? 0 : 1;
    return count;
}

static muster_status read_packages(hwloc_topology_t topology, machine *m)
{
    int count = count_with_cpus(topology, HWLOC_OBJ_PACKAGE);
    muster_status status = machine_array(&m->packages, count, sizeof(*m->packages));
    if (status != MUSTER_OK)
        return status;
    for (hwloc_obj_t at = NULL; (at = machine_hwloc_next(topology, HWLOC_OBJ_PACKAGE, at)) != NULL;)
        if (!hwloc_bitmap_iszero(at->cpuset))
            m->packages[m->num_packages++] = (machine_package){
                .number = (int)at->os_index, .cpus = machine_hwloc_cpus(at->cpuset)};
    return MUSTER_OK;
}

static muster_status read_numas(hwloc_topology_t topology, machine *m)
{
    int count = count_with_cpus(topology, HWLOC_OBJ_NUMANODE);
    muster_status status = machine_array(&m->numas, count, sizeof(*m->numas));
    if (status != MUSTER_OK)
        return status;
    for (hwloc_obj_t at = NULL;
         (at = machine_hwloc_next(topology, HWLOC_OBJ_NUMANODE, at)) != NULL;) {
        if (hwloc_bitmap_iszero(at->cpuset)) {
            m->memory_nodes++;
            continue;
        }
        machine_numa *numa = &m->numas[m->num_numas++];
        numa->number = (int)at->os_index;
        numa->memory = at->attr->numanode.local_memory;
        numa->cpus = machine_hwloc_cpus(at->cpuset);
        numa->package = machine_package_of(m, &numa->cpus);
    }
    return MUSTER_OK;
}

static muster_status read_l3s(hwloc_topology_t topology, machine *m)
{
    int count = count_with_cpus(topology, HWLOC_OBJ_L3CACHE);
    muster_status status = machine_array(&m->l3s, count, sizeof(*m->l3s));
    if (status != MUSTER_OK)
        return status;
    for (hwloc_obj_t at = NULL;
         (at = machine_hwloc_next(topology, HWLOC_OBJ_L3CACHE, at)) != NULL;) {
        if (hwloc_bitmap_iszero(at->cpuset))
            continue;
        machine_l3 *l3 = &m->l3s[m->num_l3s++];
        l3->cpus = machine_hwloc_cpus(at->cpuset);
        l3->package = machine_package_of(m, &l3->cpus);
        l3->numa = machine_numa_of(m, &l3->cpus);
    }
    return MUSTER_OK;
}

static int l3_of(const machine *m, int pu)
{
    for (int i = 0; i < m->num_l3s; i++)
        if (cpu_set_has(&m->l3s[i].cpus, pu))
            return i;
    return -1;
}

static void read_core(hwloc_obj_t from, machine *m)
{
    machine_core *core = &m->cores[m->num_cores++];
    cpu_set cpus = machine_hwloc_cpus(from->cpuset);
    core->pus = m->pus + m->num_pus;
    for (int pu = cpu_set_first(&cpus); pu >= 0; pu = cpu_set_next(&cpus, pu)) {
        m->pus[m->num_pus++] = pu;
        core->num_pus++;
    }
    core->package = machine_package_of(m, &cpus);
    core->numa = machine_numa_of(m, &cpus);
    core->l3 = l3_of(m, core->pus[0]);
}

/* Where nobody says which hardware threads share a core each counts as one. */
static muster_status read_cores(hwloc_topology_t topology, machine *m)
{
    hwloc_obj_type_t type = HWLOC_OBJ_CORE;
    int count = count_with_cpus(topology, type);
    if (count == 0)
        count = count_with_cpus(topology, type = HWLOC_OBJ_PU);
    muster_status status = machine_array(&m->cores, count, sizeof(*m->cores));
    if (status == MUSTER_OK)
        status = machine_array(&m->pus, cpu_set_count(&m->cpus), sizeof(*m->pus));
    if (status != MUSTER_OK)
        return status;
    cpu_set seen = {{0}};
    for (hwloc_obj_t at = NULL; (at = machine_hwloc_next(topology, type, at)) != NULL;) {
        cpu_set cpus = machine_hwloc_cpus(at->cpuset);
        if (cpu_set_is_empty(&cpus) || cpu_set_meets(&cpus, &seen))
            continue;
        seen = cpu_set_or(&seen, &cpus);
        read_core(at, m);
    }
    return MUSTER_OK;
}

/* The model numbers CPUs up to CPU_SET_LIMIT, and needs one at least. */
static muster_status read_sets(hwloc_topology_t topology, machine *m)
{
    hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(topology);
    int last = all == NULL ? -1 : hwloc_bitmap_last(all);
    if (last < 0)
        return error_set(MUSTER_ERR_ARGUMENT, "%s: it has no CPUs", m->seen_by);
    if (last >= CPU_SET_LIMIT)
        return error_set(MUSTER_ERR_UNSUPPORTED, "%s: it has a CPU %d, and muster knows 0 to %d",
                         m->seen_by, last, CPU_SET_LIMIT - 1);
    m->cpus = machine_hwloc_cpus(all);
    cpu_set allowed = machine_hwloc_cpus(hwloc_topology_get_allowed_cpuset(topology));
    m->allowed = cpu_set_and(&allowed, &m->cpus);
    if (cpu_set_is_empty(&m->allowed))
        m->allowed = m->cpus;
    m->binding = m->allowed;
    return MUSTER_OK;
}

muster_status machine_read_cpus(hwloc_topology_t topology, machine *m)
{
    muster_status status = read_sets(topology, m);
    if (status == MUSTER_OK)
        status = read_packages(topology, m);
    if (status == MUSTER_OK)
        status = read_numas(topology, m);
    if (status == MUSTER_OK)
        status = read_l3s(topology, m);
    return status == MUSTER_OK ? read_cores(topology, m) : status;
}
