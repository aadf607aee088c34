/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: distances between NUMA nodes, and links between GPUs.
 */
#include "config.h"

#include "machine/machine_hwloc.h"

#include <hwloc/distances.h>
#include <limits.h>
#include <stdlib.h>

#include "base/error.h"

enum { WITHIN = 10, BETWEEN = 20, FARTHEST = 254 };

static int numa_numbered(const machine *m, unsigned number)
{
    for (int i = 0; i < m->num_numas; i++)
        if ((unsigned)m->numas[i].number == number)
            return i;
    return -1;
}

/* The firmware's table is taken as a whole or not at all: 10 for each node itself, more between
 * nodes. Some firmware leaves rubbish in it. */
static bool distances_make_sense(const machine *m)
{
    for (int i = 0; i < m->num_numas; i++)
        for (int j = 0; j < m->num_numas; j++) {
            int distance = machine_distance(m, i, j);
            if (i == j ? distance != WITHIN : distance < WITHIN || distance > FARTHEST)
                return false;
        }
    return true;
}

static void default_distances(machine *m)
{
    for (int i = 0; i < m->num_numas; i++)
        for (int j = 0; j < m->num_numas; j++)
            m->distances[i * m->num_numas + j] = i == j ? WITHIN : BETWEEN;
}

static void take_distances(const struct hwloc_distances_s *from, machine *m)
{
    for (unsigned i = 0; i < from->nbobjs; i++)
        for (unsigned j = 0; j < from->nbobjs; j++) {
            int one = numa_numbered(m, from->objs[i]->os_index);
            int other = numa_numbered(m, from->objs[j]->os_index);
            hwloc_uint64_t value = from->values[i * from->nbobjs + j];
            if (one >= 0 && other >= 0)
                m->distances[one * m->num_numas + other] = value > FARTHEST ? 0 : (int)value;
        }
}

muster_status machine_read_distances(hwloc_topology_t topology, machine *m)
{
    if (m->num_numas > 1024)
        return error_set(MUSTER_ERR_UNSUPPORTED,
                         "%s: it has %d NUMA nodes, and muster knows up to 1024", m->seen_by,
                         m->num_numas);
    muster_status status =
        machine_array(&m->distances, m->num_numas * m->num_numas, sizeof(*m->distances));
    if (status != MUSTER_OK)
        return status;
    unsigned count = 1;
    struct hwloc_distances_s *found = NULL;
    if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &found,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) == 0 &&
        count > 0 && found != NULL) {
        take_distances(found, m);
        hwloc_distances_release(topology, found);
    }
    if (!distances_make_sense(m))
        default_distances(m);
    return MUSTER_OK;
}

/* The GPU that an object of the matrix is; -1 where it is none, and *is_switch where it is a switch
 * between GPUs. */
static int gpu_of(const machine *m, hwloc_obj_t object, bool *is_switch)
{
    char bus_id[MACHINE_BUS_ID_SIZE];
    hwloc_obj_t device = machine_hwloc_device(object);
    *is_switch = false;
    if (device == NULL)
        return -1;
    machine_hwloc_bus_id(device, bus_id);
    int gpu = machine_find_gpu(m, bus_id);
    *is_switch = gpu < 0;
    return gpu;
}

/* What a GPU has to all switches together. */
static hwloc_uint64_t to_switches(const struct hwloc_distances_s *from, const bool *switches,
                                  unsigned gpu)
{
    hwloc_uint64_t sum = 0;
    for (unsigned i = 0; i < from->nbobjs; i++)
        sum += switches[i] ? from->values[gpu * from->nbobjs + i] : 0;
    return sum < INT_MAX ? sum : INT_MAX;
}

/* Where no link goes straight from one GPU to another it goes over the switches, which let
 * everything through: the narrower end counts. */
static int link_between(const struct hwloc_distances_s *from, const bool *switches, unsigned one,
                        unsigned other)
{
    hwloc_uint64_t straight = from->values[one * from->nbobjs + other];
    if (straight > 0)
        return straight < INT_MAX ? (int)straight : INT_MAX;
    hwloc_uint64_t a = to_switches(from, switches, one), b = to_switches(from, switches, other);
    return (int)(a < b ? a : b);
}

static void take_links(const struct hwloc_distances_s *from, const int *gpus, const bool *switches,
                       machine *m)
{
    for (unsigned i = 0; i < from->nbobjs; i++)
        for (unsigned j = 0; j < from->nbobjs; j++)
            if (gpus[i] >= 0 && gpus[j] >= 0 && gpus[i] != gpus[j])
                m->links[gpus[i] * m->num_gpus + gpus[j]] = link_between(from, switches, i, j);
}

static muster_status read_matrix(const struct hwloc_distances_s *from, machine *m)
{
    int *gpus = calloc(from->nbobjs + 1, sizeof(*gpus));
    bool *switches = calloc(from->nbobjs + 1, sizeof(*switches));
    muster_status status = MUSTER_OK;
    if (gpus == NULL || switches == NULL)
        status = error_no_memory(from->nbobjs * sizeof(*gpus), "the links between GPUs");
    if (status == MUSTER_OK)
        status = machine_array(&m->links, m->num_gpus * m->num_gpus, sizeof(*m->links));
    if (status == MUSTER_OK) {
        for (unsigned i = 0; i < from->nbobjs; i++)
            gpus[i] = gpu_of(m, from->objs[i], &switches[i]);
        take_links(from, gpus, switches, m);
    }
    free(gpus);
    free(switches);
    return status;
}

muster_status machine_read_links(hwloc_topology_t topology, machine *m)
{
    muster_status status = MUSTER_OK;
#if HWLOC_API_VERSION >= 0x00020100
    unsigned count = 1;
    struct hwloc_distances_s *found = NULL;
    if (m->num_gpus < 2 || m->num_gpus > 1024 ||
        hwloc_distances_get_by_name(topology, "NVLinkBandwidth", &count, &found, 0) != 0 ||
        count == 0 || found == NULL)
        return MUSTER_OK;
    status = read_matrix(found, m);
    hwloc_distances_release(topology, found);
#else
    (void)topology;
    (void)m;
#endif
    return status;
}
