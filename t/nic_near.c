/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which network interface is nearest, on real machines. The expected ones are read off the trees
 * that lstopo draws of them.
 */
#include "machine/nic_near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static machine *load(const char *file)
{
    char path[512];
    machine *m = NULL;
    snprintf(path, sizeof(path), "%s/%s.xml", TOPOLOGIES, file);
    if (machine_load_file(path, &m) != MUSTER_OK)
        bail_out("%s: %s", file, muster_last_error());
    return m;
}

/* Splits "a,b"; returns how many there are. "*" is any NIC. */
static int split(const char *list, char *copy, size_t size, const char **names)
{
    int count = 0;
    snprintf(copy, size, "%s", list);
    for (char *at = strtok(copy, ","); at != NULL; at = strtok(NULL, ","))
        names[count++] = at;
    return count;
}

static const struct {
    const char *file;
    const char *gpu;
    const char *names;
    const char *expected; /* interface, or HCA without one; "" none */
    nic_nearness nearness;
} near_gpus[] = {
    /* pascal: both GPUs and the HCA are behind one switch, Ethernet is not */
    {"mpibind-cts1-pascal", "0000:04:00.0", "*", "hsi0", NIC_SAME_SWITCH},
    {"mpibind-cts1-pascal", "0000:04:00.0", "enp12s0f1,hsi0", "hsi0", NIC_SAME_SWITCH},
    {"mpibind-cts1-pascal", "0000:04:00.0", "enp12s0f1,enp12s0f0", "enp12s0f1",
     NIC_SAME_HOST_BRIDGE},
    /* lassen: every device has a host bridge of its own; the package is the NUMA node */
    {"mpibind-coral-lassen", "0004:04:00.0", "*", "hsi0", NIC_SAME_NUMA},
    {"mpibind-coral-lassen", "0035:03:00.0", "*", "hsi2", NIC_SAME_NUMA},
    {"mpibind-coral-lassen", "0035:03:00.0", "hsi0,hsi3", "hsi3", NIC_SAME_NUMA},
    {"mpibind-coral-lassen", "0035:03:00.0", "mlx5_0,mlx5_3", "hsi3", NIC_SAME_NUMA},
    {"mpibind-coral-lassen", "0035:03:00.0", "hsi1,hsi0", "hsi1", NIC_ELSEWHERE},
    {"mpibind-coral-lassen", "0035:03:00.0", "enP5p1s0f0", "enP5p1s0f0", NIC_ELSEWHERE},
    /* tioga: a Slingshot behind the host bridge of every other GPU, its neighbour on the node */
    {"mpibind-eas-tioga", "0000:c6:00.0", "*", "hsi0", NIC_SAME_HOST_BRIDGE},
    {"mpibind-eas-tioga", "0000:c1:00.0", "*", "hsi0", NIC_SAME_NUMA},
    {"mpibind-eas-tioga", "0000:d1:00.0", "hsi0,hsi1,hsi3", "hsi0", NIC_SAME_PACKAGE},
    /* g4dn: both NICs are in package 1, below host bridges without GPUs */
    {"mpibind-g4dnmetal", "0000:18:00.0", "*", "eth0", NIC_ELSEWHERE},
    {"mpibind-g4dnmetal", "0000:e8:00.0", "*", "eth0", NIC_SAME_NUMA},
    {"mpibind-g4dnmetal", "0000:e8:00.0", "rdmap197s0", "rdmap197s0", NIC_SAME_NUMA},
    /* corona: GPU and HCA of one package on different nodes */
    {"mpibind-epyc-corona", "0000:13:00.0", "hsi0", "hsi0", NIC_SAME_PACKAGE},
    {"mpibind-epyc-corona", "0000:13:00.0", "enp3s0f0,hsi0", "enp3s0f0", NIC_SAME_PACKAGE},
    {"mpibind-epyc-corona", "0000:53:00.0", "hsi0", "hsi0", NIC_ELSEWHERE},
    /* one HCA with two interfaces; names that the machine does not have */
    {"hwloc-24em64t-2n6c2t-pci", "0000:06:00.0", "mlx4_0", "eth2", NIC_SAME_HOST_BRIDGE},
    {"hwloc-24em64t-2n6c2t-pci", "0000:06:00.0", "bond0,lo,ib0,docker0", "ib0",
     NIC_SAME_HOST_BRIDGE},
    {"hwloc-24em64t-2n6c2t-pci", "0000:14:00.0", "ib0", "ib0", NIC_ELSEWHERE},
    {"hwloc-24em64t-2n6c2t-pci", "0000:14:00.0", "bond0,lo", "", NIC_UNKNOWN},
    {"hwloc-24em64t-2n6c2t-pci", "0000:14:00.0", "", "", NIC_UNKNOWN},
    {"hwloc-nvidiaDGX2", "0000:34:00.0", "*", "", NIC_UNKNOWN},
};

static const char *name_of(const machine *m, nic_choice choice)
{
    if (choice.nic < 0)
        return "";
    const machine_nic *nic = &m->nics[choice.nic];
    return nic->name[0] != '\0' ? nic->name : nic->hca;
}

static void gpus(void)
{
    for (size_t i = 0; i < COUNT(near_gpus); i++) {
        char copy[128];
        const char *names[8];
        machine *m = load(near_gpus[i].file);
        int gpu = machine_find_gpu(m, near_gpus[i].gpu);
        if (gpu < 0)
            bail_out("no GPU %s", near_gpus[i].gpu);
        bool any = strcmp(near_gpus[i].names, "*") == 0;
        int count = split(near_gpus[i].names, copy, sizeof(copy), names);
        nic_choice choice = nic_near_gpu(m, gpu, any ? NULL : names, any ? 0 : count);
        is_str(name_of(m, choice), near_gpus[i].expected, "%s %s of %s", near_gpus[i].file,
               near_gpus[i].gpu, near_gpus[i].names);
        is_str(nic_nearness_text(choice.nearness), nic_nearness_text(near_gpus[i].nearness),
               "how near");
        machine_free(m);
    }
}

static const struct {
    const char *file;
    const char *cpus;
    const char *names;
    const char *expected;
    nic_nearness nearness;
} near_cpus[] = {
    {"mpibind-coral-lassen", "8-11", "hsi3,hsi1,hsi0", "hsi1", NIC_SAME_NUMA},
    {"mpibind-coral-lassen", "96", "hsi0,hsi3", "hsi3", NIC_SAME_NUMA},
    {"mpibind-coral-lassen", "8-87,96-175", "hsi3,hsi0", "hsi3", NIC_SAME_NUMA},
    {"mpibind-epyc-corona", "0-5", "hsi0", "hsi0", NIC_SAME_PACKAGE},
    {"mpibind-epyc-corona", "18", "enp3s0f0,hsi0", "hsi0", NIC_SAME_NUMA},
    {"mpibind-epyc-corona", "24-29", "hsi0", "hsi0", NIC_ELSEWHERE},
    {"mpibind-epyc-corona", "", "hsi0", "hsi0", NIC_UNKNOWN},
    {"mpibind-cts1-quartz-smt1", "18", "*", "ens786f0", NIC_SAME_NUMA},
    {"mpibind-cts1-quartz-smt1", "18", "hfi1_0", "hsi0", NIC_SAME_NUMA},
    {"mpibind-g4dnmetal", "24", "*", "eth0", NIC_SAME_NUMA},
    {"mpibind-g4dnmetal", "24", "wlan0", "", NIC_UNKNOWN},
};

static void cpus(void)
{
    for (size_t i = 0; i < COUNT(near_cpus); i++) {
        char copy[128];
        const char *names[8];
        cpu_set set;
        machine *m = load(near_cpus[i].file);
        if (cpu_set_parse(&set, near_cpus[i].cpus) != MUSTER_OK)
            bail_out("%s", muster_last_error());
        bool any = strcmp(near_cpus[i].names, "*") == 0;
        int count = split(near_cpus[i].names, copy, sizeof(copy), names);
        nic_choice choice = nic_near_cpus(m, &set, any ? NULL : names, any ? 0 : count);
        is_str(name_of(m, choice), near_cpus[i].expected, "%s CPUs %s of %s", near_cpus[i].file,
               near_cpus[i].cpus, near_cpus[i].names);
        is_str(nic_nearness_text(choice.nearness), nic_nearness_text(near_cpus[i].nearness),
               "how near");
        machine_free(m);
    }
}

/* The best one is never farther than any other: on every machine, for every GPU. */
static void best_of_all(void)
{
    static const char *const files[] = {"mpibind-coral-lassen", "mpibind-cts1-pascal",
                                        "mpibind-eas-tioga",    "mpibind-epyc-corona",
                                        "mpibind-g4dnmetal",    "hwloc-24em64t-2n6c2t-pci"};
    for (size_t i = 0; i < COUNT(files); i++) {
        machine *m = load(files[i]);
        bool best = true;
        for (int gpu = 0; gpu < m->num_gpus; gpu++) {
            nic_choice choice = nic_near_gpu(m, gpu, NULL, 0);
            for (int nic = 0; nic < m->num_nics; nic++)
                best = best && choice.nearness <= nic_nearness_to_gpu(m, nic, gpu);
        }
        ok(best, "%s: none is nearer than the one chosen", files[i]);
        machine_free(m);
    }
}

int main(void)
{
    plan((int)(COUNT(near_gpus) * 2 + COUNT(near_cpus) * 2 + 6));
    gpus();
    cpus();
    best_of_all();
    return done();
}
