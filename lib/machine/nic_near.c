/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which network interface is nearest.
 */
#include "config.h"

#include "machine/nic_near.h"

#include <string.h>

/* How many bridges lie above both, from the host bridge on. */
static int shared_bridges(const machine_path *a, const machine_path *b)
{
    int shared = 0;
    while (shared < a->count && shared < b->count && a->bridges[shared] == b->bridges[shared])
        shared++;
    return shared;
}

static bool meet_in_numa(const machine *m, const cpu_set *a, const cpu_set *b)
{
    for (int i = 0; i < m->num_numas; i++)
        if (cpu_set_meets(a, &m->numas[i].cpus) && cpu_set_meets(b, &m->numas[i].cpus))
            return true;
    return false;
}

static bool meet_in_package(const machine *m, const cpu_set *a, const cpu_set *b)
{
    for (int i = 0; i < m->num_packages; i++)
        if (cpu_set_meets(a, &m->packages[i].cpus) && cpu_set_meets(b, &m->packages[i].cpus))
            return true;
    return false;
}

nic_nearness nic_nearness_to_cpus(const machine *m, int nic, const cpu_set *cpus)
{
    const cpu_set *own = &m->nics[nic].place.cpus;
    if (cpu_set_is_empty(own) || cpu_set_is_empty(cpus))
        return NIC_UNKNOWN;
    if (meet_in_numa(m, own, cpus))
        return NIC_SAME_NUMA;
    return meet_in_package(m, own, cpus) ? NIC_SAME_PACKAGE : NIC_ELSEWHERE;
}

nic_nearness nic_nearness_to_gpu(const machine *m, int nic, int gpu)
{
    const machine_place *own = &m->nics[nic].place, *other = &m->gpus[gpu].place;
    int shared = shared_bridges(&own->path, &other->path);
    if (shared > 0)
        return shared > 1 ? NIC_SAME_SWITCH : NIC_SAME_HOST_BRIDGE;
    return nic_nearness_to_cpus(m, nic, &other->cpus);
}

/* What a choice is made by: the nearness first, then how many bridges are shared. */
typedef struct search {
    const machine *m;
    int gpu; /* -1: near cpus instead */
    const cpu_set *cpus;
    nic_choice best;
    int best_shared;
} search;

static void offer(search *s, int nic)
{
    nic_nearness nearness = s->gpu >= 0 ? nic_nearness_to_gpu(s->m, nic, s->gpu)
                                        : nic_nearness_to_cpus(s->m, nic, s->cpus);
    int shared = s->gpu < 0
                     ? 0
                     : shared_bridges(&s->m->nics[nic].place.path, &s->m->gpus[s->gpu].place.path);
    bool better = s->best.nic < 0 || nearness < s->best.nearness ||
                  (nearness == s->best.nearness && shared > s->best_shared);
    if (!better)
        return;
    s->best = (nic_choice){nic, nearness};
    s->best_shared = shared;
}

/* A name may be an HCA's, which can have several interfaces: each is offered. */
static void offer_named(search *s, const char *name)
{
    for (int nic = 0; nic < s->m->num_nics; nic++)
        if (name[0] != '\0' &&
            (strcmp(s->m->nics[nic].name, name) == 0 || strcmp(s->m->nics[nic].hca, name) == 0))
            offer(s, nic);
}

static nic_choice choose(search s, const char *const *names, int num_names)
{
    s.best = (nic_choice){-1, NIC_UNKNOWN};
    for (int i = 0; names != NULL && i < num_names; i++)
        offer_named(&s, names[i]);
    for (int pass = 0; names == NULL && pass < 2; pass++)
        for (int nic = 0; nic < s.m->num_nics; nic++)
            if ((s.m->nics[nic].name[0] != '\0') == (pass == 0))
                offer(&s, nic);
    return s.best;
}

nic_choice nic_near_gpu(const machine *m, int gpu, const char *const *names, int num_names)
{
    return choose((search){.m = m, .gpu = gpu}, names, num_names);
}

nic_choice nic_near_cpus(const machine *m, const cpu_set *cpus, const char *const *names,
                         int num_names)
{
    return choose((search){.m = m, .gpu = -1, .cpus = cpus}, names, num_names);
}

const char *nic_nearness_text(nic_nearness nearness)
{
    static const char *const texts[] = {
        [NIC_SAME_SWITCH] = "behind the same switch",
        [NIC_SAME_HOST_BRIDGE] = "at the same host bridge",
        [NIC_SAME_NUMA] = "on the same NUMA node",
        [NIC_SAME_PACKAGE] = "in the same package",
        [NIC_ELSEWHERE] = "in another package",
        [NIC_UNKNOWN] = "somewhere",
    };
    return texts[nearness];
}
