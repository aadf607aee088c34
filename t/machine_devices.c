/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Devices: which are GPUs and which are interfaces of what kind, where they are when their CPUs are
 * not there, and how their bus ids are written.
 */
#include "config.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char *read_file(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.xml", TOPOLOGIES, name);
    FILE *from = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (from == NULL || text == NULL)
        bail_out("can't read %s", path);
    *size = fread(text, 1, (1 << 20) - 1, from);
    fclose(from);
    return text;
}

/* One of a machine's eight GPUs, or its one Ethernet, made something else. */
static const struct {
    const char *type;
    int gpus, usable; /* of eight */
    const char *what;
} types[] = {
    {"0302 [10de:1eb8]", 8, 8, "as it is"},
    {"0300 [10de:1eb8]", 8, 8, "NVIDIA's with a display"},
    {"1200 [10de:1eb8]", 8, 8, "NVIDIA's that calls itself an accelerator"},
    {"0403 [10de:10f8]", 7, 7, "the audio of one"},
    {"0680 [10de:1ac2]", 7, 7, "an NVSwitch"},
    {"0c03 [10de:1ad8]", 7, 7, "the USB of one"},
    {"0380 [1002:738c]", 8, 7, "AMD's"},
    {"1200 [1002:74a1]", 8, 7, "AMD's that calls itself an accelerator"},
    {"0300 [1002:66a1]", 8, 7, "AMD's with a display"},
    {"0300 [1002:515e]", 7, 7, "ATI's ES1000"},
    {"0300 [1002:4752]", 7, 7, "ATI's Rage XL"},
    {"0300 [1a03:2000]", 7, 7, "ASPEED's display"},
    {"0300 [102b:0522]", 7, 7, "Matrox's display"},
    {"0300 [1234:1111]", 7, 7, "a virtual machine's display"},
    {"0108 [144d:a808]", 7, 7, "a disk"},
};

/* The text with one piece of it replaced by another of the same length, and the machine in it. */
static machine *altered(const char *piece, const char *with)
{
    size_t size;
    char *text = read_file("mpibind-g4dnmetal", &size), *at = strstr(text, piece);
    machine *m = NULL;
    if (at == NULL || strlen(piece) != strlen(with))
        bail_out("no %s in it", piece);
    memcpy(at, with, strlen(with));
    if (machine_load_text(text, size, &m) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    free(text);
    return m;
}

static void which_are_gpus(void)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        int usable = 0;
        machine *m = altered("0302 [10de:1eb8]", types[i].type);
        for (int j = 0; j < m->num_gpus; j++)
            usable += m->gpus[j].usable ? 1 : 0;
        is_int(m->num_gpus, types[i].gpus, "%s", types[i].what);
        is_int(usable, types[i].usable, "of use for NCCL");
        machine_free(m);
    }
}

static const struct {
    const char *type;
    machine_nic_kind kind;
} kinds[] = {
    {"0200 [1d0f:ec20]", MACHINE_ETHERNET},   {"0280 [14e4:43a0]", MACHINE_ETHERNET},
    {"0207 [15b3:101b]", MACHINE_INFINIBAND}, {"0208 [8086:24f0]", MACHINE_FABRIC},
    {"0200 [17db:0501]", MACHINE_FABRIC},
};

static void kinds_of_nics(void)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        machine *m = altered("0200 [1d0f:ec20]", kinds[i].type);
        int nic = machine_find_nic(m, "eth0");
        ok(nic >= 0 && m->nics[nic].kind == kinds[i].kind, "an interface of %s", kinds[i].type);
        machine_free(m);
    }
    machine *m = altered("0200 [1d0f:ec20]", "0200 [1d0f:ec20]");
    ok(machine_find_nic(m, "") == -1 && machine_find_nic(m, NULL) == -1, "no name, no interface");
    ok(m->nics[1].bus_speed > 15000 && m->nics[1].speed == 0, "the speed of its bus is known");
    machine_free(m);
}

/* GPUs of a package whose CPUs are taken away are still near to those. */
static void devices_without_cpus(void)
{
    size_t size;
    char path[512], text[64];
    hwloc_topology_t topology;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(set, "0-23,48-71");
    snprintf(path, sizeof(path), "%s/mpibind-g4dnmetal.xml", TOPOLOGIES);
    int length;
    char *xml;
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_set_xml(topology, path) != 0 ||
        hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) != 0 ||
        hwloc_topology_load(topology) != 0 ||
        hwloc_topology_restrict(topology, set, HWLOC_RESTRICT_FLAG_ADAPT_IO) != 0 ||
        hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0) != 0)
        bail_out("can't restrict %s", path);
    size = (size_t)length;
    machine *m = NULL;
    is_int(machine_load_text(xml, size, &m), MUSTER_OK, "one package of two");
    int gpu = machine_find_gpu(m, "0000:e7:00.0");
    is_int(m->num_packages, 1, "one package is left");
    cpu_set_write(&m->gpus[0].place.cpus, text, sizeof(text));
    is_str(text, "0-23,48-71", "its GPUs are where they were");
    ok(gpu >= 0 && (cpu_set_is_empty(&m->gpus[gpu].place.cpus) ||
                    !cpu_set_meets(&m->gpus[gpu].place.cpus, &m->cpus)),
       "those of the other package are near to none of its CPUs");
    ok(gpu >= 0 && m->gpus[gpu].place.package == -1 && m->gpus[gpu].place.numa == -1,
       "nor in any package or node");
    machine_free(m);
    hwloc_free_xmlbuffer(topology, xml);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(set);
}

static const struct {
    const char *text;
    const char *bus_id; /* NULL: it is none */
} ids[] = {
    {"0000:3b:00.0", "0000:3b:00.0"},
    {"3B:00.0", "0000:3b:00.0"},
    {"00000000:3B:00.0", "0000:3b:00.0"},
    {"00010000:3b:1f.7", "10000:3b:1f.7"},
    {"35:03:00.0", "0035:03:00.0"},
    {"", NULL},
    {"3b", NULL},
    {"3b:00", NULL},
    {"3b:00.", NULL},
    {"3b:00.8", NULL},
    {"3b:20.0", NULL},
    {"3b:00.0 ", NULL},
    {"03b:00.0", NULL},
    {":3b:00.0", NULL},
    {"g0:00.0", NULL},
    {"000000000:3b:00.0", NULL},
    {"0:0:3b:00.0", NULL},
    {NULL, NULL},
};

static void bus_ids(void)
{
    for (size_t i = 0; i < COUNT(ids); i++) {
        char bus_id[MACHINE_BUS_ID_SIZE] = "as before";
        bool read = machine_bus_id(ids[i].text, bus_id);
        is_str(bus_id, ids[i].bus_id == NULL ? "as before" : ids[i].bus_id, "bus id %s",
               ids[i].text == NULL ? "NULL" : ids[i].text);
        ok(read == (ids[i].bus_id != NULL), "is one or none");
    }
}

int main(void)
{
    plan((int)(COUNT(types) * 2 + COUNT(kinds) + 2 + 5 + COUNT(ids) * 2));
    which_are_gpus();
    kinds_of_nics();
    devices_without_cpus();
    bus_ids();
    return done();
}
