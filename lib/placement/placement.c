/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places the ranks of a host: devices, then cores, then what follows from both.
 */
#include "config.h"

#include "placement/placement.h"

#include <stdlib.h>

#include "base/error.h"
#include "placement/core_map.h"
#include "placement/device_list.h"
#include "placement/give_cores.h"
#include "placement/give_devices.h"
#include "placement/placement_words.h"

enum { HIGHEST_RANK = 1 << 24 };

static int by_rank(const void *a, const void *b)
{
    const standing *one = *(const standing *const *)a, *other = *(const standing *const *)b;
    return one->rank < other->rank ? -1 : one->rank > other->rank;
}

/* The standings in the order of ranks, whichever they came in. */
static muster_status sort_ranks(const standing *ranks, int count, const standing **sorted)
{
    for (int r = 0; r < count; r++)
        sorted[r] = &ranks[r];
    qsort(sorted, (size_t)count, sizeof(*sorted), by_rank);
    for (int r = 0; r < count; r++) {
        if (sorted[r]->rank < 0 || sorted[r]->rank > HIGHEST_RANK)
            return error_set(MUSTER_ERR_ARGUMENT, "a rank to be placed has the number %d",
                             sorted[r]->rank);
        if (r > 0 && sorted[r]->rank == sorted[r - 1]->rank)
            return error_set(MUSTER_ERR_ARGUMENT, "rank %d is to be placed twice", sorted[r]->rank);
        if (cpu_set_is_empty(&sorted[r]->cpus))
            return error_set(MUSTER_ERR_ARGUMENT, "rank %d runs on no CPU", sorted[r]->rank);
    }
    return MUSTER_OK;
}

/* The NUMA node with most of the cores, the first of several; -1: none. */
static int main_node(const core_map *map, const cpu_set *cores)
{
    int best = -1, most = 0;
    for (int n = 0; n < map->num_nodes; n++) {
        int count = cpu_set_count_both(&map->nodes[n].cores, cores);
        if (count > most) {
            best = n;
            most = count;
        }
    }
    return best;
}

/* The package of all of the nodes, -1: several. */
static int common_package(const core_map *map, const cpu_set *nodes)
{
    int first = cpu_set_first(nodes), package = first < 0 ? -1 : map->nodes[first].package;
    for (int n = first; n >= 0; n = cpu_set_next(nodes, n))
        if (map->nodes[n].package != package)
            return -1;
    return package;
}

/* How near the nodes of a rank's cores are to a device: the numbers of nodes and packages are the
 * machine's, so they also tell of a device whose cores no rank has. */
static placement_nearness nearness(const core_map *map, const cpu_set *nodes,
                                   const placement_device *device)
{
    cpu_set near_cores = core_map_cores(map, &device->cpus);
    cpu_set near = core_map_nodes(map, &near_cores);
    bool package = false;
    if (cpu_set_is_empty(&device->cpus))
        return PLACEMENT_UNKNOWN;
    if (cpu_set_meets(nodes, &near))
        return PLACEMENT_LOCAL;
    for (int n = cpu_set_first(nodes); n >= 0; n = cpu_set_next(nodes, n)) {
        const core_node *mine = &map->nodes[n];
        if (mine->number >= 0 && mine->number == device->node)
            return PLACEMENT_LOCAL;
        package = package || (mine->package >= 0 && mine->package == device->package);
        for (int m = cpu_set_first(&near); m >= 0; m = cpu_set_next(&near, m))
            package = package || (mine->package >= 0 && mine->package == map->nodes[m].package);
    }
    return package ? PLACEMENT_SAME_PACKAGE : PLACEMENT_REMOTE;
}

/* What the rank may use of the nodes. */
static cpu_set cpus_of_nodes(const core_map *map, const cpu_set *nodes, const cpu_set *allowed)
{
    cpu_set cores = {{0}};
    for (int n = cpu_set_first(nodes); n >= 0; n = cpu_set_next(nodes, n))
        cores = cpu_set_or(&cores, &map->nodes[n].cores);
    cpu_set cpus = core_map_cpus(map, &cores);
    return cpu_set_and(&cpus, allowed);
}

/* What follows from a seat's device and CPUs. */
static void finish_seat(placement *p, const core_map *map, const standing *s, placement_seat *seat)
{
    cpu_set cores = core_map_cores(map, &seat->cpus), nodes = core_map_nodes(map, &cores);
    int home = main_node(map, &cores);
    seat->node = s->memory_node >= 0 ? s->memory_node : home < 0 ? -1 : map->nodes[home].number;
    seat->package = common_package(map, &nodes);
    seat->node_cpus = cpus_of_nodes(map, &nodes, &s->allowed);
    seat->device_cpus = seat->node_cpus;
    seat->nearness = PLACEMENT_NO_DEVICE;
    if (seat->device < 0)
        return;
    const placement_device *device = &p->devices[seat->device];
    cpu_set near = cpu_set_and(&device->cpus, &s->allowed);
    if (!cpu_set_is_empty(&near))
        seat->device_cpus = near;
    seat->nearness = nearness(map, &nodes, device);
}

/* Whose CPUs are somebody else's too. */
static muster_status find_shared_cores(placement *p)
{
    int *users = calloc(CPU_SET_LIMIT, sizeof(*users));
    if (users == NULL)
        return error_no_memory(CPU_SET_LIMIT * sizeof(*users), "placing ranks");
    for (int r = 0; r < p->count; r++)
        for (int cpu = cpu_set_first(&p->seats[r].cpus); cpu >= 0;
             cpu = cpu_set_next(&p->seats[r].cpus, cpu))
            users[cpu]++;
    for (int r = 0; r < p->count; r++)
        for (int cpu = cpu_set_first(&p->seats[r].cpus); cpu >= 0;
             cpu = cpu_set_next(&p->seats[r].cpus, cpu))
            p->seats[r].cores_shared = p->seats[r].cores_shared || users[cpu] > 1;
    free(users);
    return MUSTER_OK;
}

static muster_status place(placement *p, const standing *const *ranks, const placement_wish *wish,
                           const place_list *list)
{
    core_map *map = NULL;
    for (int r = 0; r < p->count; r++)
        p->seats[r] = (placement_seat){.rank = ranks[r]->rank,
                                       .local_rank = ranks[r]->local_rank,
                                       .device = -1,
                                       .ordinal = -1};
    muster_status status = device_list_make(p, ranks);
    if (status == MUSTER_OK)
        status = core_map_make(&map, ranks, p->count);
    if (status == MUSTER_OK)
        status = give_devices(p, ranks, wish, list);
    if (status == MUSTER_OK)
        status = give_cores(p, map, ranks, wish, list);
    for (int r = 0; status == MUSTER_OK && r < p->count; r++)
        finish_seat(p, map, ranks[r], &p->seats[r]);
    core_map_free(map);
    if (status == MUSTER_OK)
        status = find_shared_cores(p);
    return status == MUSTER_OK ? placement_words(p, wish) : status;
}

muster_status placement_make(placement *made, const standing *ranks, int count,
                             const placement_wish *wish)
{
    *made = (placement){0};
    if (count < 0 || count > PLACEMENT_MOST_RANKS)
        return error_set(MUSTER_ERR_ARGUMENT, "%d ranks on one host can't be placed, %d are most",
                         count, PLACEMENT_MOST_RANKS);
    place_list list = {0};
    const standing **sorted = calloc((size_t)count + 1, sizeof(*sorted));
    made->seats = calloc((size_t)count + 1, sizeof(*made->seats));
    made->count = count;
    muster_status status = MUSTER_OK;
    if (sorted == NULL || made->seats == NULL)
        status = error_no_memory((size_t)count * sizeof(*made->seats), "placing ranks");
    if (status == MUSTER_OK)
        status = sort_ranks(ranks, count, sorted);
    if (status == MUSTER_OK && wish->policy == PLACEMENT_EXPLICIT)
        status = place_list_read(&list, wish->list);
    if (status == MUSTER_OK)
        status = place(made, sorted, wish, wish->policy == PLACEMENT_EXPLICIT ? &list : NULL);
    place_list_clear(&list);
    free(sorted);
    if (status != MUSTER_OK)
        placement_free(made);
    return status;
}

void placement_free(placement *p)
{
    free(p->seats);
    free(p->devices);
    free(p->shortage);
    free(p->remarks);
    *p = (placement){0};
}
