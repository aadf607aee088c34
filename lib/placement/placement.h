/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which rank of a host gets which device and which cores. It is a function of what the ranks of
 * the host said (standing.h) and of what was wished for, and of nothing else: each rank computes
 * the whole table for itself and all come to the same, in whatever order the standings came.
 */
#ifndef MUSTER_LIB_PLACEMENT_H
#define MUSTER_LIB_PLACEMENT_H

#include "placement/standing.h"

typedef enum placement_policy {
    PLACEMENT_AUTO,     /* least distance of all ranks together; the rest spread evenly */
    PLACEMENT_COMPACT,  /* one NUMA node after the other, as few as go */
    PLACEMENT_SCATTER,  /* packages and NUMA nodes in turn */
    PLACEMENT_EXPLICIT, /* a list */
    PLACEMENT_NONE,     /* nobody is given anything */
} placement_policy;

/* What was asked for; the same on all ranks of the host. */
typedef struct placement_wish {
    const char *host; /* its name, for sentences */
    placement_policy policy;
    const char *list; /* for explicit: see place_list.h */
    bool share;       /* ranks that find no device free share one, evenly; else they have none */
} placement_wish;

/* How near a rank's cores are to its device. */
typedef enum placement_nearness {
    PLACEMENT_NO_DEVICE,
    PLACEMENT_UNKNOWN, /* nothing is known of the device's place, or all cores are alike */
    PLACEMENT_LOCAL,   /* some of the cores are on its NUMA node */
    PLACEMENT_SAME_PACKAGE,
    PLACEMENT_REMOTE,
} placement_nearness;

/* A device of the host, whichever ranks can use it. */
typedef struct placement_device {
    char uuid[80]; /* "" where no rank knows it */
    char bus_id[MACHINE_BUS_ID_SIZE];
    bool slice;
    int package; /* -1 not known, or several */
    int node;    /* the kernel's number; -1 likewise */
    int ranks;   /* how many have it */
    cpu_set cpus;
} placement_device;

/* What a rank gets. */
typedef struct placement_seat {
    int rank;
    int local_rank;
    int device;        /* its place among the devices; -1 none */
    int ordinal;       /* the device's, as this rank's process counts; -1 none */
    int package;       /* of its cores; -1 not known, or several */
    int node;          /* of its cores and memory, the kernel's number; -1 not known */
    int64_t cost;      /* of the device, as the rank computed it; 0 without one */
    bool cores_kept;   /* cpus is what it ran on: its launcher bound it, or nobody places it */
    bool cores_listed; /* cpus is what a list says */
    bool cores_shared; /* some of cpus are another rank's too */
    cpu_set cpus;      /* its own: all hardware threads of its cores that it may use; never empty */
    cpu_set node_cpus; /* what it may use of the NUMA nodes that cpus are on */
    cpu_set device_cpus; /* what it may use near its device; node_cpus without a device */
    placement_nearness nearness;
    char why[200]; /* in words: where the device and the cores are from */
} placement_seat;

typedef struct placement {
    int count;
    placement_seat *seats; /* in the order of ranks */
    int num_devices;
    placement_device *devices; /* in the order of bus ids, then UUIDs */
    char *shortage; /* a sentence where ranks have no device, or share one; "" where none does */
    char *remarks;  /* sentences on what else is not as one would like, "" for nothing */
} placement;

/* More ranks on a host than that are not placed: MUSTER_ERR_ARGUMENT. */
enum { PLACEMENT_MOST_RANKS = 4096, PLACEMENT_MOST_DEVICES = 1024 };

/*
 * Places the ranks of one host. Ranks are told apart by standing.rank, each there once. Whoever
 * was settled on a device keeps it. A list that can't be followed is MUSTER_ERR_ARGUMENT, with a
 * sentence that says at which entry and why. *made is freed by placement_free().
 */
muster_status placement_make(placement *made, const standing *ranks, int count,
                             const placement_wish *wish);
void placement_free(placement *p);

/* "auto", "compact", ...: MUSTER_ERR_ARGUMENT for no policy, naming the nearest. */
muster_status placement_policy_read(const char *text, placement_policy *policy);
const char *placement_policy_text(placement_policy policy);

/* "local", "same package", "remote", "anywhere" where nothing is known, "none" without a device. */
const char *placement_nearness_text(placement_nearness nearness);

#endif
