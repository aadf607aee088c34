/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where this process stands on its machine.
 */
#include "config.h"

#include "placement/standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "placement/distance.h"

static int node_number(const machine *m, int numa)
{
    return numa < 0 ? -1 : m->numas[numa].number;
}

/* Whether the core goes on with the run: as many CPUs as its last one, all by one step above. */
static bool run_goes_on(const machine *m, const standing_run *run, const machine_core *last,
                        const machine_core *core)
{
    int step = core->pus[0] - last->pus[0];
    if (core->package != run->package || node_number(m, core->numa) != run->node ||
        core->num_pus != last->num_pus || step < 1 || (run->count > 1 && step != run->step))
        return false;
    for (int i = 0; i < core->num_pus; i++)
        if (core->pus[i] - last->pus[i] != step)
            return false;
    return true;
}

static void begin_run(const machine *m, standing_run *run, const machine_core *core)
{
    *run = (standing_run){
        .package = core->package, .node = node_number(m, core->numa), .count = 1, .step = 1};
    for (int i = 0; i < core->num_pus; i++)
        cpu_set_add(&run->first, core->pus[i]);
}

static void add_cores(standing *s, const machine *m)
{
    for (int c = 0; c < m->num_cores; c++) {
        const machine_core *core = &m->cores[c];
        standing_run *run = &s->runs[s->num_runs];
        if (core->num_pus == 0)
            continue;
        if (s->num_runs > 0 && run_goes_on(m, run - 1, core - 1, core)) {
            run[-1].step = core->pus[0] - core[-1].pus[0];
            run[-1].count++;
        } else if (s->num_runs < STANDING_MOST_RUNS) {
            begin_run(m, run, core);
            s->num_runs++;
        }
    }
}

muster_status standing_begin(standing *made, const machine *m)
{
    *made = (standing){.rank = -1,
                       .local_rank = -1,
                       .cpus = m->binding,
                       .allowed = m->allowed,
                       .bound = m->bound,
                       .memory_node = -1,
                       .settled_ordinal = -1};
    made->runs = calloc((size_t)m->num_cores + 1, sizeof(*made->runs));
    if (made->runs == NULL)
        return error_no_memory((size_t)m->num_cores * sizeof(*made->runs), "the cores");
    add_cores(made, m);
    return MUSTER_OK;
}

/* By bus id, else by UUID; a slice's UUID is none of the machine's. */
static const machine_gpu *find_gpu(const machine *m, const standing_device *device)
{
    int found = *device->bus_id != '\0' ? machine_find_gpu(m, device->bus_id) : -1;
    for (int i = 0; found < 0 && *device->uuid != '\0' && i < m->num_gpus; i++)
        if (strcmp(m->gpus[i].uuid, device->uuid) == 0)
            found = i;
    return found < 0 ? NULL : &m->gpus[found];
}

muster_status standing_add_device(standing *s, const machine *m, const standing_device *device)
{
    if (*device->uuid == '\0' && *device->bus_id == '\0')
        return error_set(MUSTER_ERR_ARGUMENT, "device %d has neither a UUID nor a bus id",
                         device->ordinal);
    if (s->num_devices == STANDING_MOST_DEVICES)
        return error_set(MUSTER_ERR_ARGUMENT, "this process has more than %d devices",
                         STANDING_MOST_DEVICES);
    standing_device *devices = realloc(s->devices, (s->num_devices + 1) * sizeof(*devices));
    if (devices == NULL)
        return error_no_memory((s->num_devices + 1) * sizeof(*devices), "the devices");
    s->devices = devices;
    standing_device *added = &devices[s->num_devices++];
    const machine_gpu *gpu = find_gpu(m, device);
    *added = *device;
    if (!machine_bus_id(device->bus_id, added->bus_id))
        snprintf(added->bus_id, sizeof(added->bus_id), "%s", gpu != NULL ? gpu->bus_id : "");
    added->cost = gpu == NULL ? 0 : distance_to_place(m, &s->cpus, &gpu->place);
    added->package = gpu == NULL ? -1 : gpu->place.package;
    added->node = gpu == NULL ? -1 : node_number(m, gpu->place.numa);
    added->cpus = gpu == NULL ? (cpu_set){{0}} : gpu->place.cpus;
    return MUSTER_OK;
}

void standing_clear(standing *s)
{
    free(s->runs);
    free(s->devices);
    *s = (standing){0};
}
