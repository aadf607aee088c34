/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash table from keys to pointers: chains, doubled when there are more keys than chains.
 */
#include "config.h"
#include "store/key_map.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/blobs.h"
#include "base/deadline.h"
#include "base/fnv.h"

enum { FIRST_CHAINS = 16 };

struct key_map_entry {
    key_map_entry *next;
    void *item;
    uint64_t hash;
    size_t size;
    unsigned char key[];
};

static uint64_t hash_of(const key_map *map, muster_blob key)
{
    const unsigned char *bytes = key.data;
    uint64_t hash = map->seed;
    for (size_t i = 0; i < key.size; i++)
        hash = fnv_add(hash, bytes[i]);
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The link that points to the entry of key, or the one at the end of its chain. */
static key_map_entry **link_of(const key_map *map, muster_blob key, uint64_t hash)
{
    key_map_entry **link = &map->chains[hash & (map->num_chains - 1)];
    while (*link != NULL) {
        muster_blob other = {(*link)->key, (*link)->size};
        if ((*link)->hash == hash && blob_equal(other, key))
            break;
        link = &(*link)->next;
    }
    return link;
}

void **key_map_find(const key_map *map, muster_blob key)
{
    if (map->count == 0)
        return NULL;
    key_map_entry *entry = *link_of(map, key, hash_of(map, key));
    return entry == NULL ? NULL : &entry->item;
}

static uint64_t new_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
        seed = (uint64_t)deadline_now_ns() * UINT64_C(0x9e3779b97f4a7c15);
    return seed;
}

static bool grow(key_map *map)
{
    size_t num_chains = map->num_chains == 0 ? FIRST_CHAINS : map->num_chains * 2;
    key_map_entry **chains = calloc(num_chains, sizeof(*chains));
    if (chains == NULL)
        return false;
    for (size_t i = 0; i < map->num_chains; i++)
        for (key_map_entry *entry = map->chains[i], *next; entry != NULL; entry = next) {
            key_map_entry **chain = &chains[entry->hash & (num_chains - 1)];
            next = entry->next;
            entry->next = *chain;
            *chain = entry;
        }
    free(map->chains);
    map->chains = chains;
    map->num_chains = num_chains;
    return true;
}

void **key_map_put(key_map *map, muster_blob key)
{
    if (map->num_chains == 0)
        map->seed = new_seed();
    /* A full map that can't grow only becomes slower, an empty one can hold nothing. */
    if (map->count >= map->num_chains && !grow(map) && map->num_chains == 0)
        return NULL;
    uint64_t hash = hash_of(map, key);
    key_map_entry **link = link_of(map, key, hash);
    if (*link == NULL) {
        key_map_entry *entry = malloc(sizeof(*entry) + key.size);
        if (entry == NULL)
            return NULL;
        *entry = (key_map_entry){.hash = hash, .size = key.size};
        if (key.size > 0)
            memcpy(entry->key, key.data, key.size);
        *link = entry;
        map->count++;
    }
    return &(*link)->item;
}

void *key_map_remove(key_map *map, muster_blob key)
{
    if (map->count == 0)
        return NULL;
    key_map_entry **link = link_of(map, key, hash_of(map, key));
    key_map_entry *entry = *link;
    if (entry == NULL)
        return NULL;
    void *item = entry->item;
    *link = entry->next;
    map->count--;
    free(entry);
    return item;
}

void key_map_each(const key_map *map, void (*visit)(muster_blob key, void *context), void *context)
{
    for (size_t i = 0; i < map->num_chains; i++)
        for (const key_map_entry *entry = map->chains[i]; entry != NULL; entry = entry->next)
            visit((muster_blob){entry->key, entry->size}, context);
}

void key_map_free(key_map *map, void (*free_item)(void *item))
{
    for (size_t i = 0; i < map->num_chains; i++)
        for (key_map_entry *entry = map->chains[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            if (free_item != NULL)
                free_item(entry->item);
            free(entry);
        }
    free(map->chains);
    *map = (key_map){0};
}
