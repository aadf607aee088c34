/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every store does with its keys and values in memory.
 */
#include "store/value_map.h"

#include <stdlib.h>

#include "base/blobs.h"
#include "base/counter.h"
#include "base/error.h"

typedef struct map_value {
    size_t size;
    size_t room;
    unsigned char bytes[];
} map_value;

muster_status value_map_set(value_map *map, muster_blob key, muster_blob value)
{
    map_value *copy = malloc(sizeof(*copy) + value.size);
    void **item = copy == NULL ? NULL : key_map_put(&map->keys, key);
    if (item == NULL) {
        free(copy);
        return error_no_memory(key.size + value.size, "a key and its value");
    }
    copy->size = copy->room = value.size;
    if (value.size > 0)
        memcpy(copy->bytes, value.data, value.size);
    free(*item);
    *item = copy;
    return MUSTER_OK;
}

/* Room is doubled, so that a value that grows by small steps is not copied at each. */
static map_value *make_room(map_value *old, size_t size)
{
    if (size <= old->room)
        return old;
    size_t room = size > old->room * 2 ? size : old->room * 2;
    map_value *longer = realloc(old, sizeof(*longer) + room);
    if (longer != NULL)
        longer->room = room;
    return longer;
}

muster_status value_map_append(value_map *map, muster_blob key, muster_blob more)
{
    void **item = key_map_find(&map->keys, key);
    if (item == NULL)
        return value_map_set(map, key, more);
    map_value *value = make_room(*item, ((map_value *)*item)->size + more.size);
    if (value == NULL)
        return error_no_memory(more.size, "a value that grows");
    if (more.size > 0)
        memcpy(value->bytes + value->size, more.data, more.size);
    value->size += more.size;
    *item = value;
    return MUSTER_OK;
}

bool value_map_get(const value_map *map, muster_blob key, muster_blob *value)
{
    void **item = key_map_find(&map->keys, key);
    if (item == NULL)
        return false;
    const map_value *found = *item;
    *value = (muster_blob){found->bytes, found->size};
    return true;
}

bool value_map_delete(value_map *map, muster_blob key)
{
    map_value *found = key_map_remove(&map->keys, key);
    free(found);
    return found != NULL;
}

muster_status value_map_add(value_map *map, muster_blob key, int64_t delta, int64_t *sum)
{
    muster_blob value;
    char text[COUNTER_TEXT_SIZE];
    int64_t total;
    bool there = value_map_get(map, key, &value);
    muster_status status = counter_add(key, there ? &value : NULL, delta, text, &total);
    if (status == MUSTER_OK)
        status = value_map_set(map, key, muster_str(text));
    if (status == MUSTER_OK)
        *sum = total;
    return status;
}

void value_map_compare(const value_map *map, muster_blob key, muster_blob expected,
                       muster_blob desired, muster_blob *now, bool *changed)
{
    muster_blob value;
    bool there = value_map_get(map, key, &value);
    *changed = there ? blob_equal(value, expected) : expected.size == 0;
    *now = *changed ? desired : there ? value : expected;
}

muster_status value_map_compare_set(value_map *map, muster_blob key, muster_blob expected,
                                    muster_blob desired, muster_blob *now, bool *changed)
{
    value_map_compare(map, key, expected, desired, now, changed);
    return *changed ? value_map_set(map, key, desired) : MUSTER_OK;
}

size_t value_map_missing(const value_map *map, const muster_blob *keys, size_t from, size_t num)
{
    while (from < num && key_map_find(&map->keys, keys[from]) != NULL)
        from++;
    return from;
}

muster_status value_map_pack(const value_map *map, const muster_blob *keys, size_t num,
                             muster_blob **values)
{
    muster_blob *found = calloc(num + 1, sizeof(*found));
    if (found == NULL)
        return error_no_memory(num * sizeof(*found), "values");
    for (size_t i = 0; i < num; i++)
        value_map_get(map, keys[i], &found[i]);
    muster_status status = blobs_pack(found, num, values);
    free(found);
    return status;
}

size_t value_map_count(const value_map *map)
{
    return map->keys.count;
}

void value_map_free(value_map *map)
{
    key_map_free(&map->keys, free);
}
