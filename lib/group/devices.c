/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which device is a rank's, and whether every rank of a group has one of its own.
 */
#include "config.h"

#include "group/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rank_set.h"

enum { MOST_DEVICES = 128 };

/* Appends what the backend says of a device. */
static muster_status add_device(const backend_entry *entry, int ordinal, devices_found *found)
{
    size_t n = found->count + 1;
    rank_device *devices = realloc(found->devices, n * sizeof(*devices));
    if (devices != NULL)
        found->devices = devices;
    muster_device_info *infos = malloc(n * sizeof(*infos));
    if (devices == NULL || infos == NULL) {
        free(infos);
        return error_no_memory(n * sizeof(*infos), "a list of devices");
    }
    if (found->count > 0)
        memcpy(infos, found->infos, found->count * sizeof(*infos));
    infos[found->count] = (muster_device_info){.size = sizeof(*infos)};
    muster_status status = entry->ops->devices->describe(ordinal, &infos[found->count]);
    if (status != MUSTER_OK) {
        free(infos);
        return status;
    }
    free(found->infos);
    found->infos = infos;
    found->count = n;
    devices[n - 1] =
        (rank_device){.backend = entry->name, .ordinal = ordinal, .slice = infos[n - 1].slice};
    for (size_t i = 0; i < n; i++) {
        devices[i].uuid = infos[i].uuid;
        devices[i].bus_id = infos[i].bus_id;
        devices[i].name = infos[i].name;
    }
    return MUSTER_OK;
}

static muster_status asked_device(const backend_entry *entry, const muster_options *options,
                                  int *asked)
{
    char name[96];
    snprintf(name, sizeof(name), "%s.device", entry->name);
    const char *value = options_value(options, entry->ops->options, name, NULL);
    *asked = value == NULL ? -1 : atoi(value);
    if (value == NULL || *asked >= 0)
        return MUSTER_OK;
    return error_set(MUSTER_ERR_ARGUMENT, "%s is %s, but devices are counted from 0 on", name,
                     value);
}

/* The device that this process knows to be its own; -1 where the others' list is needed. */
static muster_status own_device(const backend_entry *entry, const muster_options *options,
                                int count, int *device, const char **from)
{
    int current = -1, asked;
    *device = -1;
    if (asked_device(entry, options, &asked) != MUSTER_OK)
        return MUSTER_ERR_ARGUMENT;
    if (asked >= count)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "%s.device is %d, but this process has %d devices, 0 to %d", entry->name,
                         asked, count, count - 1);
    if (asked < 0 && entry->ops->devices->in_use()) {
        muster_status status = entry->ops->devices->current(&current);
        if (status != MUSTER_OK)
            return status;
    }
    *device = asked >= 0 ? asked : current;
    *from = asked >= 0 ? DEVICES_BY_OPTION : current >= 0 ? DEVICES_IN_USE : "";
    return MUSTER_OK;
}

muster_status devices_introduce(const backend_entry *entry, const muster_options *options,
                                rank_backend *has, devices_found *found)
{
    int count = 0, device = -1;
    const char *from = "";
    muster_status status = entry->ops->devices->count(&count);
    if (status == MUSTER_OK)
        status = own_device(entry, options, count, &device, &from);
    if (count > MOST_DEVICES)
        count = MOST_DEVICES;
    for (int i = 0; status == MUSTER_OK && i < count; i++)
        if (device < 0 || device == i)
            status = add_device(entry, i, found);
    if (status != MUSTER_OK)
        return status;
    has->device = device;
    has->device_from = from;
    return MUSTER_OK;
}

void devices_found_free(devices_found *found)
{
    free(found->devices);
    free(found->infos);
    *found = (devices_found){0};
}

/* The same piece of hardware: a UUID says so where both have one, else the place on the bus. */
static bool same_device(const rank_record *a, const rank_device *mine, const rank_record *b,
                        const rank_device *theirs)
{
    if (strcmp(a->host_id, b->host_id) != 0)
        return false;
    if (*mine->uuid != '\0' && *theirs->uuid != '\0')
        return strcmp(mine->uuid, theirs->uuid) == 0;
    return *mine->bus_id != '\0' && strcmp(mine->bus_id, theirs->bus_id) == 0;
}

static muster_status say(char **words, int length)
{
    if (length >= 0)
        return MUSTER_OK;
    *words = NULL;
    return error_no_memory(512, "words");
}

static muster_status say_shared(const roster *ranks, const char *backend, int first, int second,
                                char **words)
{
    char one[256], other[256];
    const rank_device *device = rank_record_device(&ranks->ranks[first], backend);
    return say(words,
               asprintf(words, "%s and %s have the same GPU, %s (%s)",
                        rank_record_name(&ranks->ranks[first], one, sizeof(one)),
                        rank_record_name(&ranks->ranks[second], other, sizeof(other)),
                        *device->uuid != '\0' ? device->uuid : device->bus_id, device->name));
}

/* What is wrong with the rank by itself. */
static muster_status check_rank(const rank_record *record, const char *backend, char **words)
{
    char who[256];
    const rank_backend *has = rank_record_backend(record, backend);
    const rank_device *device = rank_record_device(record, backend);
    rank_record_name(record, who, sizeof(who));
    if (has == NULL)
        return say(words, asprintf(words, "%s: no such backend was found there", who));
    if (*has->reason != '\0')
        return say(words, asprintf(words, "%s: %s", who, has->reason));
    if (device == NULL)
        return say(words, asprintf(words, "%s has no GPU of its own%s%s", who,
                                   *has->device_from != '\0' ? ": " : "", has->device_from));
    if (device->slice != 0)
        return say(words,
                   asprintf(words, "%s has a slice of a GPU, %s, and slices can't be connected",
                            who, device->uuid));
    return MUSTER_OK;
}

/* What is wrong with it beside those before it. */
static muster_status check_beside(const roster *ranks, int rank, const char *backend, char **words)
{
    char first[256], who[256];
    const rank_record *record = &ranks->ranks[rank];
    const rank_backend *has = rank_record_backend(record, backend);
    const rank_backend *zero = rank_record_backend(&ranks->ranks[0], backend);
    if (strcmp(has->version, zero->version) != 0)
        return say(words,
                   asprintf(words,
                            "%s has version %s of %s, but %s has %s, and all ranks must have "
                            "the same",
                            rank_record_name(&ranks->ranks[0], first, sizeof(first)), zero->version,
                            backend, rank_record_name(record, who, sizeof(who)), has->version));
    for (int r = 0; r < rank; r++)
        if (same_device(&ranks->ranks[r], rank_record_device(&ranks->ranks[r], backend), record,
                        rank_record_device(record, backend)))
            return say_shared(ranks, backend, r, rank, words);
    return MUSTER_OK;
}

/* Appends which of the ranks behind first can't use a device of their own either. */
static muster_status add_others(const roster *ranks, const char *backend, int first, char **words)
{
    char text[256], *longer = NULL;
    bool *others = calloc((size_t)ranks->count, sizeof(bool)), some = false;
    muster_status status =
        others == NULL ? error_no_memory((size_t)ranks->count, "a set of ranks") : MUSTER_OK;
    for (int r = first + 1; status == MUSTER_OK && r < ranks->count; r++) {
        char *why = NULL;
        status = check_rank(&ranks->ranks[r], backend, &why);
        others[r] = why != NULL;
        some = some || others[r];
        free(why);
    }
    if (status == MUSTER_OK && some) {
        rank_set_text(others, ranks->count, text, sizeof(text));
        status = say(&longer, asprintf(&longer, "%s; nor can %s use one", *words, text));
        if (status == MUSTER_OK) {
            free(*words);
            *words = longer;
        }
    }
    free(others);
    return status;
}

/* What is wrong with ranks by themselves. */
static muster_status check_ranks(const roster *ranks, const char *backend, char **words)
{
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && *words == NULL && r < ranks->count; r++) {
        status = check_rank(&ranks->ranks[r], backend, words);
        if (*words != NULL)
            status = add_others(ranks, backend, r, words);
    }
    return status;
}

muster_status devices_why_not(const roster *ranks, const char *backend, char **words)
{
    *words = NULL;
    muster_status status = check_ranks(ranks, backend, words);
    for (int r = 1; status == MUSTER_OK && *words == NULL && r < ranks->count; r++)
        status = check_beside(ranks, r, backend, words);
    return status;
}
