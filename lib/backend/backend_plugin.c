/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens a plugin, checks that it is what muster/backend.h says before anything in it is called, and
 * probes it.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/backend_plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host.h"
#include "options/option_table.h"

static const char built_in[] = "built in";
static const char not_looked_at[] = "nothing asked for it when the first group was made, so it was "
                                    "not looked at; name it there, or auto";

/* The slots that a backend can't do without; the first one that is missing, or NULL. */
static const char *backend_plugin_missing_slot(const muster_backend *ops)
{
    bool calls = ops->call != NULL || ops->devices != NULL;
    const struct {
        const char *name;
        bool there;
    } slots[] = {
        {"probe", ops->probe != NULL},
        {"open", ops->open != NULL},
        {"post_send", calls || ops->post_send != NULL},
        {"post_recv", calls || ops->post_recv != NULL},
        {"wait", ops->wait != NULL},
        {"abort", ops->abort != NULL},
        {"close", ops->close != NULL},
        {"forget", ops->forget != NULL},
        {"devices", !calls || ops->devices != NULL},
        {"can", (!calls && ops->run == NULL) || ops->can != NULL},
        {"call", !calls || ops->call != NULL},
        {"test", !calls || ops->test != NULL},
    };
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (!slots[i].there)
            return slots[i].name;
    return NULL;
}

/* The same of the table of devices. */
static const char *backend_plugin_missing_device_slot(const muster_device_table *table)
{
    const struct {
        const char *name;
        bool there;
    } slots[] = {
        {"in_use", table->in_use != NULL},
        {"count", table->count != NULL},
        {"current", table->current != NULL},
        {"describe", table->describe != NULL},
        {"locate", table->locate != NULL},
        {"alloc_device", table->alloc_device != NULL},
        {"alloc_pinned", table->alloc_pinned != NULL},
        {"free_memory", table->free_memory != NULL},
        {"stream_open", table->stream_open != NULL},
        {"stream_close", table->stream_close != NULL},
        {"copy_start", table->copy_start != NULL},
        {"copy_wait", table->copy_wait != NULL},
    };
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (!slots[i].there)
            return slots[i].name;
    return NULL;
}

static muster_status backend_plugin_check_devices(const muster_device_table *table)
{
    if (table == NULL)
        return MUSTER_OK;
    if (table->size < sizeof(*table))
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "its table of devices has %u bytes and must have %zu; rebuild it",
                         (unsigned)table->size, sizeof(*table));
    const char *slot = backend_plugin_missing_device_slot(table);
    if (slot != NULL)
        return error_set(MUSTER_ERR_UNAVAILABLE, "its table of devices lacks '%s'", slot);
    return MUSTER_OK;
}

/* Looks at nothing behind abi and size before those are known to be right. */
static muster_status backend_plugin_check(const char *name, const muster_backend *ops)
{
    if (ops->abi != MUSTER_BACKEND_ABI)
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "it was built for plugin ABI %u and this libmuster has %u; rebuild it",
                         (unsigned)ops->abi, (unsigned)MUSTER_BACKEND_ABI);
    if (ops->size < sizeof(*ops))
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "its table of functions has %u bytes and must have %zu; rebuild it",
                         (unsigned)ops->size, sizeof(*ops));
    if (ops->name == NULL || strcmp(ops->name, name) != 0)
        return error_set(MUSTER_ERR_UNAVAILABLE,
                         "it calls itself '%s', which is not the name in its file's name, '%s'",
                         ops->name == NULL ? "" : ops->name, name);
    const char *slot = backend_plugin_missing_slot(ops);
    if (slot != NULL)
        return error_set(MUSTER_ERR_UNAVAILABLE, "it lacks the required slot '%s'", slot);
    muster_status status = backend_plugin_check_devices(ops->devices);
    return status == MUSTER_OK ? option_table_check(name, ops->options) : status;
}

/* The table in the plugin, or NULL with a sentence. A plugin is never closed, not even one that is
 * refused: its destructors and threads would be one more way to fall. */
static const muster_backend *backend_plugin_load(const char *file)
{
    dlerror();
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const muster_backend *ops = handle == NULL ? NULL : dlsym(handle, MUSTER_BACKEND_SYMBOL);
    if (ops != NULL)
        return ops;
    const char *why = dlerror();
    error_set(MUSTER_ERR_UNAVAILABLE, "%s: %s",
              handle == NULL ? "the loader refused it"
                             : "it has no symbol " MUSTER_BACKEND_SYMBOL ", so it is no plugin",
              why == NULL ? "no reason given" : why);
    return NULL;
}

static muster_status backend_plugin_probe(const muster_backend *ops, muster_backend_info *info)
{
    error_set(MUSTER_OK, "%s", "");
    *info = (muster_backend_info){.size = sizeof(*info)};
    muster_status status = ops->probe(&host_functions, info);
    info->version[sizeof(info->version) - 1] = '\0';
    info->details[sizeof(info->details) - 1] = '\0';
    if (status == MUSTER_OK)
        return MUSTER_OK;
    *info = (muster_backend_info){.size = sizeof(*info)};
    if (muster_last_error()[0] == '\0')
        error_set(status, "its probe failed without a reason (%s)", muster_status_text(status));
    return status;
}

void backend_plugin_free(backend_entry *entry)
{
    if (entry == NULL)
        return;
    if (entry->file != built_in)
        free((char *)(uintptr_t)entry->file);
    free((char *)(uintptr_t)entry->name);
    free((char *)(uintptr_t)entry->reason);
    free(entry);
}

/* An entry with copies of its strings, not yet probed. */
static muster_status backend_plugin_new(const char *name, const char *file, backend_entry **made)
{
    backend_entry *entry = calloc(1, sizeof(*entry));
    if (entry != NULL) {
        entry->name = strdup(name);
        entry->file = file == built_in ? built_in : strdup(file);
    }
    if (entry == NULL || entry->name == NULL || entry->file == NULL) {
        backend_plugin_free(entry);
        return error_no_memory(sizeof(*entry), "a backend");
    }
    *made = entry;
    return MUSTER_OK;
}

/* Keeps what the checks said: the sentence of the last that failed, or nothing. */
static muster_status backend_plugin_finish(backend_entry *entry, muster_status status,
                                           backend_entry **made)
{
    bool later = status == MUSTER_OK && !entry->probed && entry->ops->devices != NULL;
    entry->available = status == MUSTER_OK && !later;
    entry->probed = !later;
    entry->reason = strdup(later ? not_looked_at : entry->available ? "" : muster_last_error());
    if (entry->reason == NULL) {
        backend_plugin_free(entry);
        return error_no_memory(ERROR_SIZE, "a backend");
    }
    *made = entry;
    return MUSTER_OK;
}

muster_status backend_plugin_open(const char *name, const char *file, backend_entry **made)
{
    backend_entry *entry;
    muster_status status = backend_plugin_new(name, file, &entry);
    if (status != MUSTER_OK)
        return status;
    const muster_backend *ops = backend_plugin_load(file);
    status = ops == NULL ? MUSTER_ERR_UNAVAILABLE : backend_plugin_check(name, ops);
    if (status == MUSTER_OK)
        entry->ops = ops;
    if (status == MUSTER_OK && ops->devices == NULL)
        status = backend_plugin_probe(ops, &entry->info);
    return backend_plugin_finish(entry, status, made);
}

muster_status backend_plugin_look_at(const backend_entry *from, backend_entry **made)
{
    backend_entry *entry;
    muster_status status = backend_plugin_new(from->name, from->file, &entry);
    if (status != MUSTER_OK)
        return status;
    entry->ops = from->ops;
    entry->probed = true;
    return backend_plugin_finish(entry, backend_plugin_probe(from->ops, &entry->info), made);
}

muster_status backend_plugin_take(const muster_backend *ops, backend_entry **made)
{
    backend_entry *entry;
    muster_status status = backend_plugin_new(ops->name, built_in, &entry);
    if (status != MUSTER_OK)
        return status;
    entry->ops = ops;
    return backend_plugin_finish(entry, backend_plugin_probe(ops, &entry->info), made);
}
