/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Libraries that were loaded since. The loader counts them, but for its count it takes a lock and
 * walks over all that is loaded. It also keeps them in a list, to which it appends: where the one
 * that was last is last still, there are no new ones. That one is kept from being unloaded, as it
 * must be there to be looked at.
 */
#include "config.h"

#include "loads.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

typedef struct tail {
    unsigned long long count;
    char name[4096];
} tail;

static int take_count(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

static int take_name(struct dl_phdr_info *info, size_t size, void *found)
{
    tail *last = found;
    (void)size;
    last->count = info->dlpi_adds;
    snprintf(last->name, sizeof(last->name), "%s", info->dlpi_name);
    return 0;
}

/* NULL where it can't be had, or is not the last one any more. */
static struct link_map *keep_last(const char *name)
{
    struct link_map *map = NULL;
    void *handle = name[0] == '/' ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_next != NULL)
        return NULL;
    return map;
}

loads loads_now(void)
{
    loads now;
    tail last = {0};
    dl_iterate_phdr(take_name, &last);
    atomic_init(&now.count, last.count);
    atomic_init(&now.last, keep_last(last.name));
    return now;
}

void loads_keep(loads *where, const loads *seen)
{
    atomic_store(&where->count, atomic_load(&seen->count));
    atomic_store(&where->last, atomic_load(&seen->last));
}

bool loads_none_since(const loads *seen)
{
    struct link_map *last = atomic_load_explicit(&seen->last, memory_order_acquire);
    if (last != NULL && __atomic_load_n(&last->l_next, __ATOMIC_ACQUIRE) == NULL)
        return true;
    unsigned long long count = 0;
    dl_iterate_phdr(take_count, &count);
    return count == atomic_load_explicit(&seen->count, memory_order_relaxed);
}
