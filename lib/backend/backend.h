/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The backends found on this machine, best first, and why those that are not available are not.
 */
#ifndef MUSTER_LIB_BACKEND_H
#define MUSTER_LIB_BACKEND_H

#include "base/error.h"
#include "muster/backend.h"
#include "options/options.h"

/* One backend as found. Lives until the process ends, with all that it points to. */
typedef struct backend_entry {
    const char *name;
    const char *file;          /* the plugin, or "built in" */
    const muster_backend *ops; /* NULL for a plugin that can't be read */
    muster_backend_info info;  /* what probe said; empty where it failed */
    bool available;
    const char *reason; /* why it is not available; "" where it is */
    bool probed;        /* one with devices is probed when somebody asks for it */
} backend_entry;

/*
 * *list has *count backends: higher priority first, then by name; those that can't be read last.
 * The first call opens the plugins; the process then has them until it ends. Any thread may call it
 * at any time. It fails only where there is no memory, and may then be called again.
 */
muster_status backend_list(const backend_entry *const **list, size_t *count);

/*
 * Probes the backend of that name, or all where name is NULL, that have not been yet; names that
 * are not known are let through. backend_list() and backend_find() then have new entries for them;
 * the old ones stay as they were, for whoever has them.
 */
muster_status backend_look_at(const char *name);

/* The backend of that name, or NULL, also where the list can't be made. */
const backend_entry *backend_find(const char *name);

/* The folders that were searched for plugins, in words. */
const char *backend_searched(void);

/* The sentence for a name that backend_find() does not know; returns MUSTER_ERR_NOT_FOUND. */
muster_status backend_unknown(const char *name);

/* What options_check() wants to know of all backends; freed with free(). */
muster_status backend_option_tables(options_table **tables, size_t *count);

#endif
