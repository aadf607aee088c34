/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What CUDA's variables leave of a machine's GPUs.
 */
#include "config.h"

#include "machine/visible_devices.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* How entries name GPUs: the first one says it for all. */
typedef enum naming { BY_NUMBER, BY_UUID, BY_SLICE } naming;

static const char uuid_prefix[] = "GPU-", slice_prefix[] = "MIG-", old_slice_prefix[] = "MIG-GPU-";

/* The list while it is read. */
typedef struct reading {
    const visible_candidate *candidates;
    int num_candidates;
    naming by;
    visible_devices *seen;
} reading;

/* An entry, without the white space around it. */
typedef struct entry {
    const char *at;
    int length;
    int number; /* 1 is the first */
} entry;

static bool begins(entry e, const char *prefix)
{
    size_t length = strlen(prefix);
    return (size_t)e.length >= length && strncmp(e.at, prefix, length) == 0;
}

/* Says once what hides GPUs. */
static void explain(reading *r, const char *format, ...) MUSTER_PRINTF(2, 3);
static void explain(reading *r, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(r->seen->why, sizeof(r->seen->why), format, values);
    va_end(values);
}

static bool ends_at(reading *r, entry e, const char *reason)
{
    explain(r, "CUDA_VISIBLE_DEVICES ends before its entry %d, '%.*s': %s", e.number,
            e.length < 100 ? e.length : 100, e.at, reason);
    return false;
}

/* The candidate whose UUID is the only one to begin with the text; -1 none, -2 several. */
static int find_uuid(const reading *r, const char *text, int length)
{
    int found = -1;
    for (int i = 0; i < r->num_candidates; i++) {
        if (strncmp(r->candidates[i].uuid, text, (size_t)length) != 0)
            continue;
        if (found >= 0)
            return -2;
        found = i;
    }
    return found;
}

/* Digits may have anything behind them, as CUDA reads them. */
static bool read_number(reading *r, entry e, visible_device *device)
{
    int at = e.length > 0 && e.at[0] == '+' ? 1 : 0, number = 0, digits = 0;
    for (; at < e.length && isdigit((unsigned char)e.at[at]); at++, digits++)
        if (number < 100000)
            number = number * 10 + (e.at[at] - '0');
    if (digits == 0)
        return ends_at(r, e, "it is no number of a GPU");
    char reason[64];
    snprintf(reason, sizeof(reason), "there %s %d GPU%s", r->num_candidates == 1 ? "is" : "are",
             r->num_candidates, r->num_candidates == 1 ? "" : "s");
    if (number >= r->num_candidates)
        return ends_at(r, e, reason);
    device->gpu = number;
    return true;
}

static bool read_uuid(reading *r, entry e, visible_device *device)
{
    if (!begins(e, uuid_prefix))
        return ends_at(r, e, "the entries before it are UUIDs, GPU-...");
    device->gpu = find_uuid(r, e.at, e.length);
    if (device->gpu == -2)
        return ends_at(r, e, "several GPUs have UUIDs that begin so");
    if (device->gpu < 0)
        return ends_at(r, e, "no GPU has a UUID that begins so");
    return true;
}

/* MIG-GPU-<uuid>/<gpu instance>/<compute instance> is how older drivers name slices; newer ones
 * give a slice a UUID that doesn't tell its GPU. */
static bool read_slice(reading *r, entry e, visible_device *device)
{
    if (!begins(e, slice_prefix))
        return ends_at(r, e, "the entries before it are slices, MIG-...");
    if ((size_t)e.length >= sizeof(device->mig))
        return ends_at(r, e, "no slice has so long a name");
    snprintf(device->mig, sizeof(device->mig), "%.*s", e.length, e.at);
    device->gpu = -1;
    if (!begins(e, old_slice_prefix))
        return true;
    const char *uuid = e.at + strlen(slice_prefix);
    const char *slash = memchr(uuid, '/', (size_t)(e.at + e.length - uuid));
    if (slash == NULL)
        return ends_at(r, e, "a slice of this kind is MIG-GPU-<UUID>/<number>/<number>");
    device->gpu = find_uuid(r, uuid, (int)(slash - uuid));
    return device->gpu >= 0 || ends_at(r, e, "no GPU has this UUID");
}

static bool read_entry(reading *r, entry e, visible_device *device)
{
    switch (r->by) {
    case BY_UUID:
        return read_uuid(r, e, device);
    case BY_SLICE:
        return read_slice(r, e, device);
    default:
        return read_number(r, e, device);
    }
}

/* Takes one more; false where the list is over. */
static bool take(reading *r, entry e)
{
    visible_device device = {0};
    if (!read_entry(r, e, &device))
        return false;
    visible_devices *seen = r->seen;
    for (int i = 0; i < seen->count; i++) {
        if (seen->devices[i].gpu != device.gpu || strcmp(seen->devices[i].mig, device.mig) != 0)
            continue;
        seen->count = 0;
        explain(r, "CUDA_VISIBLE_DEVICES hides all GPUs: its entry %d, '%.*s', names one twice",
                e.number, e.length < 100 ? e.length : 100, e.at);
        return false;
    }
    if (r->by == BY_SLICE && seen->count == 1) {
        explain(r, "CUDA_VISIBLE_DEVICES names several slices, and a process has the first alone");
        return false;
    }
    if (seen->count == VISIBLE_DEVICES_LIMIT)
        return ends_at(r, e, "a process has no more GPUs than that");
    seen->devices[seen->count++] = device;
    return true;
}

static entry entry_at(const char *at, int number)
{
    entry e = {at, (int)strcspn(at, ","), number};
    while (e.length > 0 && isspace((unsigned char)e.at[0]))
        e.at++, e.length--;
    while (e.length > 0 && isspace((unsigned char)e.at[e.length - 1]))
        e.length--;
    return e;
}

static void read_list(reading *r, const char *devices)
{
    entry first = entry_at(devices, 1);
    r->by = begins(first, uuid_prefix)    ? BY_UUID
            : begins(first, slice_prefix) ? BY_SLICE
                                          : BY_NUMBER;
    const char *at = devices;
    for (int number = 1; take(r, entry_at(at, number)); number++) {
        at += strcspn(at, ",");
        if (*at++ == '\0')
            break;
    }
    if (r->seen->why[0] == '\0' && r->seen->count < r->num_candidates)
        explain(r, "CUDA_VISIBLE_DEVICES names %d of %d GPUs", r->seen->count, r->num_candidates);
}

static void show_all(reading *r)
{
    int most =
        r->num_candidates < VISIBLE_DEVICES_LIMIT ? r->num_candidates : (int)VISIBLE_DEVICES_LIMIT;
    for (; r->seen->count < most; r->seen->count++)
        r->seen->devices[r->seen->count].gpu = r->seen->count;
    if (most < r->num_candidates)
        explain(r, "a process has no more than %d GPUs", most);
}

/* Left alone CUDA counts the fastest first; equal ones are in the order of their bus ids. */
static bool order_is_certain(const reading *r, const char *order)
{
    if ((order != NULL && strcmp(order, "PCI_BUS_ID") == 0) || r->by != BY_NUMBER)
        return true;
    for (int i = 1; i < r->num_candidates; i++)
        if (r->candidates[i].model[0] == '\0' ||
            strcmp(r->candidates[i].model, r->candidates[0].model) != 0)
            return false;
    return true;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

void visible_devices_read(const char *devices, const char *order,
                          const visible_candidate *candidates, int num_candidates,
                          visible_devices *seen)
{
    reading r = {.candidates = candidates, .num_candidates = num_candidates, .seen = seen};
    memset(seen, 0, sizeof(*seen));
    if (devices == NULL)
        show_all(&r);
    else if (is_blank(devices))
        explain(&r, "CUDA_VISIBLE_DEVICES is empty, which hides all GPUs");
    else
        read_list(&r, devices);
    seen->certain = order_is_certain(&r, order);
}
