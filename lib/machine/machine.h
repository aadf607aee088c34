/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A machine as far as it matters where ranks go: a plain model that hwloc fills and that anyone
 * reads without hwloc. It is of the whole machine; allowed says which of its CPUs this process's
 * cgroup leaves to it, and binding to which ones it is bound.
 *
 * Where one thing names another it does so by its place in the machine's array, and -1 is none.
 */
#ifndef MUSTER_LIB_MACHINE_H
#define MUSTER_LIB_MACHINE_H

#include "machine/cpu_set.h"

/* "0000:3b:00.0" with up to eight digits of domain, and its end. */
enum { MACHINE_BUS_ID_SIZE = 20 };

/* Bridges between a device and its CPUs, the host bridge first, each with a number of its own. */
enum { MACHINE_PATH_LIMIT = 16 };
typedef struct machine_path {
    int count;
    int bridges[MACHINE_PATH_LIMIT];
} machine_path;

typedef struct machine_package {
    int number; /* the kernel's */
    cpu_set cpus;
} machine_package;

/* A NUMA node that has CPUs; several may have the same (memory of two kinds). */
typedef struct machine_numa {
    int number; /* the kernel's */
    int package;
    unsigned long long memory; /* bytes; 0: not known */
    cpu_set cpus;
} machine_numa;

/* Cores that share a last cache. */
typedef struct machine_l3 {
    int package;
    int numa;
    cpu_set cpus;
} machine_l3;

/* pus[0..num_pus) are its hardware threads' CPU numbers, lowest first. */
typedef struct machine_core {
    int package;
    int numa;
    int l3;
    int num_pus;
    const int *pus;
} machine_core;

/* Where a device is: the CPUs near to it. */
typedef struct machine_place {
    cpu_set cpus; /* empty: nothing is known, or all are equally near */
    int depth;    /* in the tree of the machine: larger is closer to fewer CPUs; 0: not known */
    int package;  /* that has all of cpus */
    int numa;     /* that has all of cpus */
    machine_path path;
} machine_place;

/* Sorted by bus id. */
typedef struct machine_gpu {
    char bus_id[MACHINE_BUS_ID_SIZE];
    unsigned vendor; /* PCI ids */
    unsigned device;
    bool usable;    /* by NCCL: it is NVIDIA's */
    char model[64]; /* "" where not known */
    char uuid[64];  /* "GPU-..."; "" where not known */
    machine_place place;
} machine_gpu;

typedef enum machine_nic_kind {
    MACHINE_ETHERNET,
    MACHINE_INFINIBAND,
    MACHINE_FABRIC, /* Omni-Path, Slingshot, EFA */
} machine_nic_kind;

/* A network interface, or an HCA that has none. Sorted by bus id, then as found. */
typedef struct machine_nic {
    char name[32]; /* "eth0"; "" for an HCA without an interface */
    char hca[64];  /* "mlx5_0"; "" none */
    char bus_id[MACHINE_BUS_ID_SIZE];
    machine_nic_kind kind;
    int speed;     /* Mbit/s, as the kernel says of this machine's; 0: not known */
    int bus_speed; /* MB/s of its PCI link; 0: not known */
    machine_place place;
} machine_nic;

typedef struct machine {
    char seen_by[192]; /* who saw it, or why nobody did: "hwloc 2.9", "hwloc 2.9 in FILE" */
    bool this_system;  /* false: of a file or a text */
    bool whole;        /* false: seen without hwloc; only allowed and binding are known */

    int num_packages;
    machine_package *packages;
    int num_numas;
    machine_numa *numas;
    int memory_nodes; /* NUMA nodes without CPUs, that are not among numas */
    int num_l3s;
    machine_l3 *l3s;
    int num_cores;
    machine_core *cores;
    int num_pus;
    int *pus; /* where the cores' pus lie */

    cpu_set cpus;    /* all there are */
    cpu_set allowed; /* that the cgroup leaves to this process, never empty */
    cpu_set binding; /* that this process is bound to, part of allowed and never empty */
    bool bound;      /* binding is less than allowed */

    bool devices; /* false: there is more to learn of GPUs and NICs */
    int num_gpus; /* usable or not; displays are none */
    machine_gpu *gpus;
    int num_nics;
    machine_nic *nics;

    int *distances; /* num_numas times num_numas: 10 within a node, more between nodes */
    int *links;     /* num_gpus times num_gpus, MB/s between GPUs, over switches too; NULL: not
                       known */
} machine;

/*
 * This machine; or the one in the XML file that MUSTER_TOPOLOGY_FILE names, or else HWLOC_XMLFILE,
 * for tests. Where hwloc can't see this machine, or muster was built without it, the CPUs allowed
 * are known all the same and seen_by says why no more is. *made is freed by machine_free().
 */
muster_status machine_load(machine **made);

/* The same for who has no GPU to give: it takes a tenth of the time. Of this machine GPUs are not
 * looked for, and of NICs only where they are. */
muster_status machine_load_cpus(machine **made);

/* The machine in an XML file of hwloc, or in a text of such a file. No process of this machine is
 * bound there. MUSTER_ERR_NOT_FOUND where there is no file, MUSTER_ERR_ARGUMENT where it holds no
 * machine, MUSTER_ERR_UNAVAILABLE without hwloc. */
muster_status machine_load_file(const char *path, machine **made);
muster_status machine_load_text(const char *xml, size_t size, machine **made);

/* This machine as it is seen without hwloc; why goes to seen_by. */
muster_status machine_load_plain(const char *why, machine **made);

void machine_free(machine *m);

/* Says that this process is bound to these CPUs; those not allowed are left out. False, and
 * nothing is changed, where none is left. */
bool machine_bind(machine *m, const cpu_set *cpus);

/* Between two of numas, by their place. */
int machine_distance(const machine *m, int numa, int other);

/* MB/s between two of gpus, by their place; 0: no link, or not known. */
int machine_link(const machine *m, int gpu, int other);

/* The place of what all of these CPUs are in, -1 where they are in none or in several. */
int machine_numa_of(const machine *m, const cpu_set *cpus);
int machine_package_of(const machine *m, const cpu_set *cpus);

/* The GPU of a bus id in any way to write one, the NIC of an interface's or an HCA's name. */
int machine_find_gpu(const machine *m, const char *bus_id);
int machine_find_nic(const machine *m, const char *name);

/* "0000:3b:00.0" from "3B:00.0", "00000000:3B:00.0" or "0000:3b:00.0"; false for what is none. */
bool machine_bus_id(const char *text, char bus_id[MACHINE_BUS_ID_SIZE]);

#endif
