/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: what users and launchers write about a process's devices and cores:
 * CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER in the first two lines, a list of placement in the
 * third, a list of CPUs in the fourth, a policy in the fifth, a binding in the sixth, a bus id in
 * the seventh.
 */
#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "machine/visible_devices.h"
#include "placement/binding.h"
#include "placement/place_list.h"
#include "placement/placement.h"

enum { CANDIDATES = 4 };

static const visible_candidate candidates[CANDIDATES] = {
    {"GPU-11111111-0000", "H100"},
    {"GPU-11111111-0001", "H100"},
    {"GPU-22222222-0002", "A100"},
    {"", ""},
};

static void devices(const char *list, const char *order)
{
    visible_devices seen;
    visible_devices_read(*list == '-' ? NULL : list, *order == '-' ? NULL : order, candidates,
                         CANDIDATES, &seen);
    fuzz_hold(seen.count >= 0 && seen.count <= VISIBLE_DEVICES_LIMIT, "so many can be seen");
    for (int i = 0; i < seen.count; i++) {
        const visible_device *device = &seen.devices[i];
        fuzz_hold(device->gpu >= (device->mig[0] != '\0' ? -1 : 0) && device->gpu < CANDIDATES,
                  "what is seen is there");
        for (int j = 0; j < i; j++)
            fuzz_hold(device->gpu != seen.devices[j].gpu ||
                          strcmp(device->mig, seen.devices[j].mig) != 0,
                      "and is seen once");
    }
}

static void places(const char *text)
{
    place_list list;
    standing here = {.num_devices = 1};
    standing_device device = {.uuid = "GPU-1", .bus_id = "0000:01:00.0"};
    int found;
    here.devices = &device;
    cpu_set_add_range(&here.cpus, 0, 7);
    here.allowed = here.cpus;
    if (place_list_read(&list, text) != MUSTER_OK)
        return;
    fuzz_hold(list.count >= 1, "a list has entries");
    for (int i = 0; i < list.count; i++) {
        const place_entry *entry = &list.entries[i];
        fuzz_hold(!entry->has_cpus || !cpu_set_is_empty(&entry->cpus), "CPUs are some");
        if (place_entry_find(entry, &here, &found) == MUSTER_OK)
            fuzz_hold(found == (entry->device[0] == '\0' ? -1 : 0) &&
                          cpu_set_is_subset(&entry->cpus, &here.allowed),
                      "an entry is a device there, and CPUs that may be used");
    }
    place_list_clear(&list);
}

/* What was read is written, and that read is the same set. */
static void cpus(const char *text)
{
    cpu_set set, again;
    char *written;
    if (cpu_set_parse(&set, text) != MUSTER_OK)
        return;
    fuzz_hold(cpu_set_text(&set, &written) == MUSTER_OK, "a set can be written");
    fuzz_hold(cpu_set_parse(&again, written) == MUSTER_OK && cpu_set_equal(&set, &again),
              "and read again");
    free(written);
}

static void words(const char *policy, const char *bind)
{
    placement_policy as;
    binding_to to;
    if (placement_policy_read(policy, &as) == MUSTER_OK)
        fuzz_hold(placement_policy_text(as) != NULL, "a policy has a name");
    if (binding_read(bind, &to) == MUSTER_OK)
        fuzz_hold(to >= BINDING_NONE && to <= BINDING_DEVICE, "a binding is one of four");
}

static void bus(const char *text)
{
    char once[MACHINE_BUS_ID_SIZE], twice[MACHINE_BUS_ID_SIZE];
    if (machine_bus_id(text, once))
        fuzz_hold(machine_bus_id(once, twice) && strcmp(once, twice) == 0,
                  "a bus id is written in one way");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LINES = 7 };
    fuzz_bytes input = {data, size};
    char *lines[LINES];
    for (int i = 0; i < LINES; i++)
        lines[i] = fuzz_line(&input);
    devices(lines[0], lines[1]);
    places(lines[2]);
    cpus(lines[3]);
    words(lines[4], lines[5]);
    bus(lines[6]);
    for (int i = 0; i < LINES; i++)
        free(lines[i]);
    return 0;
}
