/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which network interface is nearest to each place that a rank may be given, among those that reach
 * the others: the one of the route to the store, and those on the same network.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/stand.h"
#include "machine/nic_near.h"
#include "net/interface.h"

/* base first, then those of its network; names[i] is of addresses[i]. */
typedef struct reachable {
    interface_address *all;
    const interface_address **addresses;
    const char **names;
    int count;
} reachable;

static muster_status find_reachable(const char *base, reachable *found)
{
    size_t count = 0;
    *found = (reachable){0};
    if (base == NULL)
        return MUSTER_OK;
    muster_status status = interface_list(&found->all, &count);
    if (status != MUSTER_OK)
        return status;
    found->addresses = calloc(count + 1, sizeof(*found->addresses));
    found->names = calloc(count + 1, sizeof(*found->names));
    if (found->addresses == NULL || found->names == NULL)
        return error_no_memory(count * sizeof(*found->names), "a list of interfaces");
    const interface_address *first = NULL;
    for (size_t i = 0; first == NULL && i < count; i++)
        if (strcmp(found->all[i].address, base) == 0)
            first = &found->all[i];
    for (size_t i = 0; first != NULL && i <= count; i++) {
        const interface_address *at = i == 0 ? first : &found->all[i - 1];
        if (i > 0 && (at == first || !at->up || at->loopback || interface_is_link_local(at) ||
                      !interface_same_network(at, first)))
            continue;
        found->addresses[found->count] = at;
        found->names[found->count++] = at->name;
    }
    return MUSTER_OK;
}

static void forget_reachable(reachable *found)
{
    free(found->all);
    free(found->addresses);
    free(found->names);
}

/* The one of a NIC's name; NULL for the first of them, which is the rank's in any case. */
static const interface_address *other_way(const machine *m, const reachable *found,
                                          nic_choice choice)
{
    for (int i = 1; choice.nic >= 0 && i < found->count; i++)
        if (strcmp(found->names[i], m->nics[choice.nic].name) == 0 &&
            strcmp(found->names[i], found->names[0]) != 0)
            return found->addresses[i];
    return NULL;
}

/* One text for a way: its parts end in 0. */
static muster_status add_way(stand *where, rank_way way)
{
    rank_way *ways = realloc(where->ways, (where->num_ways + 1) * sizeof(*ways));
    if (ways != NULL)
        where->ways = ways;
    char **texts = realloc(where->texts, (where->num_ways + 1) * sizeof(*texts));
    if (texts != NULL)
        where->texts = texts;
    size_t size = strlen(way.interface) + strlen(way.address) + strlen(way.hca) + 3;
    char *text = malloc(size);
    if (ways == NULL || texts == NULL || text == NULL) {
        free(text);
        return error_no_memory(size, "a list of interfaces");
    }
    snprintf(text, size, "%s%c%s%c%s", way.interface, 0, way.address, 0, way.hca);
    way.interface = text;
    way.address = way.interface + strlen(way.interface) + 1;
    way.hca = way.address + strlen(way.address) + 1;
    ways[where->num_ways] = way;
    texts[where->num_ways++] = text;
    return MUSTER_OK;
}

/* Nothing is said where there is nothing better than the rank's own interface and no adapter. */
static muster_status say_way(const machine *m, const reachable *found, stand *where, rank_way way,
                             nic_choice near, nic_choice any)
{
    if (found->count == 0)
        near.nic = -1;
    const interface_address *other = other_way(m, found, near);
    way.hca = any.nic >= 0 ? m->nics[any.nic].hca : "";
    way.interface = other != NULL ? other->name : "";
    way.address = other != NULL ? other->address : "";
    if (near.nic >= 0 && near.nearness == NIC_UNKNOWN && other == NULL)
        near.nic = -1;
    way.nearness = near.nic >= 0 ? nic_nearness_text(near.nearness) : "";
    if (near.nic < 0 && *way.hca == '\0')
        return MUSTER_OK;
    return add_way(where, way);
}

muster_status stand_ways(const machine *m, const char *base, const standing *s, stand *where)
{
    reachable found;
    muster_status status = find_reachable(base, &found);
    for (size_t d = 0; status == MUSTER_OK && d < s->num_devices; d++) {
        int gpu = machine_find_gpu(m, s->devices[d].bus_id);
        if (gpu >= 0)
            status = say_way(
                m, &found, where, (rank_way){.of_device = true, .number = s->devices[d].ordinal},
                nic_near_gpu(m, gpu, found.names, found.count), nic_near_gpu(m, gpu, NULL, 0));
    }
    for (int n = 0; status == MUSTER_OK && n < m->num_numas; n++)
        status = say_way(m, &found, where, (rank_way){.number = m->numas[n].number},
                         nic_near_cpus(m, &m->numas[n].cpus, found.names, found.count),
                         nic_near_cpus(m, &m->numas[n].cpus, NULL, 0));
    forget_reachable(&found);
    return status;
}
