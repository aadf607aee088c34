/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one list of backends of this process: made on first need, never freed. A list is never
 * changed: where a backend is probed later, a new list takes the place of the old one.
 */
#include "config.h"

#include "backend/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend_plugin.h"
#include "backend/backend_scan.h"
#include "base/log.h"
#include "base/nearest.h"
#include "options/core_options.h"

/* The lock is for loading alone: who finds the list made takes no lock, so that a child of fork
 * can't find it held by a thread that it does not have. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(backend_set *) loaded;

static muster_status backend_load(backend_set **made)
{
    backend_set *set = calloc(1, sizeof(*set));
    if (set == NULL)
        return error_no_memory(sizeof(*set), "the list of backends");
    backend_path path;
    muster_status status = backend_path_make(backend_path_is_secure(), &path);
    if (status == MUSTER_OK) {
        status = backend_scan(&path, set);
        backend_path_free(&path);
    }
    if (status == MUSTER_OK)
        *made = set;
    else
        free(set);
    return status;
}

static void backend_log(const backend_entry *entry)
{
    log_line(MUSTER_LOG_INFO, "backend '%s' (%s)%s%s: %s%s", entry->name, entry->file,
             entry->info.version[0] != '\0' ? " version " : "", entry->info.version,
             entry->available ? "available" : "not available: ", entry->reason);
}

/* Probing leaves sentences behind on this thread; a call that succeeds must not. */
static muster_status backend_load_quietly(backend_set **made)
{
    char before[ERROR_SIZE];
    snprintf(before, sizeof(before), "%s", muster_last_error());
    muster_status status = backend_load(made);
    if (status == MUSTER_OK) {
        for (size_t i = 0; i < (*made)->count; i++)
            if ((*made)->entries[i]->probed)
                backend_log((*made)->entries[i]);
        error_set(MUSTER_OK, "%s", before);
    }
    return status;
}

static muster_status backend_get_set(const backend_set **set)
{
    backend_set *found = atomic_load_explicit(&loaded, memory_order_acquire);
    muster_status status = MUSTER_OK;
    if (found == NULL) {
        pthread_mutex_lock(&loading);
        found = atomic_load_explicit(&loaded, memory_order_acquire);
        if (found == NULL)
            status = backend_load_quietly(&found);
        if (status == MUSTER_OK)
            atomic_store_explicit(&loaded, found, memory_order_release);
        pthread_mutex_unlock(&loading);
    }
    *set = found;
    return status;
}

muster_status backend_list(const backend_entry *const **list, size_t *count)
{
    const backend_set *set;
    muster_status status = backend_get_set(&set);
    if (status != MUSTER_OK)
        return status;
    *list = (const backend_entry *const *)set->entries;
    *count = set->count;
    return MUSTER_OK;
}

/* Whether the entry is to be probed for who asks for name. */
static bool backend_is_meant(const backend_entry *entry, const char *name)
{
    return !entry->probed && (name == NULL || strcmp(entry->name, name) == 0);
}

static bool backend_is_wanted(const backend_set *set, const char *name)
{
    bool wanted = false;
    for (size_t i = 0; i < set->count; i++)
        wanted = wanted || backend_is_meant(set->entries[i], name);
    return wanted;
}

/* A list with new entries for what is probed. */
static muster_status backend_probe(backend_set *set, const char *name, backend_set **made)
{
    backend_set *copy = calloc(1, sizeof(*copy));
    backend_entry **entries = calloc(set->count, sizeof(backend_entry *));
    if (copy == NULL || entries == NULL) {
        free(copy);
        free(entries);
        return error_no_memory(set->count * sizeof(backend_entry *), "the list of backends");
    }
    *copy = (backend_set){entries, set->count, set->searched, set};
    muster_status status = MUSTER_OK;
    for (size_t i = 0; i < set->count; i++) {
        entries[i] = set->entries[i];
        if (status == MUSTER_OK && backend_is_meant(entries[i], name)) {
            status = backend_plugin_look_at(set->entries[i], &entries[i]);
            if (status == MUSTER_OK)
                backend_log(entries[i]);
        }
    }
    *made = copy; /* what has been probed is kept, even without memory for the rest */
    return status;
}

muster_status backend_look_at(const char *name)
{
    const backend_set *there;
    error_kept before;
    error_keep(&before);
    muster_status status = backend_get_set(&there);
    if (status != MUSTER_OK || !backend_is_wanted(there, name))
        return status;
    pthread_mutex_lock(&loading);
    backend_set *set = atomic_load_explicit(&loaded, memory_order_acquire);
    if (backend_is_wanted(set, name)) {
        backend_set *fresh = NULL;
        status = backend_probe(set, name, &fresh);
        if (fresh != NULL)
            atomic_store_explicit(&loaded, fresh, memory_order_release);
    }
    pthread_mutex_unlock(&loading);
    return error_settle(&before, status);
}

const backend_entry *backend_find(const char *name)
{
    const backend_set *set;
    return backend_get_set(&set) == MUSTER_OK ? backend_scan_find(set, name) : NULL;
}

const char *backend_searched(void)
{
    const backend_set *set;
    return backend_get_set(&set) == MUSTER_OK ? set->searched : "no folder";
}

/* gloo may be meant where its plugin is missing too. */
static void backend_offer_gloo(nearest *search)
{
    if (strcmp(search->wanted, "gloo") != 0)
        nearest_offer(search, "gloo");
}

/* What to install for a backend of muster's own; "" for others. */
static const char *install(const char *name)
{
    return strcmp(name, "gloo") == 0   ? "install " BACKEND_PACKAGE("gloo") "; "
           : strcmp(name, "nccl") == 0 ? "install " BACKEND_PACKAGE("nccl") "; "
                                       : "";
}

muster_status backend_unknown(const char *name)
{
    const backend_set *set;
    muster_status status = backend_get_set(&set);
    if (status != MUSTER_OK)
        return status;
    char known[512] = "";
    nearest search = {name, NULL, 0};
    for (size_t i = 0, used = 0; i < set->count && used < sizeof(known); i++) {
        nearest_offer(&search, set->entries[i]->name);
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
                                 set->entries[i]->name);
    }
    backend_offer_gloo(&search);
    if (*name == '\0')
        return error_set(MUSTER_ERR_NOT_FOUND,
                         "the backend's name is empty; leave it out or say 'auto', or one of: %s",
                         known);
    return error_set(MUSTER_ERR_NOT_FOUND,
                     "there is no backend '%s'; %s%s%s%sfound were: %s; muster_<name>.so was "
                     "looked for in %.900s (folders in MUSTER_BACKEND_PATH come first)",
                     name, install(name), search.best != NULL ? "did you mean '" : "",
                     search.best != NULL ? search.best : "", search.best != NULL ? "'? " : "",
                     known, set->searched);
}

muster_status backend_option_tables(options_table **tables, size_t *count)
{
    const backend_set *set;
    muster_status status = backend_get_set(&set);
    if (status != MUSTER_OK)
        return status;
    options_table *made = calloc(set->count + 1, sizeof(*made));
    if (made == NULL)
        return error_no_memory((set->count + 1) * sizeof(*made), "tables of options");
    made[set->count] = core_options_table();
    for (size_t i = 0; i < set->count; i++) {
        const backend_entry *entry = set->entries[i];
        made[i] = (options_table){
            .backend = entry->name,
            .options = entry->ops == NULL ? NULL : entry->ops->options,
            .version = entry->info.version,
            .available = entry->available,
            .readable = entry->ops != NULL,
        };
    }
    *tables = made;
    *count = set->count + 1;
    return MUSTER_OK;
}
