/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Turns one backend, built in or in a plugin, into an entry that says what it is worth here.
 */
#ifndef MUSTER_LIB_BACKEND_PLUGIN_H
#define MUSTER_LIB_BACKEND_PLUGIN_H

#include "backend/backend.h"

/* Opens the plugin file, checks it and, where it has no devices, probes it. Whatever is wrong with
 * it becomes the entry's reason; only a lack of memory is an error. The thread's sentence may
 * change. */
muster_status backend_plugin_open(const char *name, const char *file, backend_entry **made);

/* The same for one that is built in. */
muster_status backend_plugin_take(const muster_backend *ops, backend_entry **made);

/* A new entry for one that has not been probed, which is probed now. */
muster_status backend_plugin_look_at(const backend_entry *entry, backend_entry **made);

/* For an entry that nobody keeps. */
void backend_plugin_free(backend_entry *entry);

#endif
