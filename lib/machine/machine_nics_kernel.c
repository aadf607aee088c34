/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Network interfaces and HCAs of this machine as the kernel says where they are. hwloc knows more
 * of them, but reads the configuration of every PCI device for that, which takes milliseconds.
 */
#include "config.h"

#include "machine/machine_nics_kernel.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "machine/machine_plain.h"

/* The folder of the PCI device that a device is or hangs from; false where there is none. */
static bool find_pci(const char *link, char folder[PATH_MAX], char bus_id[MACHINE_BUS_ID_SIZE])
{
    if (realpath(link, folder) == NULL)
        return false;
    for (;;) {
        char *name = strrchr(folder, '/');
        if (name == NULL)
            return false;
        if (machine_bus_id(name + 1, bus_id))
            return true;
        *name = '\0';
    }
}

/* The first name in a folder, by the alphabet. */
static void first_in(const char *folder, const char *sub, char *name, size_t size)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/%s", folder, sub);
    DIR *entries = opendir(path);
    struct dirent *at;
    name[0] = '\0';
    while (entries != NULL && (at = readdir(entries)) != NULL)
        if (at->d_name[0] != '.' && (name[0] == '\0' || strcmp(at->d_name, name) < 0))
            snprintf(name, size, "%.63s", at->d_name);
    if (entries != NULL)
        closedir(entries);
}

/* Near all CPUs is near to none. */
static machine_place place_of(const machine *m, const char *folder)
{
    machine_place place = {.package = -1, .numa = -1};
    char path[PATH_MAX + 32];
    cpu_set near;
    snprintf(path, sizeof(path), "%s/local_cpulist", folder);
    if (!machine_kernel_list(path, &near) || cpu_set_is_subset(&m->cpus, &near))
        return place;
    place.cpus = near;
    place.package = machine_package_of(m, &near);
    place.numa = machine_numa_of(m, &near);
    return place;
}

static muster_status add(machine *m, const machine_nic *nic)
{
    size_t bytes = ((size_t)m->num_nics + 1) * sizeof(*nic);
    machine_nic *longer = realloc(m->nics, bytes);
    if (longer == NULL)
        return error_no_memory(bytes, "the network interfaces");
    m->nics = longer;
    m->nics[m->num_nics++] = *nic;
    return MUSTER_OK;
}

/* One of a class: an interface with the HCA of its device, or an HCA whose device has none. */
static muster_status read_one(machine *m, const char *class, const char *name, bool is_hca)
{
    char link[PATH_MAX], folder[PATH_MAX], network[64];
    machine_nic nic = {.kind = is_hca ? MACHINE_INFINIBAND : MACHINE_ETHERNET};
    int length = snprintf(link, sizeof(link), "%s/%s/device", class, name);
    if (length < 0 || (size_t)length >= sizeof(link) || !find_pci(link, folder, nic.bus_id))
        return MUSTER_OK;
    first_in(folder, "net", network, sizeof(network));
    if (is_hca && network[0] != '\0')
        return MUSTER_OK;
    if (!is_hca)
        snprintf(nic.name, sizeof(nic.name), "%.31s", name);
    first_in(folder, "infiniband", nic.hca, sizeof(nic.hca));
    nic.place = place_of(m, folder);
    return add(m, &nic);
}

static muster_status read_class(machine *m, const char *root, const char *name, bool is_hca)
{
    char class[PATH_MAX];
    muster_status status = MUSTER_OK;
    int length = snprintf(class, sizeof(class), "%s/class/%s", root, name);
    DIR *entries = length > 0 && (size_t)length < sizeof(class) ? opendir(class) : NULL;
    struct dirent *at;
    while (entries != NULL && status == MUSTER_OK && (at = readdir(entries)) != NULL)
        if (at->d_name[0] != '.')
            status = read_one(m, class, at->d_name, is_hca);
    if (entries != NULL)
        closedir(entries);
    return status;
}

static int compare(const void *a, const void *b)
{
    const machine_nic *one = a, *other = b;
    size_t first = strlen(one->bus_id), second = strlen(other->bus_id);
    int order = first != second ? (first < second ? -1 : 1) : strcmp(one->bus_id, other->bus_id);
    return order != 0 ? order : strcmp(one->name, other->name);
}

muster_status machine_read_kernel_nics(const char *root, machine *m)
{
    muster_status status = read_class(m, root, "net", false);
    if (status == MUSTER_OK)
        status = read_class(m, root, "infiniband", true);
    if (m->num_nics > 1)
        qsort(m->nics, (size_t)m->num_nics, sizeof(*m->nics), compare);
    return status;
}
