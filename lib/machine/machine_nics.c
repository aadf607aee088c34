/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: network interfaces and HCAs, which are objects of the operating
 * system below PCI devices.
 */
#include "config.h"

#include "machine/machine_hwloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VENDOR_CRAY = 0x17db, CLASS_INFINIBAND = 0x0207, CLASS_FABRIC = 0x0208 };

static bool is_network(hwloc_obj_t object)
{
    if (object->type != HWLOC_OBJ_OS_DEVICE || object->name == NULL)
        return false;
#if HWLOC_API_VERSION >= 0x00030000
    return (object->attr->osdev.types & HWLOC_OBJ_OSDEV_NETWORK) != 0;
#else
    return object->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK;
#endif
}

static bool is_hca(hwloc_obj_t object)
{
    if (object->type != HWLOC_OBJ_OS_DEVICE || object->name == NULL)
        return false;
#if HWLOC_API_VERSION >= 0x00030000
    return (object->attr->osdev.types & HWLOC_OBJ_OSDEV_OPENFABRICS) != 0;
#else
    return object->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
#endif
}

/* How many interfaces hang from a device, an HCA without any counting as one. */
static int count_nics(hwloc_obj_t device)
{
    int networks = 0, hcas = 0;
    for (hwloc_obj_t at = device->io_first_child; at != NULL; at = at->next_sibling) {
        networks += is_network(at) ? 1 : 0;
        hcas += is_hca(at) ? 1 : 0;
    }
    return networks > 0 ? networks : hcas;
}

/* Addresses of InfiniBand have 20 bytes, "80:00:...". EFA calls itself Ethernet, and has an HCA
 * alone. */
static machine_nic_kind nic_kind(hwloc_obj_t device, hwloc_obj_t object)
{
    unsigned class_id = device->attr->pcidev.class_id;
    const char *address = hwloc_obj_get_info_by_name(object, "Address");
    if (class_id == CLASS_FABRIC || device->attr->pcidev.vendor_id == VENDOR_CRAY)
        return MACHINE_FABRIC;
    if (class_id == CLASS_INFINIBAND || (address != NULL && strlen(address) >= 59))
        return MACHINE_INFINIBAND;
    return is_hca(object) ? MACHINE_FABRIC : MACHINE_ETHERNET;
}

/* Mbit/s as the driver says; -1 or an error where the interface is down. */
static int kernel_speed(const char *name)
{
    char path[128], text[32] = "";
    if (strchr(name, '/') != NULL)
        return 0;
    snprintf(path, sizeof(path), "/sys/class/net/%.64s/speed", name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    bool known = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    long speed = known ? strtol(text, NULL, 10) : 0;
    return speed > 0 && speed < 100000000 ? (int)speed : 0;
}

static void read_nic(hwloc_topology_t topology, machine *m, hwloc_obj_t object, const char *hca)
{
    hwloc_obj_t device = machine_hwloc_device(object);
    machine_nic *nic = &m->nics[m->num_nics++];
    machine_hwloc_bus_id(device, nic->bus_id);
    if (is_network(object))
        snprintf(nic->name, sizeof(nic->name), "%s", object->name);
    if (hca != NULL)
        snprintf(nic->hca, sizeof(nic->hca), "%s", hca);
    nic->kind = nic_kind(device, object);
    nic->speed = m->this_system && is_network(object) ? kernel_speed(object->name) : 0;
    nic->bus_speed = (int)(device->attr->pcidev.linkspeed * 1000);
    nic->place = machine_hwloc_place(topology, m, device);
}

/* Interfaces go with the HCA of their device. */
static void read_nics_of(hwloc_topology_t topology, machine *m, hwloc_obj_t device)
{
    hwloc_obj_t hca = NULL;
    bool networks = false;
    for (hwloc_obj_t at = device->io_first_child; at != NULL; at = at->next_sibling) {
        if (is_hca(at) && hca == NULL)
            hca = at;
        networks = networks || is_network(at);
    }
    for (hwloc_obj_t at = device->io_first_child; at != NULL; at = at->next_sibling)
        if (networks && is_network(at))
            read_nic(topology, m, at, hca == NULL ? NULL : hca->name);
        else if (!networks && is_hca(at))
            read_nic(topology, m, at, at->name);
}

static int compare_nics(const void *a, const void *b)
{
    const machine_nic *one = a, *other = b;
    int order = machine_hwloc_order(one->bus_id, other->bus_id);
    return order != 0 ? order : strcmp(one->name, other->name);
}

muster_status machine_read_nics(hwloc_topology_t topology, machine *m)
{
    int count = 0;
    for (hwloc_obj_t at = NULL; (at = hwloc_get_next_pcidev(topology, at)) != NULL;)
        count += count_nics(at);
    muster_status status = machine_array(&m->nics, count, sizeof(*m->nics));
    if (status != MUSTER_OK)
        return status;
    for (hwloc_obj_t at = NULL; (at = hwloc_get_next_pcidev(topology, at)) != NULL;)
        read_nics_of(topology, m, at);
    qsort(m->nics, (size_t)m->num_nics, sizeof(*m->nics), compare_nics);
    return MUSTER_OK;
}
