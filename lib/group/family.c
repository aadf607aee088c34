/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The groups made of one group, on POSIX's search tree.
 */
#include "config.h"

#include "group/family.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

typedef struct child {
    char *key;
    long long count;
    bool living;
} child;

struct family {
    pthread_mutex_t lock;
    int references;
    void *children; /* a tree for tsearch */
};

static int compare_children(const void *a, const void *b)
{
    return strcmp(((const child *)a)->key, ((const child *)b)->key);
}

static void free_child(void *node)
{
    child *old = node;
    free(old->key);
    free(old);
}

family *family_new(void)
{
    family *members = calloc(1, sizeof(*members));
    if (members == NULL)
        return NULL;
    pthread_mutex_init(&members->lock, NULL);
    members->references = 1;
    return members;
}

family *family_retain(family *members)
{
    pthread_mutex_lock(&members->lock);
    members->references++;
    pthread_mutex_unlock(&members->lock);
    return members;
}

void family_release(family *members)
{
    if (members == NULL)
        return;
    pthread_mutex_lock(&members->lock);
    bool last = --members->references == 0;
    pthread_mutex_unlock(&members->lock);
    if (!last)
        return;
    tdestroy(members->children, free_child);
    pthread_mutex_destroy(&members->lock);
    free(members);
}

/* The child called key, made where there is none; under the lock. */
static child *find_or_make(family *members, const char *key)
{
    child *made = calloc(1, sizeof(*made));
    if (made == NULL || (made->key = strdup(key)) == NULL) {
        free(made);
        return NULL;
    }
    child **found = tsearch(made, &members->children, compare_children);
    if (found == NULL || *found != made)
        free_child(made);
    return found == NULL ? NULL : *found;
}

long long family_count(family *members, const char *key, int more)
{
    pthread_mutex_lock(&members->lock);
    child *found = find_or_make(members, key);
    long long before = found == NULL ? -1 : found->count;
    if (found != NULL)
        found->count += more;
    pthread_mutex_unlock(&members->lock);
    return before;
}

bool family_take_name(family *members, const char *name, bool *taken)
{
    pthread_mutex_lock(&members->lock);
    child *found = find_or_make(members, name);
    *taken = found != NULL && !found->living;
    if (found != NULL)
        found->living = true;
    pthread_mutex_unlock(&members->lock);
    return found != NULL;
}

void family_drop_name(family *members, const char *name)
{
    pthread_mutex_lock(&members->lock);
    child *found = find_or_make(members, name);
    if (found != NULL)
        found->living = false;
    pthread_mutex_unlock(&members->lock);
}
