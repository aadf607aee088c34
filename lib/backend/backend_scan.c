/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Walks the folders of plugins and ranks what is found.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/backend_scan.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend_plugin.h"
#include "base/log.h"

enum { LONGEST_NAME = 31 };

static const char prefix[] = "muster_";
static const char suffix[] = ".so";

extern const muster_backend local_backend;

static const muster_backend *const built_in_backends[] = {&local_backend};

backend_entry *backend_scan_find(const backend_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->entries[i]->name, name) == 0)
            return set->entries[i];
    return NULL;
}

void backend_scan_free(backend_set *found)
{
    for (size_t i = 0; i < found->count; i++)
        backend_plugin_free(found->entries[i]);
    free(found->entries);
    free(found->searched);
    *found = (backend_set){NULL, 0, NULL, NULL};
}

/* Takes entry over, in every case. */
static muster_status backend_scan_add(backend_set *found, backend_entry *entry)
{
    size_t size = (found->count + 1) * sizeof(*found->entries);
    backend_entry **grown = realloc(found->entries, size);
    if (grown == NULL) {
        backend_plugin_free(entry);
        return error_no_memory(size, "the list of backends");
    }
    found->entries = grown;
    found->entries[found->count++] = entry;
    return MUSTER_OK;
}

/* "gloo" of "muster_gloo.so"; false where file is not named as a plugin is. */
static bool backend_scan_name(const char *file, char name[LONGEST_NAME + 1])
{
    size_t length = strlen(file), around = strlen(prefix) + strlen(suffix);
    if (length <= around || length - around > LONGEST_NAME ||
        strncmp(file, prefix, strlen(prefix)) != 0 ||
        strcmp(file + length - strlen(suffix), suffix) != 0)
        return false;
    memcpy(name, file + strlen(prefix), length - around);
    name[length - around] = '\0';
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length - around;
}

static int backend_scan_is_plugin(const struct dirent *entry)
{
    char name[LONGEST_NAME + 1];
    return backend_scan_name(entry->d_name, name);
}

static muster_status backend_scan_file(const char *folder, const char *file, backend_set *found)
{
    char name[LONGEST_NAME + 1], path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", folder, file);
    if (!backend_scan_name(file, name) || length < 0 || (size_t)length >= sizeof(path))
        return MUSTER_OK;
    const backend_entry *earlier = backend_scan_find(found, name);
    if (earlier != NULL) {
        log_line(MUSTER_LOG_DEBUG, "backend '%s': %s comes before %s", name, earlier->file, path);
        return MUSTER_OK;
    }
    backend_entry *entry;
    muster_status status = backend_plugin_open(name, path, &entry);
    return status == MUSTER_OK ? backend_scan_add(found, entry) : status;
}

/* A folder that is missing or can't be read holds no plugins. */
static muster_status backend_scan_folder(const char *folder, backend_set *found)
{
    struct dirent **files;
    int count = scandir(folder, &files, backend_scan_is_plugin, alphasort);
    muster_status status = MUSTER_OK;
    for (int i = 0; i < count; i++) {
        if (status == MUSTER_OK)
            status = backend_scan_file(folder, files[i]->d_name, found);
        free(files[i]);
    }
    if (count >= 0)
        free(files);
    return status;
}

static int backend_scan_order(const void *a, const void *b)
{
    const backend_entry *left = *(backend_entry *const *)a, *right = *(backend_entry *const *)b;
    if ((left->ops == NULL) != (right->ops == NULL))
        return left->ops == NULL ? 1 : -1;
    if (left->ops != NULL && left->ops->priority != right->ops->priority)
        return left->ops->priority < right->ops->priority ? 1 : -1;
    return strcmp(left->name, right->name);
}

muster_status backend_scan(const backend_path *path, backend_set *found)
{
    backend_set set = {NULL, 0, NULL, NULL};
    muster_status status = backend_path_words(path, &set.searched);
    for (size_t i = 0; status == MUSTER_OK && i < sizeof(built_in_backends) / sizeof(void *); i++) {
        backend_entry *entry;
        status = backend_plugin_take(built_in_backends[i], &entry);
        if (status == MUSTER_OK)
            status = backend_scan_add(&set, entry);
    }
    for (size_t i = 0; status == MUSTER_OK && i < path->count; i++)
        status = backend_scan_folder(path->folders[i], &set);
    if (status != MUSTER_OK) {
        backend_scan_free(&set);
        return status;
    }
    qsort(set.entries, set.count, sizeof(*set.entries), backend_scan_order);
    *found = set;
    return MUSTER_OK;
}
