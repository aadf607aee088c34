/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pinned memory for staging. Getting it takes long, so a group keeps what it has got.
 */
#include "config.h"

#include "collective/staging.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The benches that nobody uses. */
struct staging {
    pthread_mutex_t lock;
    staging_bench *free;
};

static struct staging *staging_of(muster_group *group)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&making);
    if (group->staging == NULL) {
        group->staging = calloc(1, sizeof(*group->staging));
        if (group->staging != NULL)
            pthread_mutex_init(&group->staging->lock, NULL);
    }
    pthread_mutex_unlock(&making);
    return group->staging;
}

static void free_bench(staging_bench *bench)
{
    for (int i = 0; i < STAGING_SLOTS && !bench->lost; i++)
        bench->table->free_memory(bench->device, bench->slots[i]);
    free(bench);
}

static muster_status new_bench(const muster_device_table *table, int device, deadline end,
                               staging_bench **made)
{
    staging_bench *bench = calloc(1, sizeof(*bench));
    if (bench == NULL)
        return error_no_memory(sizeof(*bench), "staging");
    bench->table = table;
    bench->device = device;
    muster_status status = MUSTER_OK;
    for (int i = 0; status == MUSTER_OK && i < STAGING_SLOTS; i++) {
        void *slot = NULL;
        status = table->alloc_pinned(device, STAGING_PIECE, deadline_left_ms(end), &slot);
        bench->slots[i] = slot;
    }
    if (status == MUSTER_OK)
        *made = bench;
    else
        free_bench(bench);
    return status;
}

muster_status staging_take(muster_group *group, const muster_device_table *table, int device,
                           deadline end, staging_bench **bench)
{
    struct staging *all = staging_of(group);
    if (all == NULL)
        return error_no_memory(sizeof(*all), "staging");
    pthread_mutex_lock(&all->lock);
    staging_bench **at = &all->free;
    while (*at != NULL && ((*at)->table != table || (*at)->device != device))
        at = &(*at)->next;
    staging_bench *found = *at;
    if (found != NULL)
        *at = found->next;
    pthread_mutex_unlock(&all->lock);
    *bench = found;
    muster_status status = found != NULL ? MUSTER_OK : new_bench(table, device, end, bench);
    if (status == MUSTER_OK)
        (*bench)->end = end;
    return status;
}

void staging_give_back(muster_group *group, staging_bench *bench)
{
    enum { PATIENCE_MS = 300 };
    if (bench == NULL)
        return;
    deadline end = deadline_in(PATIENCE_MS);
    for (int i = 0; i < STAGING_SLOTS; i++)
        staging_wait(bench, i, end);
    if (bench->lost) {
        free_bench(bench);
        return;
    }
    pthread_mutex_lock(&group->staging->lock);
    bench->next = group->staging->free;
    group->staging->free = bench;
    pthread_mutex_unlock(&group->staging->lock);
}

muster_status staging_start(staging_bench *bench, int slot, void *stream, void *to,
                            const void *from, size_t bytes)
{
    muster_status status = bench->table->copy_start(
        bench->device, stream, to, from, bytes, deadline_left_ms(bench->end), &bench->copies[slot]);
    bench->lost = bench->lost || status == MUSTER_ERR_TIMEOUT;
    return status;
}

muster_status staging_wait(staging_bench *bench, int slot, deadline end)
{
    muster_copy *copy = bench->copies[slot];
    if (copy == NULL)
        return MUSTER_OK;
    bench->copies[slot] = NULL;
    muster_status status = bench->table->copy_wait(copy, deadline_left_ms(end));
    bench->lost = bench->lost || status == MUSTER_ERR_TIMEOUT;
    return status;
}

static size_t piece_at(size_t bytes, size_t offset)
{
    return bytes - offset < STAGING_PIECE ? bytes - offset : STAGING_PIECE;
}

/* One piece is copied to the slot while the one before is taken out of its own. */
muster_status staging_fetch(staging_bench *bench, void *stream, void *to_host, const void *from,
                            size_t bytes, deadline end)
{
    muster_status status = MUSTER_OK;
    int slot = 0;
    for (size_t offset = 0; status == MUSTER_OK && offset < bytes; offset += STAGING_PIECE) {
        size_t next = offset + STAGING_PIECE;
        if (offset == 0)
            status =
                staging_start(bench, slot, stream, bench->slots[slot], from, piece_at(bytes, 0));
        if (status == MUSTER_OK && next < bytes)
            status = staging_start(bench, 1 - slot, stream, bench->slots[1 - slot],
                                   (const char *)from + next, piece_at(bytes, next));
        if (status == MUSTER_OK)
            status = staging_wait(bench, slot, end);
        if (status == MUSTER_OK)
            memcpy((char *)to_host + offset, bench->slots[slot], piece_at(bytes, offset));
        slot = 1 - slot;
    }
    return status;
}

muster_status staging_store(staging_bench *bench, void *stream, void *to, const void *from_host,
                            size_t bytes, deadline end)
{
    muster_status status = MUSTER_OK;
    int slot = 0;
    for (size_t offset = 0; status == MUSTER_OK && offset < bytes; offset += STAGING_PIECE) {
        status = staging_wait(bench, slot, end);
        if (status != MUSTER_OK)
            break;
        memcpy(bench->slots[slot], (const char *)from_host + offset, piece_at(bytes, offset));
        status = staging_start(bench, slot, stream, (char *)to + offset, bench->slots[slot],
                               piece_at(bytes, offset));
        slot = 1 - slot;
    }
    for (slot = 0; status == MUSTER_OK && slot < 2; slot++)
        status = staging_wait(bench, slot, end);
    return status;
}

void staging_free(muster_group *group)
{
    struct staging *all = group->staging;
    if (all == NULL)
        return;
    while (all->free != NULL) {
        staging_bench *next = all->free->next;
        free_bench(all->free);
        all->free = next;
    }
    pthread_mutex_destroy(&all->lock);
    free(all);
    group->staging = NULL;
}

void staging_forget(muster_group *group)
{
    struct staging *all = group->staging;
    while (all != NULL && all->free != NULL) {
        staging_bench *next = all->free->next;
        free(all->free);
        all->free = next;
    }
    free(all);
    group->staging = NULL;
}
