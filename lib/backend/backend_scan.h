/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds all backends: those built in, then the plugins in a list of folders.
 */
#ifndef MUSTER_LIB_BACKEND_SCAN_H
#define MUSTER_LIB_BACKEND_SCAN_H

#include "backend/backend.h"
#include "backend/backend_path.h"

typedef struct backend_set {
    backend_entry **entries;
    size_t count;
    char *searched;            /* the folders, in words */
    struct backend_set *older; /* that this one has replaced, but somebody may still read */
} backend_set;

/* Of several of one name the first found is taken, good or bad; the set is ordered as
 * backend_list() says. */
muster_status backend_scan(const backend_path *path, backend_set *found);
void backend_scan_free(backend_set *found);

/* The entry of that name, or NULL. */
backend_entry *backend_scan_find(const backend_set *set, const char *name);

#endif
