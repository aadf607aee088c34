/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks on the machines of t/topologies, and texts into standings.
 */
#include "t/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/tap.h"

const char *const placing_topologies[PLACING_TOPOLOGIES] = {
    "mpibind-coral-lassen",     "mpibind-coral-lassen-hwloc1",
    "mpibind-cts1-pascal",      "mpibind-g4dnmetal",
    "mpibind-epyc-corona",      "mpibind-eas-tioga",
    "mpibind-cts1-quartz-smt1", "hwloc-nvidiaDGX2",
    "hwloc-power8gpudistances", "hwloc-24em64t-2n6c2t-pci",
};

const char *const placing_binding_names[PLACING_BINDINGS] = {
    "unbound", "spread", "reversed", "one package", "mixed",
};

machine *placing_load(const char *folder, const char *topology)
{
    char path[512];
    machine *m = NULL;
    snprintf(path, sizeof(path), "%s/%s.xml", folder, topology);
    muster_status status = machine_load_file(path, &m);
    if (status == MUSTER_ERR_UNAVAILABLE)
        plan_skip_all("%s", muster_last_error());
    if (status != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return m;
}

/* The i-th of n parts of the cores, one core at least. */
static cpu_set part(const machine *m, int i, int n)
{
    int first = i * m->num_cores / n, end = (i + 1) * m->num_cores / n;
    cpu_set cpus = {{0}};
    for (int c = first; c < end || c == first; c++)
        for (int k = 0; k < m->cores[c].num_pus; k++)
            cpu_set_add(&cpus, m->cores[c].pus[k]);
    return cpus;
}

static void bind_rank(machine *m, int i, int n, placing_binding binding)
{
    bool all = binding == PLACING_UNBOUND || (binding == PLACING_MIXED && i == 0);
    int package = binding == PLACING_MIXED && i > n / 2 ? m->num_packages - 1 : 0;
    cpu_set cpus = all                           ? m->allowed
                   : binding == PLACING_SPREAD   ? part(m, i, n)
                   : binding == PLACING_REVERSED ? part(m, n - 1 - i, n)
                                                 : m->packages[package].cpus;
    if (!machine_bind(m, &cpus))
        bail_out("rank %d of %d can't be bound", i, n);
    m->bound = !all;
}

void placing_stand(standing *s, machine *m, int i, int n, placing_binding binding, unsigned visible)
{
    int ordinal = 0;
    bind_rank(m, i, n, binding);
    if (standing_begin(s, m) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    s->rank = s->local_rank = i;
    for (int g = 0; g < m->num_gpus; g++) {
        standing_device device = {.ordinal = ordinal};
        if ((visible & 1u << g) == 0)
            continue;
        ordinal++;
        snprintf(device.uuid, sizeof(device.uuid), "%s", m->gpus[g].uuid);
        snprintf(device.bus_id, sizeof(device.bus_id), "%s", m->gpus[g].bus_id);
        if (standing_add_device(s, m, &device) != MUSTER_OK)
            bail_out("%s", muster_last_error());
    }
}

void placing_read(standing *s, int rank, const char *text)
{
    if (standing_read(s, muster_str(text)) != MUSTER_OK)
        bail_out("%s in \"%s\"", muster_last_error(), text);
    s->rank = s->local_rank = rank;
}

void placing_publish(standing *copy, const standing *s)
{
    char *text = NULL;
    if (standing_write(s, &text) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    placing_read(copy, s->rank, text);
    copy->local_rank = s->local_rank;
    free(text);
}

const char *placing_cpus(const cpu_set *set)
{
    static char texts[8][512];
    static int turn;
    char *text = texts[turn++ % 8];
    cpu_set_write(set, text, sizeof(texts[0]));
    return text;
}
