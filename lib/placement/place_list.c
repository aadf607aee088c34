/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists that say which local rank gets which device and CPUs.
 */
#include "config.h"

#include "placement/place_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

enum { MOST_ENTRIES = 4096 };

/* Cuts white space off both ends, in place. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static muster_status refuse(int number, const char *text, const char *why)
{
    return error_set(MUSTER_ERR_ARGUMENT,
                     "entry %d of the list of placement, \"%.100s\": %s; an entry is DEVICE, @CPUS "
                     "or DEVICE@CPUS, as in \"0@0-7; 1@8-15\"",
                     number, text, why);
}

static const char *said(char *text, size_t size)
{
    snprintf(text, size, "%s", muster_last_error());
    return text;
}

static muster_status read_entry(place_entry *entry, int number, char *text)
{
    char why[320];
    text = trim(text);
    snprintf(entry->text, sizeof(entry->text), "%s", text);
    if (*text == '\0')
        return refuse(number, text, "it is empty");
    char *cpus = strchr(text, '@');
    if (cpus != NULL) {
        *cpus++ = '\0';
        if (cpu_set_parse(&entry->cpus, cpus) != MUSTER_OK)
            return refuse(number, entry->text, said(why, sizeof(why)));
        if (cpu_set_is_empty(&entry->cpus))
            return refuse(number, entry->text, "there are no CPUs behind the @");
        entry->has_cpus = true;
    }
    text = trim(text);
    if (strlen(text) >= sizeof(entry->device))
        return refuse(number, entry->text, "the device is too long for one");
    if (strcasecmp(text, "none") != 0)
        strcpy(entry->device, text);
    return MUSTER_OK;
}

static int count_entries(const char *text)
{
    int count = 1;
    for (const char *at = text; (at = strchr(at, ';')) != NULL; at++)
        count++;
    return count;
}

muster_status place_list_read(place_list *list, const char *text)
{
    *list = (place_list){0};
    if (text == NULL || text[strspn(text, " \t\r\n")] == '\0')
        return error_set(MUSTER_ERR_ARGUMENT,
                         "explicit placement needs a list with an entry for each local rank, as in "
                         "\"0@0-7; 1@8-15\"");
    size_t count = (size_t)count_entries(text);
    if (count > MOST_ENTRIES)
        return error_set(MUSTER_ERR_ARGUMENT, "the list of placement has %zu entries, %d are most",
                         count, MOST_ENTRIES);
    char *copy = strdup(text), *rest = copy;
    list->entries = calloc(count, sizeof(*list->entries));
    muster_status status = MUSTER_OK;
    if (copy == NULL || list->entries == NULL)
        status = error_no_memory(count * sizeof(*list->entries), "the list of placement");
    for (char *entry; status == MUSTER_OK && (entry = strsep(&rest, ";")) != NULL; list->count++)
        status = read_entry(&list->entries[list->count], list->count, entry);
    free(copy);
    if (status != MUSTER_OK)
        place_list_clear(list);
    return status;
}

void place_list_clear(place_list *list)
{
    free(list->entries);
    *list = (place_list){0};
}

/* By ordinal, by bus id in any way to write one, by a UUID or its beginning. */
static bool is_named(const standing_device *device, const char *name)
{
    char bus_id[MACHINE_BUS_ID_SIZE], ordinal[16];
    snprintf(ordinal, sizeof(ordinal), "%d", device->ordinal);
    if (name[strspn(name, "0123456789")] == '\0')
        return strcmp(name, ordinal) == 0;
    if (machine_bus_id(name, bus_id))
        return strcmp(bus_id, device->bus_id) == 0;
    return strncasecmp(device->uuid, name, strlen(name)) == 0;
}

static muster_status refuse_for(const place_entry *entry, const standing *s, const char *why)
{
    return error_set(MUSTER_ERR_ARGUMENT,
                     "the list of placement has \"%s\" for local rank %d (rank %d), %s",
                     entry->text, s->local_rank, s->rank, why);
}

static muster_status check_cpus(const place_entry *entry, const standing *s)
{
    char why[200], list[120];
    if (cpu_set_is_subset(&entry->cpus, &s->allowed))
        return MUSTER_OK;
    cpu_set_write(&s->allowed, list, sizeof(list));
    snprintf(why, sizeof(why), "but that rank may use the CPUs %s alone", list);
    return refuse_for(entry, s, why);
}

muster_status place_entry_find(const place_entry *entry, const standing *s, int *device)
{
    char why[200];
    int found = 0;
    *device = -1;
    if (check_cpus(entry, s) != MUSTER_OK)
        return MUSTER_ERR_ARGUMENT;
    if (*entry->device == '\0')
        return MUSTER_OK;
    for (size_t d = 0; d < s->num_devices; d++)
        if (is_named(&s->devices[d], entry->device)) {
            *device = found == 0 ? (int)d : *device;
            found++;
        }
    if (found == 1)
        return MUSTER_OK;
    *device = -1;
    if (found > 1)
        return refuse_for(entry, s, "but several of its devices begin like that");
    snprintf(why, sizeof(why), "but of the %zu devices that it can use none is that one",
             s->num_devices);
    return refuse_for(entry, s, why);
}
