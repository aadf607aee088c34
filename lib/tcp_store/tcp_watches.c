/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is to be told of each change of which keys.
 */
#include "tcp_store/tcp_watches.h"

#include <stdlib.h>

/* In the list of its key and in that of its watcher. */
struct watch {
    watcher *who;
    watch *previous, *next; /* of the same key */
    watch *next_own;
    size_t size;
    unsigned char key[];
};

bool watches_add(watch_table *table, watcher *who, muster_blob key)
{
    watch *made = malloc(sizeof(*made) + key.size);
    void **first = made == NULL ? NULL : key_map_put(&table->watches, key);
    if (first == NULL) {
        free(made);
        return false;
    }
    *made = (watch){.who = who, .next = *first, .next_own = who->watches, .size = key.size};
    if (key.size > 0)
        memcpy(made->key, key.data, key.size);
    if (made->next != NULL)
        made->next->previous = made;
    *first = made;
    who->watches = made;
    who->count++;
    return true;
}

bool watches_any(const watch_table *table, muster_blob key)
{
    return key_map_find(&table->watches, key) != NULL;
}

void watches_tell(const watch_table *table, muster_blob key,
                  void (*tell)(watcher *who, void *context), void *context)
{
    void **first = key_map_find(&table->watches, key);
    for (watch *one = first == NULL ? NULL : *first; one != NULL; one = one->next)
        tell(one->who, context);
}

static void unlink_one(watch_table *table, watch *one)
{
    muster_blob key = {one->key, one->size};
    if (one->next != NULL)
        one->next->previous = one->previous;
    if (one->previous != NULL)
        one->previous->next = one->next;
    else if (one->next != NULL)
        *key_map_find(&table->watches, key) = one->next;
    else
        key_map_remove(&table->watches, key);
}

void watches_drop(watch_table *table, watcher *who)
{
    while (who->watches != NULL) {
        watch *one = who->watches;
        who->watches = one->next_own;
        unlink_one(table, one);
        free(one);
    }
    who->count = 0;
}

void watches_free(watch_table *table)
{
    key_map_free(&table->watches, free);
}
