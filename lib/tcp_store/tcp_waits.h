/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits for which keys: indexed by key, so that a key that is set reaches those who wait for it
 * without a look at the others.
 */
#ifndef MUSTER_LIB_TCP_WAITS_H
#define MUSTER_LIB_TCP_WAITS_H

#include "store/key_map.h"

typedef struct wait_list wait_list;
typedef struct wait_link wait_link;

/* All zeros is empty. */
typedef struct wait_table {
    key_map lists; /* of wait_list */
} wait_table;

/* Part of whoever waits. All zeros does not wait. */
typedef struct waiter {
    wait_link *links;
    size_t num_links;
    size_t missing; /* keys that are still to come */
} waiter;

/* Makes who wait for keys, one count for each of them, doubles too; false: no memory. */
bool waits_add(wait_table *table, waiter *who, const muster_blob *keys, size_t num_keys);

/* key has been set: calls ready for each waiter that misses nothing more, and it waits no longer.
 */
void waits_key_set(wait_table *table, muster_blob key, void (*ready)(waiter *who, void *context),
                   void *context);

/* The same where key is a queue to which one value has come: for one waiter at most, the one that
 * has waited longest. */
void waits_key_pushed(wait_table *table, muster_blob key, void (*ready)(waiter *who, void *context),
                      void *context);

/* who waits no longer. */
void waits_drop(wait_table *table, waiter *who);

/* For a table that nobody waits in. */
void waits_free(wait_table *table);

#endif
