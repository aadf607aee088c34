/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cores of a host, put together from what its ranks see.
 */
#include "config.h"

#include "placement/core_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A core as it is found. */
typedef struct found_core {
    int package;
    int node;
    int lowest; /* CPU */
    int found;  /* its place before they are sorted */
} found_core;

typedef struct finding {
    core_map *map; /* core_of is by the order of finding */
    found_core *cores;
} finding;

static int by_place(const void *a, const void *b)
{
    const found_core *one = a, *other = b;
    /* As unsigned, not known comes after all others. */
    if (one->package != other->package)
        return (unsigned)one->package < (unsigned)other->package ? -1 : 1;
    if (one->node != other->node)
        return (unsigned)one->node < (unsigned)other->node ? -1 : 1;
    return one->lowest < other->lowest ? -1 : one->lowest > other->lowest;
}

/* The CPUs of a core: those that are new join the core of one that is not, or are a new core. */
static void add_core(finding *f, const cpu_set *first, int shift, int package, int node)
{
    int core = -1;
    for (int cpu = cpu_set_first(first); cpu >= 0 && core < 0; cpu = cpu_set_next(first, cpu))
        core = f->map->core_of[cpu + shift];
    for (int cpu = cpu_set_first(first); cpu >= 0; cpu = cpu_set_next(first, cpu)) {
        int at = cpu + shift;
        if (f->map->core_of[at] >= 0)
            continue;
        if (core < 0) {
            core = f->map->num_cores++;
            f->cores[core] =
                (found_core){.package = package, .node = node, .lowest = at, .found = core};
        }
        f->map->core_of[at] = core;
        if (at < f->cores[core].lowest)
            f->cores[core].lowest = at;
    }
}

static void find_cores(finding *f, const standing *const *ranks, int count)
{
    for (int cpu = 0; cpu < CPU_SET_LIMIT; cpu++)
        f->map->core_of[cpu] = -1;
    for (int r = 0; r < count; r++)
        for (size_t i = 0; i < ranks[r]->num_runs; i++) {
            const standing_run *run = &ranks[r]->runs[i];
            for (int k = 0; k < run->count; k++)
                add_core(f, &run->first, k * run->step, run->package, run->node);
        }
    for (int r = 0; r < count; r++)
        for (int cpu = cpu_set_first(&ranks[r]->allowed); cpu >= 0;
             cpu = cpu_set_next(&ranks[r]->allowed, cpu)) {
            cpu_set one = {{0}};
            cpu_set_add(&one, cpu);
            add_core(f, &one, 0, -1, -1);
        }
}

/* Gives the cores their order, and the CPUs the new numbers. */
static void sort_cores(finding *f, int new_place[CPU_SET_LIMIT])
{
    qsort(f->cores, (size_t)f->map->num_cores, sizeof(*f->cores), by_place);
    for (int c = 0; c < f->map->num_cores; c++)
        new_place[f->cores[c].found] = c;
    for (int cpu = 0; cpu < CPU_SET_LIMIT; cpu++) {
        if (f->map->core_of[cpu] < 0)
            continue;
        f->map->core_of[cpu] = new_place[f->map->core_of[cpu]];
        f->map->num_cpus = cpu + 1;
    }
}

static bool begins_node(const finding *f, int core)
{
    const found_core *now = &f->cores[core];
    return core == 0 || now->package != now[-1].package || now->node != now[-1].node;
}

static muster_status make_nodes(finding *f)
{
    core_map *map = f->map;
    int count = 0;
    for (int c = 0; c < map->num_cores; c++)
        count += begins_node(f, c);
    map->nodes = calloc((size_t)count + 1, sizeof(*map->nodes));
    if (map->nodes == NULL)
        return error_no_memory((size_t)count * sizeof(*map->nodes), "the NUMA nodes");
    for (int c = 0; c < map->num_cores; c++) {
        if (begins_node(f, c)) {
            core_node *node = &map->nodes[map->num_nodes++];
            bool same = node > map->nodes && node[-1].package == f->cores[c].package;
            *node = (core_node){.package = f->cores[c].package,
                                .number = f->cores[c].node,
                                .turn = same ? node[-1].turn + 1 : 0};
        }
        map->node_of[c] = map->num_nodes - 1;
        cpu_set_add(&map->nodes[map->num_nodes - 1].cores, c);
    }
    return MUSTER_OK;
}

muster_status core_map_make(core_map **made, const standing *const *ranks, int count)
{
    finding f = {.map = calloc(1, sizeof(*f.map)),
                 .cores = calloc(CPU_SET_LIMIT, sizeof(*f.cores))};
    int *new_place = calloc(CPU_SET_LIMIT, sizeof(*new_place));
    muster_status status = MUSTER_OK;
    if (f.map == NULL || f.cores == NULL || new_place == NULL) {
        status = error_no_memory(sizeof(*f.map), "the cores of the host");
    } else {
        find_cores(&f, ranks, count);
        sort_cores(&f, new_place);
        status = make_nodes(&f);
    }
    free(new_place);
    free(f.cores);
    if (status == MUSTER_OK)
        *made = f.map;
    else
        core_map_free(f.map);
    return status;
}

void core_map_free(core_map *map)
{
    if (map != NULL)
        free(map->nodes);
    free(map);
}

cpu_set core_map_cores(const core_map *map, const cpu_set *cpus)
{
    cpu_set cores = {{0}};
    for (int cpu = cpu_set_first(cpus); cpu >= 0; cpu = cpu_set_next(cpus, cpu))
        cpu_set_add(&cores, map->core_of[cpu]);
    return cores;
}

cpu_set core_map_cpus(const core_map *map, const cpu_set *cores)
{
    cpu_set cpus = {{0}};
    for (int cpu = 0; cpu < map->num_cpus; cpu++)
        if (cpu_set_has(cores, map->core_of[cpu]))
            cpu_set_add(&cpus, cpu);
    return cpus;
}

cpu_set core_map_nodes(const core_map *map, const cpu_set *cores)
{
    cpu_set nodes = {{0}};
    for (int core = cpu_set_first(cores); core >= 0; core = cpu_set_next(cores, core))
        cpu_set_add(&nodes, map->node_of[core]);
    return nodes;
}
