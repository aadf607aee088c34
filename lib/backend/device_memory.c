/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where memory is, as the backends with devices know it.
 */
#include "config.h"

#include "backend/device_memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

/* A child of fork can't use the devices of its parent, so none of its memory is on one. */
static bool is_child_of_user(void)
{
    static _Atomic pid_t user;
    pid_t none = 0, self = getpid();
    return !atomic_compare_exchange_strong(&user, &none, self) && none != self;
}

static const backend_entry *find_in_use(void)
{
    const backend_entry *const *list = NULL;
    size_t count = 0;
    if (backend_list(&list, &count) != MUSTER_OK)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (list[i]->ops != NULL && list[i]->ops->devices != NULL &&
            list[i]->ops->devices->in_use())
            return is_child_of_user() ? NULL : list[i];
    return NULL;
}

const muster_device_table *device_memory_in_use(void)
{
    const backend_entry *entry = find_in_use();
    return entry == NULL ? NULL : entry->ops->devices;
}

const muster_device_table *device_memory_table(void)
{
    const backend_entry *entry = find_in_use();
    if (entry == NULL)
        return NULL;
    if (!entry->probed) /* what it finds counts for little: devices may be there without the rest */
        backend_look_at(entry->name);
    return entry->ops->devices;
}

const char *device_memory_words(const muster_memory_place *place, char *text, size_t size)
{
    static const char *const kinds[] = {[MUSTER_MEMORY_HOST] = "host memory",
                                        [MUSTER_MEMORY_DEVICE] = "memory of device",
                                        [MUSTER_MEMORY_MANAGED] = "managed memory of device"};
    if (place->kind == MUSTER_MEMORY_HOST)
        snprintf(text, size, "%s", kinds[place->kind]);
    else
        snprintf(text, size, "%s %d", kinds[place->kind], place->device);
    return text;
}
