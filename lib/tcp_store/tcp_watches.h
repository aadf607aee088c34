/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is to be told of each change of which keys: torch 1.13 asks for that with WATCH_KEY.
 */
#ifndef MUSTER_LIB_TCP_WATCHES_H
#define MUSTER_LIB_TCP_WATCHES_H

#include "store/key_map.h"

typedef struct watch watch;

/* All zeros is empty. */
typedef struct watch_table {
    key_map watches; /* the first one of each key that is watched */
} watch_table;

/* Of one who watches; all zeros watches nothing. */
typedef struct watcher {
    watch *watches;
    size_t count;
} watcher;

/* Makes who watch key, once more if it does already; false: no memory. */
bool watches_add(watch_table *table, watcher *who, muster_blob key);

bool watches_any(const watch_table *table, muster_blob key);

/* Calls tell for each that watches key; tell must not change the table. */
void watches_tell(const watch_table *table, muster_blob key,
                  void (*tell)(watcher *who, void *context), void *context);

/* who watches no longer. */
void watches_drop(watch_table *table, watcher *who);

/* For a table that nobody watches in. */
void watches_free(watch_table *table);

#endif
