/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash table from keys (any bytes) to pointers.
 */
#ifndef MUSTER_LIB_KEY_MAP_H
#define MUSTER_LIB_KEY_MAP_H

#include "muster.h"

typedef struct key_map_entry key_map_entry;

/* All zeros is an empty map. */
typedef struct key_map {
    key_map_entry **chains;
    size_t num_chains;
    size_t count;
    uint64_t seed; /* so that nobody can choose keys that all fall into one chain */
} key_map;

/* Where the item of key is kept, or NULL if key is not there. Valid until key is removed. */
void **key_map_find(const key_map *map, muster_blob key);

/* The same, and a key that is not there is put in (copied) with the item NULL; NULL: no memory. */
void **key_map_put(key_map *map, muster_blob key);

/* Takes key out and returns its item; NULL if it was not there. */
void *key_map_remove(key_map *map, muster_blob key);

/* Calls visit for each key, in no order; visit must not change the map. */
void key_map_each(const key_map *map, void (*visit)(muster_blob key, void *context), void *context);

/* Back to all zeros; free_item is called for each item and may be NULL. */
void key_map_free(key_map *map, void (*free_item)(void *item));

#endif
