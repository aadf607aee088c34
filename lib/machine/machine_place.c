/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: what its parts share, and where a device is.
 */
#include "config.h"

#include "machine/machine_hwloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

muster_status machine_array(void *array, int count, size_t size)
{
    void *made = calloc(count < 1 ? 1 : (size_t)count, size);
    if (made == NULL)
        return error_no_memory((size_t)count * size, "the model of the machine");
    *(void **)array = made;
    return MUSTER_OK;
}

hwloc_obj_t machine_hwloc_next(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t after)
{
    return hwloc_get_next_obj_by_type(topology, type, after);
}

cpu_set machine_hwloc_cpus(hwloc_const_bitmap_t bitmap)
{
    cpu_set cpus = {{0}};
    if (bitmap != NULL)
        for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0 && cpu < CPU_SET_LIMIT;
             cpu = hwloc_bitmap_next(bitmap, cpu))
            cpu_set_add(&cpus, cpu);
    return cpus;
}

hwloc_obj_t machine_hwloc_device(hwloc_obj_t object)
{
    while (object != NULL && object->type != HWLOC_OBJ_PCI_DEVICE)
        object = object->parent;
    return object;
}

void machine_hwloc_bus_id(hwloc_obj_t device, char bus_id[MACHINE_BUS_ID_SIZE])
{
    const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
    snprintf(bus_id, MACHINE_BUS_ID_SIZE, "%04x:%02x:%02x.%x", (unsigned)pci->domain,
             (unsigned)pci->bus & 0xff, (unsigned)pci->dev & 0x1f, (unsigned)pci->func & 7);
}

static void read_path(hwloc_obj_t device, machine_path *path)
{
    int count = 0;
    for (hwloc_obj_t at = device->parent; at != NULL; at = at->parent)
        count += at->type == HWLOC_OBJ_BRIDGE ? 1 : 0;
    /* Of a longer way the part next to the CPUs is kept: where it parts from others. */
    path->count = count < MACHINE_PATH_LIMIT ? count : MACHINE_PATH_LIMIT;
    for (hwloc_obj_t at = device->parent; at != NULL; at = at->parent)
        if (at->type == HWLOC_OBJ_BRIDGE && --count < MACHINE_PATH_LIMIT)
            path->bridges[count] = (int)at->logical_index;
}

/* Under the root itself nothing is known, or all CPUs are as near. CPUs that a cgroup has taken
 * away still tell where the device is. */
machine_place machine_hwloc_place(hwloc_topology_t topology, const machine *m, hwloc_obj_t device)
{
    machine_place place = {.package = -1, .numa = -1};
    read_path(device, &place.path);
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
    if (near == NULL || near->parent == NULL)
        return place;
    place.cpus = machine_hwloc_cpus(near->cpuset);
    if (cpu_set_is_empty(&place.cpus))
        place.cpus = machine_hwloc_cpus(near->complete_cpuset);
    if (cpu_set_is_empty(&place.cpus))
        return place;
    place.depth = near->depth > 0 ? near->depth : 0;
    place.package = machine_package_of(m, &place.cpus);
    place.numa = machine_numa_of(m, &place.cpus);
    return place;
}

int machine_hwloc_order(const char *a, const char *b)
{
    size_t longer = strlen(a), other = strlen(b); /* a domain of more than four digits */
    return longer != other ? (longer < other ? -1 : 1) : strcmp(a, b);
}
