/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues of values by name.
 */
#include "tcp_store/queue_map.h"

#include <stdlib.h>

typedef struct item {
    struct item *next;
    size_t size;
    unsigned char bytes[];
} item;

typedef struct queue {
    item *first, *last;
    size_t length;
} queue;

static queue *queue_of(const queue_map *map, muster_blob name)
{
    void **found = key_map_find(&map->queues, name);
    return found == NULL ? NULL : *found;
}

/* A queue that is there already, or a new one, which is empty. */
static queue *queue_put(queue_map *map, muster_blob name)
{
    void **place = key_map_put(&map->queues, name);
    if (place != NULL && *place == NULL) {
        *place = calloc(1, sizeof(queue));
        if (*place == NULL)
            place = key_map_remove(&map->queues, name);
    }
    return place == NULL ? NULL : *place;
}

bool queue_map_push(queue_map *map, muster_blob name, muster_blob value)
{
    item *made = malloc(sizeof(*made) + value.size);
    queue *here = made == NULL ? NULL : queue_put(map, name);
    if (here == NULL) {
        free(made);
        return false;
    }
    *made = (item){.size = value.size};
    if (value.size > 0)
        memcpy(made->bytes, value.data, value.size);
    if (here->last != NULL)
        here->last->next = made;
    else
        here->first = made;
    here->last = made;
    here->length++;
    return true;
}

size_t queue_map_length(const queue_map *map, muster_blob name)
{
    const queue *here = queue_of(map, name);
    return here == NULL ? 0 : here->length;
}

muster_blob queue_map_first(const queue_map *map, muster_blob name)
{
    const item *first = queue_of(map, name)->first;
    return (muster_blob){first->bytes, first->size};
}

void queue_map_pop(queue_map *map, muster_blob name)
{
    queue *here = queue_of(map, name);
    item *first = here->first;
    here->first = first->next;
    free(first);
    if (--here->length == 0)
        free(key_map_remove(&map->queues, name));
}

static void queue_free(void *one)
{
    queue *gone = one;
    while (gone->first != NULL) {
        item *first = gone->first;
        gone->first = first->next;
        free(first);
    }
    free(gone);
}

void queue_map_free(queue_map *map)
{
    key_map_free(&map->queues, queue_free);
}
