/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a rank stands before ranks are placed: its CPUs, the cores of its machine, the devices it
 * could take and how far each is. Each rank writes its own as text; all ranks of a host read all
 * of them and place by them alone, so they come to the same whatever each could see for itself.
 */
#ifndef MUSTER_LIB_STANDING_H
#define MUSTER_LIB_STANDING_H

#include "machine/machine.h"

enum { STANDING_MOST_DEVICES = 256, STANDING_MOST_RUNS = 1024, STANDING_TEXT_LIMIT = 1 << 18 };

/* A device that the rank's process can use. It has a UUID or a bus id, or both. */
typedef struct standing_device {
    char uuid[80]; /* "GPU-...", "MIG-..."; "" not known. It tells slices apart */
    char bus_id[MACHINE_BUS_ID_SIZE]; /* "" not known */
    int ordinal;                      /* as the rank's process counts */
    bool slice;                       /* a part of a device */
    int64_t cost;                     /* of the rank taking it: see distance.h */
    int package;                      /* that it is at; -1 not known, or several */
    int node;                         /* the kernel's number of its NUMA node; -1 likewise */
    cpu_set cpus;                     /* near to it; empty: all are alike, or nothing is known */
} standing_device;

/* count cores of one package and NUMA node: the first has the CPUs first, each further one those
 * by step above the one before ("0,48", 24 times by 1; "8-11", 20 times by 4). */
typedef struct standing_run {
    int package; /* -1: not known */
    int node;    /* the kernel's number; -1: not known */
    int count;
    int step;
    cpu_set first;
} standing_run;

/* What settled a rank's device beforehand. */
typedef enum standing_settled {
    STANDING_OPEN,    /* nothing did */
    STANDING_BY_USER, /* an option */
    STANDING_IN_USE,  /* the process makes use of it already */
} standing_settled;

typedef struct standing {
    int rank;        /* in the group; set by who has the list of ranks, not written in the text */
    int local_rank;  /* likewise: its turn on the host, for a list with an entry for each */
    cpu_set cpus;    /* that it runs on, never empty */
    cpu_set allowed; /* that its cgroup leaves to it, cpus among them */
    bool bound;      /* its launcher chose cpus */
    int memory_node; /* that its memory was bound to beforehand; -1 none */
    standing_settled settled;
    int settled_ordinal; /* the device's; only where settled says so */
    size_t num_runs;
    standing_run *runs; /* all cores of the machine */
    size_t num_devices;
    standing_device *devices;
} standing;

/* Of this process on the machine: its CPUs and all cores. Begins with nothing: no device, none
 * settled. rank and local_rank are -1. */
muster_status standing_begin(standing *made, const machine *m);

/* Adds a device of which the caller knows uuid, bus_id, ordinal and slice; where it is and its cost
 * are looked up in the machine. Call it once all of the standing's CPUs are settled. */
muster_status standing_add_device(standing *s, const machine *m, const standing_device *device);

/* Frees what is in it; it is empty then. */
void standing_clear(standing *s);

/* One line of words with spaces between them, no tab or line end, for free(). */
muster_status standing_write(const standing *s, char **text);

/* Reads one; the text comes from another rank and is checked, never trusted. Words that are not
 * known are passed over. MUSTER_ERR_PROTOCOL with a sentence that quotes what is wrong. */
muster_status standing_read(standing *s, muster_blob text);

#endif
