/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank gets which cores: first each rank's domain, the cores that it may have some of; then
 * all ranks of one domain are a crew, and crews share out what lies in the domains of several.
 */
#include "config.h"

#include "placement/give_cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "placement/crews.h"
#include "placement/node_turns.h"

typedef struct dealing {
    placement *p;
    const core_map *map;
    const standing *const *ranks;
    const placement_wish *wish;
    cpu_set taken; /* cores of ranks that have theirs already */
    int waiting;   /* ranks that have none yet */
    cpu_set *free; /* of each rank: the cores that it could have */
    crews crews;
    int *crew_of; /* of each rank; -1 none */
} dealing;

static void say(placement_seat *seat, const char *words)
{
    size_t used = strlen(seat->why);
    snprintf(seat->why + used, sizeof(seat->why) - used, "; %s", words);
}

/* Those who have their CPUs beforehand. */
static void keep_cpus(dealing *d, const place_list *list)
{
    for (int r = 0; r < d->p->count; r++) {
        placement_seat *seat = &d->p->seats[r];
        const standing *s = d->ranks[r];
        bool listed = list != NULL && list->entries[s->local_rank].has_cpus;
        seat->cores_listed = listed;
        seat->cores_kept = !listed && (s->bound || d->wish->policy == PLACEMENT_NONE);
        if (!listed && !seat->cores_kept) {
            d->waiting++;
            continue;
        }
        seat->cpus = listed ? list->entries[s->local_rank].cpus : s->cpus;
        cpu_set cores = core_map_cores(d->map, &seat->cpus);
        d->taken = cpu_set_or(&d->taken, &cores);
        say(seat, listed     ? "cores by the list"
                  : s->bound ? "cores as the launcher bound it"
                             : "cores as they were");
    }
}

/* The cores that nobody has, or all that the rank may use where those are too few. */
static cpu_set free_cores(const dealing *d, const standing *s)
{
    cpu_set all = core_map_cores(d->map, &s->allowed);
    cpu_set free = cpu_set_minus(&all, &d->taken);
    return cpu_set_count(&free) >= d->waiting ? free : all;
}

/* Near the rank's device; empty where it has none, or none of its cores are near. */
static cpu_set near_cores(const dealing *d, int rank)
{
    const placement_seat *seat = &d->p->seats[rank];
    cpu_set near = {{0}};
    if (seat->device >= 0)
        near = core_map_cores(d->map, &d->p->devices[seat->device].cpus);
    return cpu_set_and(&near, &d->free[rank]);
}

/* Joins the crew of those with that domain; no more than there are cores if it is near a device. */
static muster_status join(dealing *d, int rank, const cpu_set *domain, bool full_is_full)
{
    return crews_join(&d->crews, domain, full_is_full, &d->crew_of[rank]);
}

/* Crews around devices. Who does not fit any more is spread with those that have no device. */
static muster_status seat_near_devices(dealing *d)
{
    for (int r = 0; r < d->p->count; r++) {
        if (!cpu_set_is_empty(&d->p->seats[r].cpus))
            continue;
        d->free[r] = free_cores(d, d->ranks[r]);
        cpu_set near = near_cores(d, r);
        if (cpu_set_is_empty(&near))
            continue;
        muster_status status = join(d, r, &near, true);
        if (status != MUSTER_OK)
            return status;
        if (d->crew_of[r] >= 0)
            say(&d->p->seats[r], "cores near it");
    }
    return MUSTER_OK;
}

static bool is_waiting(const dealing *d, int rank)
{
    return cpu_set_is_empty(&d->p->seats[rank].cpus) && d->crew_of[rank] < 0;
}

/* Spreads the ranks that wait and have the same free cores as the first of them. */
static muster_status spread_pool(dealing *d, int first, int *pool)
{
    static const char *const words[] = {[PLACEMENT_AUTO] = "cores spread evenly",
                                        [PLACEMENT_COMPACT] = "cores on as few NUMA nodes as go",
                                        [PLACEMENT_SCATTER] = "cores of NUMA nodes in turn",
                                        [PLACEMENT_EXPLICIT] = "cores spread evenly"};
    int count = 0;
    for (int r = first; r < d->p->count; r++)
        if (is_waiting(d, r) && cpu_set_equal(&d->free[r], &d->free[first]))
            pool[count++] = r;
    node_turns turns;
    muster_status status =
        node_turns_make(&turns, d->map, &d->free[first], &d->crews, d->wish->policy, count);
    for (int i = 0; status == MUSTER_OK && i < count; i++) {
        cpu_set domain = node_turns_domain(&turns, i);
        status = join(d, pool[i], &domain, false);
        say(&d->p->seats[pool[i]], words[d->wish->policy]);
    }
    node_turns_clear(&turns);
    return status;
}

static muster_status spread_rest(dealing *d)
{
    int *pool = calloc((size_t)d->p->count + 1, sizeof(*pool));
    if (pool == NULL)
        return error_no_memory((size_t)d->p->count * sizeof(*pool), "giving cores to ranks");
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < d->p->count; r++)
        if (is_waiting(d, r))
            status = spread_pool(d, r, pool);
    free(pool);
    return status;
}

/* The n-th of a crew has its part of the crew's cores, with neighbours; one core of several ranks
 * where there are more ranks than cores. */
static void seat_crews(dealing *d)
{
    for (int r = 0; r < d->p->count; r++) {
        if (d->crew_of[r] < 0)
            continue;
        cpu_set cores = crews_next_share(&d->crews, d->crew_of[r]);
        cpu_set cpus = core_map_cpus(d->map, &cores);
        d->p->seats[r].cpus = cpu_set_and(&cpus, &d->ranks[r]->allowed);
    }
}

muster_status give_cores(placement *p, const core_map *map, const standing *const *ranks,
                         const placement_wish *wish, const place_list *list)
{
    dealing d = {.p = p, .map = map, .ranks = ranks, .wish = wish};
    size_t count = (size_t)p->count;
    d.free = calloc(count + 1, sizeof(*d.free));
    d.crew_of = calloc(count + 1, sizeof(*d.crew_of));
    muster_status status = MUSTER_OK;
    if (d.free == NULL || d.crew_of == NULL)
        status = error_no_memory(count * sizeof(*d.free), "giving cores to ranks");
    for (size_t r = 0; status == MUSTER_OK && r < count; r++)
        d.crew_of[r] = -1;
    if (status == MUSTER_OK) {
        keep_cpus(&d, list);
        status = seat_near_devices(&d);
    }
    if (status == MUSTER_OK)
        status = spread_rest(&d);
    if (status == MUSTER_OK)
        status = crews_share_out(&d.crews, map->num_cores);
    if (status == MUSTER_OK)
        seat_crews(&d);
    crews_clear(&d.crews);
    free(d.free);
    free(d.crew_of);
    return status;
}
