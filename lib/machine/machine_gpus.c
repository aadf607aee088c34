/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From hwloc's tree to the model: GPUs, which are PCI devices of some vendors and classes.
 */
#include "config.h"

#include "machine/machine_hwloc.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    VENDOR_NVIDIA = 0x10de,
    VENDOR_AMD = 0x1002,
    CLASS_DISPLAY = 0x03,
    CLASS_VGA = 0x0300,
    CLASS_ACCELERATOR = 0x12,
};

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

static int compare_gpus(const void *a, const void *b)
{
    return machine_hwloc_order(((const machine_gpu *)a)->bus_id, ((const machine_gpu *)b)->bus_id);
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
