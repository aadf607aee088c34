/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: each part of it by a function of its own. Nothing else of
 * muster knows hwloc.
 */
#ifndef MUSTER_LIB_MACHINE_HWLOC_H
#define MUSTER_LIB_MACHINE_HWLOC_H

#include <hwloc.h>

#include "machine/machine.h"

/* The machine in an XML text that ends in a 0, which size counts; where names the text. */
muster_status machine_hwloc_load(const char *xml, size_t size, const char *where, machine **made);

/* This machine, with its devices or without. */
muster_status machine_hwloc_load_here(bool devices, machine **made);

/* hwloc's objects, in order of the depth that they are at; NULL after the last. */
hwloc_obj_t machine_hwloc_next(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t after);

/* CPUs that the model can't number are left out. */
cpu_set machine_hwloc_cpus(hwloc_const_bitmap_t bitmap);

/* The device that an object is or hangs from, or NULL. */
hwloc_obj_t machine_hwloc_device(hwloc_obj_t object);
void machine_hwloc_bus_id(hwloc_obj_t device, char bus_id[MACHINE_BUS_ID_SIZE]);

/* Packages, NUMA nodes, caches, cores, and what is allowed; then, in this order, GPUs, NICs,
 * distances and links. */
muster_status machine_read_cpus(hwloc_topology_t topology, machine *m);
muster_status machine_read_gpus(hwloc_topology_t topology, machine *m);
muster_status machine_read_nics(hwloc_topology_t topology, machine *m);
muster_status machine_read_distances(hwloc_topology_t topology, machine *m);
muster_status machine_read_links(hwloc_topology_t topology, machine *m);

/* Where the device is in the tree. */
machine_place machine_hwloc_place(hwloc_topology_t topology, const machine *m, hwloc_obj_t device);

/* Orders bus ids as strcmp orders texts. */
int machine_hwloc_order(const char *bus_id, const char *other);

/* Makes room for count elements, at least one; *array is NULL before. */
muster_status machine_array(void *array, int count, size_t size);

#endif
