/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Network interfaces as the kernel says where they are: of made-up devices, and of this machine,
 * where hwloc must say the same.
 */
#include "config.h"

#include "machine/machine_nics_kernel.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char root[PATH_MAX];

static const char *in_root(const char *format, ...)
{
    static char path[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    int used = snprintf(path, sizeof(path), "%s/", root);
    vsnprintf(path + used, sizeof(path) - (size_t)used, format, arguments);
    va_end(arguments);
    return path;
}

/* All folders on the way. */
static void make_folder(const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s", in_root("%s", name));
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
    mkdir(path, 0777);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_root("%s", name), "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        bail_out("can't write %s", name);
}

/* class/NAME/device leads to the folder of a device. */
static void make_link(const char *class, const char *name, const char *device)
{
    char path[512], target[PATH_MAX + 512];
    snprintf(path, sizeof(path), "class/%s/%s", class, name);
    make_folder(path);
    snprintf(target, sizeof(target), "%s/devices/%s", root, device);
    snprintf(path, sizeof(path), "class/%s/%s/device", class, name);
    if (symlink(target, in_root("%s", path)) != 0)
        bail_out("no link");
}

#define FAR "pci0000:80/0000:80:01.0/0000:81:00.0"

/*
 * eth0 behind virtio near all CPUs; eth1 without a list of CPUs; ib0 and ib1 of one HCA on node 1;
 * mlx5_9, an HCA alone, in a domain of its own; lo and docker0, which are no devices.
 */
static void make_devices(void)
{
    char template[] = "/tmp/muster-nics-XXXXXX";
    if (mkdtemp(template) == NULL || realpath(template, root) == NULL)
        bail_out("no folder");
    make_folder("devices/pci0000:00/0000:00:03.0/virtio2/net/eth0");
    make_folder("devices/pci0000:00/0000:00:03.0/net");
    write_file("devices/pci0000:00/0000:00:03.0/local_cpulist", "0-7\n");
    make_link("net", "eth0", "pci0000:00/0000:00:03.0/virtio2");
    make_folder("devices/pci0000:00/0000:00:04.0/net/eth1");
    make_link("net", "eth1", "pci0000:00/0000:00:04.0");
    make_folder("devices/" FAR "/net/ib0");
    make_folder("devices/" FAR "/net/ib1");
    make_folder("devices/" FAR "/infiniband/mlx5_1");
    make_folder("devices/" FAR "/infiniband/mlx5_0");
    write_file("devices/" FAR "/local_cpulist", "4-7\n");
    make_link("net", "ib1", FAR);
    make_link("net", "ib0", FAR);
    make_link("infiniband", "mlx5_0", FAR);
    make_folder("devices/pci10000:00/10000:01:00.0/infiniband/mlx5_9");
    write_file("devices/pci10000:00/10000:01:00.0/local_cpulist", "0-3\n");
    make_link("infiniband", "mlx5_9", "pci10000:00/10000:01:00.0");
    make_folder("devices/virtual/net/docker0");
    make_folder("class/net/lo");
    make_link("net", "docker0", "virtual/net/docker0");
}

static void remove_devices(void)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    ok(system(command) == 0, "the devices are gone");
}

/* Two packages of a node each. */
static machine *two_nodes(void)
{
    machine *m = calloc(1, sizeof(*m));
    m->num_packages = m->num_numas = 2;
    m->packages = calloc(2, sizeof(*m->packages));
    m->numas = calloc(2, sizeof(*m->numas));
    for (int i = 0; i < 2; i++) {
        cpu_set_add_range(&m->packages[i].cpus, 4 * i, 4 * i + 3);
        m->numas[i].cpus = m->packages[i].cpus;
    }
    cpu_set_add_range(&m->cpus, 0, 7);
    return m;
}

static const struct {
    const char *name, *hca, *bus_id;
    int numa;
} expected[] = {
    {"eth0", "", "0000:00:03.0", -1},     {"eth1", "", "0000:00:04.0", -1},
    {"ib0", "mlx5_0", "0000:81:00.0", 1}, {"ib1", "mlx5_0", "0000:81:00.0", 1},
    {"", "mlx5_9", "10000:01:00.0", 0},
};
enum { EXPECTED = sizeof(expected) / sizeof(*expected) };

static void made_up(void)
{
    machine *m = two_nodes();
    make_devices();
    is_int(machine_read_kernel_nics(root, m), MUSTER_OK, "made-up devices are read");
    is_int(m->num_nics, EXPECTED, "all that are on the bus");
    for (int i = 0; i < EXPECTED; i++) {
        const machine_nic none = {.place.numa = -2}, *nic = i < m->num_nics ? &m->nics[i] : &none;
        ok(strcmp(nic->name, expected[i].name) == 0 && strcmp(nic->hca, expected[i].hca) == 0 &&
               strcmp(nic->bus_id, expected[i].bus_id) == 0,
           "'%s' of '%s' at %s", nic->name, nic->hca, nic->bus_id);
        ok(nic->place.numa == expected[i].numa && nic->place.package == expected[i].numa &&
               cpu_set_is_empty(&nic->place.cpus) == (expected[i].numa < 0),
           "on node %d", nic->place.numa);
    }
    machine_free(m);
    remove_devices();
    m = two_nodes();
    is_int(machine_read_kernel_nics(root, m), MUSTER_OK, "where there is nothing");
    is_int(m->num_nics, 0, "nothing is found");
    machine_free(m);
}

/* What hwloc sees as well is the same; in a container there may be less in /sys. */
static void this_machine(void)
{
    machine *whole = NULL, *cpus = NULL;
    is_int(machine_load(&whole), MUSTER_OK, "this machine with its devices");
    is_int(machine_load_cpus(&cpus), MUSTER_OK, "and without");
    if (!whole->whole || !whole->this_system) {
        skip(3, "hwloc does not see this machine");
    } else {
        ok(whole->devices && !cpus->devices && cpus->num_gpus == 0, "each is what it is");
        ok(cpu_set_equal(&whole->cpus, &cpus->cpus) && whole->num_cores == cpus->num_cores &&
               whole->num_numas == cpus->num_numas && whole->num_l3s == cpus->num_l3s,
           "CPUs, nodes and caches are the same");
        bool same = true;
        for (int i = 0; i < cpus->num_nics; i++) {
            int at = machine_find_nic(whole, cpus->nics[i].name);
            if (at < 0)
                continue;
            same = same && strcmp(whole->nics[at].bus_id, cpus->nics[i].bus_id) == 0 &&
                   whole->nics[at].place.numa == cpus->nics[i].place.numa;
        }
        ok(same, "and so are %d interfaces", cpus->num_nics);
    }
    machine_free(whole);
    machine_free(cpus);
}

int main(void)
{
    plan(2 + 2 * EXPECTED + 3 + 5);
    unsetenv("MUSTER_TOPOLOGY_FILE");
    unsetenv("HWLOC_XMLFILE");
    made_up();
    this_machine();
    return done();
}
