/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: GPUs and network interfaces, which are PCI devices with objects
 * of the operating system below them.
 */
#include "config.h"

#ifdef HAVE_HWLOC
#include "machine/machine_hwloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VENDOR_NVIDIA = 0x10de,
    VENDOR_AMD = 0x1002,
    VENDOR_CRAY = 0x17db,
    CLASS_NETWORK = 0x02,
    CLASS_INFINIBAND = 0x0207,
    CLASS_FABRIC = 0x0208,
    CLASS_DISPLAY = 0x03,
    CLASS_VGA = 0x0300,
    CLASS_ACCELERATOR = 0x12,
};

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

/* Boards have a chip that only shows a picture, of AMD's predecessor's as well: its graphics
 * chips before there was computing on them have numbers from 4000 to 5fff. */
static bool is_gpu(const struct hwloc_pcidev_attr_s *pci)
{
    unsigned kind = pci->class_id >> 8;
    if (kind != CLASS_DISPLAY && kind != CLASS_ACCELERATOR)
        return false;
    if (pci->vendor_id == VENDOR_AMD)
        return pci->class_id != CLASS_VGA || pci->device_id < 0x4000 || pci->device_id > 0x5fff;
    return pci->vendor_id == VENDOR_NVIDIA;
}

static void keep_info(hwloc_obj_t object, const char *name, char *text, size_t size)
{
    const char *value = hwloc_obj_get_info_by_name(object, name);
    if (value != NULL && text[0] == '\0')
        snprintf(text, size, "%s", value);
}

/* Objects of CUDA, NVML and others below the device say more of it, where hwloc had them. The
 * device's own name is that of the chip, and may be known without them. */
static void read_gpu(hwloc_topology_t topology, machine *m, hwloc_obj_t device)
{
    machine_gpu *gpu = &m->gpus[m->num_gpus++];
    machine_hwloc_bus_id(device, gpu->bus_id);
    gpu->vendor = device->attr->pcidev.vendor_id;
    gpu->device = device->attr->pcidev.device_id;
    gpu->usable = gpu->vendor == VENDOR_NVIDIA;
    gpu->place = machine_hwloc_place(topology, m, device);
    for (hwloc_obj_t at = device->io_first_child; at != NULL; at = at->next_sibling) {
        keep_info(at, "GPUModel", gpu->model, sizeof(gpu->model));
        keep_info(at, "NVIDIAUUID", gpu->uuid, sizeof(gpu->uuid));
    }
    keep_info(device, "PCIDevice", gpu->model, sizeof(gpu->model));
}

static int by_bus_id(const char *a, const char *b)
{
    size_t longer = strlen(a), other = strlen(b); /* a domain of more than four digits */
    return longer != other ? (longer < other ? -1 : 1) : strcmp(a, b);
}

static int compare_gpus(const void *a, const void *b)
{
    return by_bus_id(((const machine_gpu *)a)->bus_id, ((const machine_gpu *)b)->bus_id);
}

muster_status machine_read_gpus(hwloc_topology_t topology, machine *m)
{
    int count = 0;
    for (hwloc_obj_t at = NULL; (at = hwloc_get_next_pcidev(topology, at)) != NULL;)
        count += is_gpu(&at->attr->pcidev) ? 1 : 0;
    muster_status status = machine_array(&m->gpus, count, sizeof(*m->gpus));
    if (status != MUSTER_OK)
        return status;
    for (hwloc_obj_t at = NULL; (at = hwloc_get_next_pcidev(topology, at)) != NULL;)
        if (is_gpu(&at->attr->pcidev))
            read_gpu(topology, m, at);
    qsort(m->gpus, (size_t)m->num_gpus, sizeof(*m->gpus), compare_gpus);
    return MUSTER_OK;
}

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
    int order = by_bus_id(one->bus_id, other->bus_id);
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
#endif
