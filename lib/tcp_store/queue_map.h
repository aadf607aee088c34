/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queues of values by name, as torch's server keeps beside its keys since 2.8: a name may be that
 * of a key and that of a queue, which have nothing to do with each other. Not locked.
 */
#ifndef MUSTER_LIB_QUEUE_MAP_H
#define MUSTER_LIB_QUEUE_MAP_H

#include "store/key_map.h"

/* All zeros is without queues. */
typedef struct queue_map {
    key_map queues; /* none of them empty */
} queue_map;

/* False: no memory. */
bool queue_map_push(queue_map *map, muster_blob name, muster_blob value);

/* How many values wait there. */
size_t queue_map_length(const queue_map *map, muster_blob name);

/* The oldest value, which points into the map until queue_map_pop takes it away. For a queue that
 * has one. */
muster_blob queue_map_first(const queue_map *map, muster_blob name);
void queue_map_pop(queue_map *map, muster_blob name);

void queue_map_free(queue_map *map);

#endif
