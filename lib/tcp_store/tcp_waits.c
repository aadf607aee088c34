/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits for which keys.
 */
#include "tcp_store/tcp_waits.h"

#include <stdlib.h>

/* One waiter in the list of one key. */
struct wait_link {
    waiter *who;
    wait_list *list; /* NULL once the key has come */
    wait_link *previous, *next;
};

struct wait_list {
    wait_link *first;
    size_t size;
    unsigned char key[];
};

static wait_list *list_of(wait_table *table, muster_blob key)
{
    void **item = key_map_put(&table->lists, key);
    if (item == NULL || *item != NULL)
        return item == NULL ? NULL : *item;
    wait_list *list = malloc(sizeof(*list) + key.size);
    if (list == NULL) {
        key_map_remove(&table->lists, key);
        return NULL;
    }
    *list = (wait_list){.size = key.size};
    if (key.size > 0)
        memcpy(list->key, key.data, key.size);
    *item = list;
    return list;
}

static void unlink_one(wait_table *table, wait_link *link)
{
    wait_list *list = link->list;
    if (list == NULL)
        return;
    if (link->previous != NULL)
        link->previous->next = link->next;
    else
        list->first = link->next;
    if (link->next != NULL)
        link->next->previous = link->previous;
    link->list = NULL;
    if (list->first == NULL) {
        key_map_remove(&table->lists, (muster_blob){list->key, list->size});
        free(list);
    }
}

bool waits_add(wait_table *table, waiter *who, const muster_blob *keys, size_t num_keys)
{
    *who = (waiter){.links = calloc(num_keys, sizeof(wait_link))};
    for (; who->links != NULL && who->num_links < num_keys; who->num_links++) {
        wait_list *list = list_of(table, keys[who->num_links]);
        if (list == NULL)
            break;
        wait_link *link = &who->links[who->num_links];
        *link = (wait_link){who, list, NULL, list->first};
        if (list->first != NULL)
            list->first->previous = link;
        list->first = link;
    }
    who->missing = who->num_links;
    if (who->links != NULL && who->num_links == num_keys)
        return true;
    waits_drop(table, who);
    return false;
}

void waits_key_set(wait_table *table, muster_blob key, void (*ready)(waiter *who, void *context),
                   void *context)
{
    wait_list *list = key_map_remove(&table->lists, key);
    wait_link *link = list == NULL ? NULL : list->first;
    free(list);
    /* All links leave the list before anybody is told, since a waiter that is done frees its own,
     * of which this list may hold two. */
    for (wait_link *one = link; one != NULL; one = one->next)
        one->list = NULL;
    while (link != NULL) {
        waiter *who = link->who;
        link = link->next;
        if (--who->missing > 0)
            continue;
        waits_drop(table, who);
        ready(who, context);
    }
}

void waits_key_pushed(wait_table *table, muster_blob key, void (*ready)(waiter *who, void *context),
                      void *context)
{
    void **found = key_map_find(&table->lists, key);
    wait_link *link = found == NULL ? NULL : ((wait_list *)*found)->first;
    while (link != NULL && link->next != NULL)
        link = link->next; /* the newest is first */
    while (link != NULL) {
        waiter *who = link->who;
        wait_link *previous = link->previous;
        unlink_one(table, link);
        if (--who->missing == 0) {
            waits_drop(table, who);
            ready(who, context);
            return;
        }
        link = previous;
    }
}

void waits_drop(wait_table *table, waiter *who)
{
    for (size_t i = 0; i < who->num_links; i++)
        unlink_one(table, &who->links[i]);
    free(who->links);
    *who = (waiter){0};
}

void waits_free(wait_table *table)
{
    key_map_free(&table->lists, free);
}
