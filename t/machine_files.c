/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Real machines: what is seen in their topologies is what their README says they have, and what
 * their XML has when it is read without hwloc.
 */
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As the README in TOPOLOGIES has it. */
static const struct real {
    const char *file;
    int packages, numas, memory_nodes, cores, pus;
    int nvidia, amd, gpu_packages[2]; /* how many GPUs are in which package */
    int ethernet, infiniband, fabric;
    bool uuids;
} reals[] = {
    {"mpibind-coral-lassen", 2, 2, 0, 40, 160, 4, 0, {2, 2}, 2, 4, 0, true},
    {"mpibind-coral-lassen-hwloc1", 2, 2, 4, 40, 160, 4, 0, {2, 2}, 2, 4, 0, false},
    {"mpibind-cts1-pascal", 2, 2, 0, 36, 72, 2, 0, {2, 0}, 2, 1, 0, true},
    {"mpibind-g4dnmetal", 2, 2, 0, 48, 96, 8, 0, {4, 4}, 1, 0, 1, true},
    {"mpibind-epyc-corona", 2, 8, 0, 48, 96, 0, 4, {2, 2}, 2, 1, 0, false},
    {"mpibind-eas-tioga", 1, 4, 0, 64, 128, 0, 8, {8, 0}, 1, 0, 4, false},
    {"mpibind-cts1-quartz-smt1", 2, 2, 0, 36, 36, 0, 0, {0, 0}, 4, 0, 1, false},
    {"hwloc-nvidiaDGX2", 2, 2, 0, 4, 4, 16, 0, {8, 8}, 0, 0, 0, true},
    {"hwloc-power8gpudistances", 2, 2, 0, 8, 16, 4, 0, {2, 2}, 0, 0, 0, true},
    {"hwloc-24em64t-2n6c2t-pci", 2, 2, 0, 12, 24, 3, 0, {1, 2}, 3, 1, 0, false},
};

static const char *path_of(const char *file)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s.xml", TOPOLOGIES, file);
    return path;
}

static machine *load(const char *file)
{
    machine *m = NULL;
    if (machine_load_file(path_of(file), &m) != MUSTER_OK)
        bail_out("%s: %s", file, muster_last_error());
    return m;
}

static char *text_of(const char *file)
{
    FILE *from = fopen(path_of(file), "r");
    char *text = calloc(1, 1 << 20);
    if (from == NULL || text == NULL)
        bail_out("can't read %s", file);
    size_t got = fread(text, 1, (1 << 20) - 1, from);
    fclose(from);
    ok(got > 0, "%s has text", file);
    return text;
}

/* How often a piece comes in a text. */
static int times(const char *text, const char *piece)
{
    int count = 0;
    for (; (text = strstr(text, piece)) != NULL; text += strlen(piece))
        count++;
    return count;
}

static void counts(const struct real *r, const machine *m)
{
    int nvidia = 0, amd = 0, kinds[3] = {0}, packages[2] = {0};
    for (int i = 0; i < m->num_gpus; i++) {
        const machine_gpu *gpu = &m->gpus[i];
        nvidia += gpu->vendor == 0x10de ? 1 : 0;
        amd += gpu->vendor == 0x1002 ? 1 : 0;
        if (gpu->place.package >= 0 && gpu->place.package < 2)
            packages[gpu->place.package]++;
    }
    for (int i = 0; i < m->num_nics; i++)
        kinds[m->nics[i].kind]++;
    ok(m->whole && !m->this_system, "a whole machine, and not this one");
    is_int(m->num_packages, r->packages, "packages");
    is_int(m->num_numas, r->numas, "NUMA nodes");
    is_int(m->memory_nodes, r->memory_nodes, "NUMA nodes without CPUs");
    is_int(m->num_cores, r->cores, "cores");
    is_int(m->num_pus, r->pus, "hardware threads");
    is_int(nvidia, r->nvidia, "GPUs of NVIDIA");
    is_int(amd, r->amd, "GPUs of AMD");
    is_int(m->num_gpus, r->nvidia + r->amd, "no others");
    ok(packages[0] == r->gpu_packages[0] && packages[1] == r->gpu_packages[1],
       "in packages: %d and %d", packages[0], packages[1]);
    is_int(kinds[MACHINE_ETHERNET], r->ethernet, "Ethernet");
    is_int(kinds[MACHINE_INFINIBAND], r->infiniband, "InfiniBand");
    is_int(kinds[MACHINE_FABRIC], r->fabric, "other fabrics");
}

/* hwloc 1 wrote packages and caches under other names. */
static void same_as_xml(const struct real *r, const machine *m)
{
    char *text = text_of(r->file), piece[128];
    is_int(m->num_pus, times(text, "<object type=\"PU\""), "as many PUs as the XML has");
    is_int(m->num_cores, times(text, "<object type=\"Core\""), "as many cores");
    is_int(m->num_numas + m->memory_nodes, times(text, "<object type=\"NUMANode\""),
           "as many NUMA nodes");
    int l3s = times(text, "<object type=\"L3Cache\"");
    is_int(m->num_l3s, l3s > 0 ? l3s : times(text, "depth=\"3\" cache_linesize"),
           "as many L3 caches");
    int found = 0, uuids = 0;
    for (int i = 0; i < m->num_gpus; i++) {
        snprintf(piece, sizeof(piece), "pci_busid=\"%s\"", m->gpus[i].bus_id);
        found += times(text, piece);
        snprintf(piece, sizeof(piece), "value=\"%s\"", m->gpus[i].uuid);
        uuids += m->gpus[i].uuid[0] != '\0' && times(text, piece) > 0 ? 1 : 0;
    }
    is_int(found, m->num_gpus, "every GPU's bus id is in it once");
    is_int(uuids, r->uuids ? m->num_gpus : 0, "and its UUID where there are some");
    free(text);
}

/* Whether PUs are of one core each, in the core's package, node and cache. */
static bool cores_fit(const machine *m)
{
    cpu_set seen = {{0}};
    for (int i = 0; i < m->num_cores; i++) {
        const machine_core *core = &m->cores[i];
        for (int j = 0; j < core->num_pus; j++) {
            int pu = core->pus[j];
            if (cpu_set_has(&seen, pu) || core->package < 0 || core->numa < 0 ||
                !cpu_set_has(&m->packages[core->package].cpus, pu) ||
                !cpu_set_has(&m->numas[core->numa].cpus, pu) ||
                (core->l3 >= 0 && !cpu_set_has(&m->l3s[core->l3].cpus, pu)))
                return false;
            cpu_set_add(&seen, pu);
        }
    }
    return cpu_set_equal(&seen, &m->cpus);
}

static bool places_fit(const machine *m, const machine_place *place)
{
    if (place->numa >= 0 && !cpu_set_is_subset(&place->cpus, &m->numas[place->numa].cpus))
        return false;
    return !cpu_set_is_empty(&place->cpus) && cpu_set_is_subset(&place->cpus, &m->cpus) &&
           place->depth > 0 && place->path.count > 0 && place->package >= 0 &&
           cpu_set_is_subset(&place->cpus, &m->packages[place->package].cpus);
}

static void makes_sense(const machine *m)
{
    bool placed = true, sorted = true, symmetric = true;
    for (int i = 0; i < m->num_gpus; i++) {
        placed = placed && places_fit(m, &m->gpus[i].place);
        sorted = sorted && (i == 0 || strcmp(m->gpus[i - 1].bus_id, m->gpus[i].bus_id) < 0);
        ok(machine_find_gpu(m, m->gpus[i].bus_id) == i, "GPU %s is found", m->gpus[i].bus_id);
    }
    for (int i = 0; i < m->num_nics; i++)
        placed = placed && places_fit(m, &m->nics[i].place);
    for (int i = 0; i < m->num_numas; i++)
        for (int j = 0; j < m->num_numas; j++)
            symmetric = symmetric && machine_distance(m, i, j) == machine_distance(m, j, i) &&
                        (machine_distance(m, i, j) == 10) == (i == j);
    ok(cores_fit(m), "each hardware thread is of one core, which is where it says");
    ok(placed, "every device is near some CPUs");
    ok(sorted, "GPUs are sorted");
    ok(symmetric, "distances are 10 within a node alone, and the same both ways");
    ok(cpu_set_equal(&m->allowed, &m->binding) && !m->bound, "nobody is bound there");
}

/* What the README says of single machines, and the XML on a closer look. */
static void single_machines(void)
{
    machine *m = load("mpibind-epyc-corona");
    static const int numas[] = {1, 2, 5, 7};
    bool near = true;
    for (int i = 0; i < 4; i++)
        near = near && m->numas[m->gpus[i].place.numa].number == numas[i];
    ok(near, "corona's GPUs are on NUMA nodes 1, 2, 5 and 7");
    int ib = machine_find_nic(m, "mlx5_0");
    ok(ib >= 0 && m->nics[ib].place.numa == 3, "its InfiniBand is on 3");
    ok(machine_distance(m, 0, 1) == 16 && machine_distance(m, 0, 7) == 32, "its distances");
    ok(!m->gpus[0].usable && m->links == NULL, "NCCL can't use them");
    machine_free(m);
    m = load("mpibind-g4dnmetal");
    ok(m->nics[0].place.package == 1 && m->nics[1].place.package == 1 &&
           strcmp(m->nics[0].hca, "rdmap197s0") == 0 && m->nics[0].name[0] == '\0',
       "g4dn's two NICs are in package 1, EFA without an interface");
    is_str(m->gpus[0].model, "Tesla T4", "its GPUs' model");
    machine_free(m);
    m = load("mpibind-eas-tioga");
    int l3[8] = {0}, order[8];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            if (cpu_set_equal(&m->gpus[i].place.cpus, &m->l3s[j].cpus))
                l3[order[i] = j]++;
    bool each = true, sorted = true;
    for (int i = 0; i < 8; i++) {
        each = each && l3[i] == 1;
        sorted = sorted && (i == 0 || order[i - 1] < order[i]);
    }
    ok(each && !sorted, "tioga's GPUs have an L3 each, not in the order of their bus ids");
    machine_free(m);
    m = load("mpibind-coral-lassen");
    char text[64];
    cpu_set_write(&m->cpus, text, sizeof(text));
    is_str(text, "8-87,96-175", "lassen's CPUs have holes");
    int nic = machine_find_nic(m, "hsi2");
    ok(nic >= 0 && strcmp(m->nics[nic].hca, "mlx5_2") == 0 && machine_find_nic(m, "mlx5_2") == nic,
       "its hsi2 is mlx5_2");
    machine_free(m);
    m = load("hwloc-24em64t-2n6c2t-pci");
    cpu_set_write(&m->packages[1].cpus, text, sizeof(text));
    is_str(text, "1,3,5,7,9,11,13,15,17,19,21,23", "24em64t's packages are interleaved");
    machine_free(m);
}

static void links(void)
{
    machine *m = load("hwloc-power8gpudistances");
    /* NVLink joins the two GPUs of a package; 40000 is what the matrix says, 0 across. */
    ok(machine_link(m, 0, 1) == 40000 && machine_link(m, 1, 0) == 40000 &&
           machine_link(m, 2, 3) == 40000,
       "power8's GPUs are linked within a package");
    ok(machine_link(m, 0, 2) == 0 && machine_link(m, 1, 3) == 0, "and not across");
    machine_free(m);
    m = load("hwloc-nvidiaDGX2");
    bool all = true;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            all = all && machine_link(m, i, j) == (i == j ? 0 : 6 * 25000);
    ok(all, "each of DGX-2's has six links to switches, and comes over them to all others");
    machine_free(m);
    m = load("mpibind-g4dnmetal");
    ok(m->links == NULL && machine_link(m, 0, 1) == 0, "where there is no table nothing is known");
    machine_free(m);
}

int main(void)
{
    int gpus = 0;
    for (size_t i = 0; i < COUNT(reals); i++)
        gpus += reals[i].nvidia + reals[i].amd;
    plan((int)COUNT(reals) * 25 + gpus + 10 + 4);
    for (size_t i = 0; i < COUNT(reals); i++) {
        diag("%s", reals[i].file);
        machine *m = load(reals[i].file);
        counts(&reals[i], m);
        same_as_xml(&reals[i], m);
        makes_sense(m);
        machine_free(m);
    }
    single_machines();
    links();
    return done();
}
