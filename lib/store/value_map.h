/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every store does with its keys and values in memory. Not locked.
 */
#ifndef MUSTER_LIB_VALUE_MAP_H
#define MUSTER_LIB_VALUE_MAP_H

#include "store/key_map.h"

/* All zeros is an empty map. */
typedef struct value_map {
    key_map keys;
} value_map;

muster_status value_map_set(value_map *map, muster_blob key, muster_blob value);

/* Puts more behind what key holds, or sets it. */
muster_status value_map_append(value_map *map, muster_blob key, muster_blob more);

/* *value points into the map, until key is changed. */
bool value_map_get(const value_map *map, muster_blob key, muster_blob *value);
bool value_map_delete(value_map *map, muster_blob key);
muster_status value_map_add(value_map *map, muster_blob key, int64_t delta, int64_t *sum);

/*
 * As muster_store_compare_set(): *now is what the caller is to be told, and points into the map or
 * is expected; *changed tells whether desired is to be stored. value_map_compare decides only.
 */
void value_map_compare(const value_map *map, muster_blob key, muster_blob expected,
                       muster_blob desired, muster_blob *now, bool *changed);
muster_status value_map_compare_set(value_map *map, muster_blob key, muster_blob expected,
                                    muster_blob desired, muster_blob *now, bool *changed);

/* The first of keys[from..num) that is missing, or num. */
size_t value_map_missing(const value_map *map, const muster_blob *keys, size_t from, size_t num);

/* The values of keys that are all there, as muster_store_multi_get() returns them. */
muster_status value_map_pack(const value_map *map, const muster_blob *keys, size_t num,
                             muster_blob **values);

size_t value_map_count(const value_map *map);
void value_map_free(value_map *map);

#endif
