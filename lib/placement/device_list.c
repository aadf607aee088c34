/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The devices of a host, each once.
 */
#include "placement/device_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Canonical bus ids have four digits of domain, or more where they need them. */
static int compare_bus_ids(const char *a, const char *b)
{
    size_t one = strlen(a), other = strlen(b);
    if (one != other)
        return one == 0 ? 1 : other == 0 ? -1 : one < other ? -1 : 1;
    return strcmp(a, b);
}

int device_list_compare(const placement_device *a, const placement_device *b)
{
    int by_bus = compare_bus_ids(a->bus_id, b->bus_id);
    return by_bus != 0 ? by_bus : strcmp(a->uuid, b->uuid);
}

static int compare(const void *a, const void *b)
{
    return device_list_compare(a, b);
}

/* Whether a device whose UUID is not known is that one: the whole of the same place on the bus, or
 * a slice there of which as little is known. */
static bool is_at(const placement_device *has, const standing_device *device)
{
    return has->slice == device->slice && (!device->slice || *has->uuid == '\0') &&
           strcmp(has->bus_id, device->bus_id) == 0;
}

int device_list_find(const placement *p, const standing_device *device)
{
    for (int i = 0; i < p->num_devices; i++) {
        const placement_device *has = &p->devices[i];
        if (*device->uuid != '\0' ? strcmp(has->uuid, device->uuid) == 0 : is_at(has, device))
            return i;
    }
    return -1;
}

/* What one rank knows of a device that another one told of already. */
static void complete(placement_device *has, const standing_device *device)
{
    if (compare_bus_ids(device->bus_id, has->bus_id) < 0)
        snprintf(has->bus_id, sizeof(has->bus_id), "%s", device->bus_id);
    if (!cpu_set_is_empty(&has->cpus) || cpu_set_is_empty(&device->cpus))
        return;
    has->package = device->package;
    has->node = device->node;
    has->cpus = device->cpus;
}

static muster_status add(placement *p, const standing_device *device)
{
    int found = device_list_find(p, device);
    if (found >= 0) {
        complete(&p->devices[found], device);
        return MUSTER_OK;
    }
    if (p->num_devices == PLACEMENT_MOST_DEVICES)
        return error_set(MUSTER_ERR_ARGUMENT, "the ranks of this host name more than %d devices",
                         PLACEMENT_MOST_DEVICES);
    placement_device *devices =
        realloc(p->devices, ((size_t)p->num_devices + 1) * sizeof(*devices));
    if (devices == NULL)
        return error_no_memory(((size_t)p->num_devices + 1) * sizeof(*devices), "the devices");
    p->devices = devices;
    placement_device *added = &devices[p->num_devices++];
    *added = (placement_device){.slice = device->slice, .package = -1, .node = -1};
    memcpy(added->uuid, device->uuid, sizeof(added->uuid));
    complete(added, device);
    return MUSTER_OK;
}

muster_status device_list_make(placement *p, const standing *const *ranks)
{
    /* Those with a UUID come first, so that the others find them. */
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < p->count; r++)
            for (size_t d = 0; d < ranks[r]->num_devices; d++) {
                const standing_device *device = &ranks[r]->devices[d];
                muster_status status =
                    (pass == 0) == (*device->uuid != '\0') ? add(p, device) : MUSTER_OK;
                if (status != MUSTER_OK)
                    return status;
            }
    if (p->num_devices > 0)
        qsort(p->devices, (size_t)p->num_devices, sizeof(*p->devices), compare);
    return MUSTER_OK;
}
