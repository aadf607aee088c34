/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "environment.h"
#include "families.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes entry over. */
static void environment_append(environment *list, char *entry)
{
    char **longer = list->failed || entry == NULL
                        ? NULL
                        : realloc(list->entries, (list->count + 2) * sizeof(*longer));
    if (longer == NULL) {
        list->failed = true;
        free(entry);
        return;
    }
    longer[list->count++] = entry;
    longer[list->count] = NULL;
    list->entries = longer;
}

environment environment_copy(char *const *entries)
{
    environment list = {NULL, 0, false};
    for (; *entries != NULL; entries++)
        if (!families_own(*entries))
            environment_append(&list, strdup(*entries));
    return list;
}

static size_t environment_find(const environment *list, const char *name, size_t length)
{
    size_t i = 0;
    while (i < list->count &&
           (strncmp(list->entries[i], name, length) != 0 || list->entries[i][length] != '='))
        i++;
    return i;
}

void environment_put(environment *list, const char *entry)
{
    size_t length = strcspn(entry, "=");
    size_t at = environment_find(list, entry, length);
    if (at < list->count) {
        free(list->entries[at]);
        list->entries[at] = list->entries[--list->count];
        list->entries[list->count] = NULL;
    }
    if (entry[length] == '=')
        environment_append(list, strdup(entry));
}

void environment_set(environment *list, const char *name, const char *format, ...)
{
    char *value = NULL, *entry = NULL;
    va_list arguments;
    va_start(arguments, format);
    int made = vasprintf(&value, format, arguments);
    va_end(arguments);
    if (made < 0 || asprintf(&entry, "%s=%s", name, value) < 0) {
        list->failed = true;
    } else {
        environment_put(list, entry);
        free(entry);
    }
    if (made >= 0)
        free(value);
}

void environment_free(environment *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i]);
    free(list->entries);
    *list = (environment){NULL, 0, false};
}
