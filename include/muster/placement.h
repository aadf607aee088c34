/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where ranks are: which GPU, which cores and which network interface each has.
 *
 * All ranks of a host publish where they stand when a world is made, and each computes the same
 * table for all of them: which rank gets which GPU, so that all together are as near to their cores
 * as can be and no two have the same while one is free; and which cores, spread over the machine
 * where nobody has bound the ranks. A binding that a launcher made is kept, and so is a GPU that
 * the option <backend>.device names or that the process makes use of already. Groups made of the
 * world have its placement. Options, see muster/options.h, the same on all ranks of a host:
 *
 *     placement=auto|compact|scatter|explicit|none
 *     placement_list=0@0-7;1@8-15     the list for explicit, which it implies
 *     bind=none|core|numa|device
 *
 * auto gives each rank the GPU that is nearest to its cores, all ranks together; compact fills one
 * NUMA node after the other, scatter takes them in turn. A list has an entry for each local rank: a
 * device by its ordinal, UUID or bus id, "@" and CPUs; either may be left out. With none nobody is
 * given anything, and a rank has a GPU only where it has no choice; the machine is not looked at.
 *
 * bind is "none" unless it is set: then no thread is touched. Else the thread that makes the world
 * is bound when the world is made, and threads that it starts later inherit that; threads that were
 * there before, be they the program's or another library's, are left alone. It stays bound when the
 * group is freed. "core" binds it to the rank's own cores, "numa" to all CPUs of their NUMA node
 * that it may use, "device" to all those near its GPU, or as numa without one. Memory that it
 * touches first then comes from that NUMA node as long as there is some. The threads that muster
 * starts are put near the rank's GPU or cores: on cores that no rank has, else on the rank's own
 * ones but the first, else on others near by; only where there is one core alone do they share it.
 * A rank that its launcher bound is left as it is.
 *
 * MUSTER_TOPOLOGY_FILE names a file of hwloc (lstopo FILE.xml) to be used as the machine's, for
 * tests; nothing is bound then.
 */
#ifndef MUSTER_PLACEMENT_H
#define MUSTER_PLACEMENT_H

#include <muster/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where one rank is. CPUs are lists as the kernel writes them, "0-3,8-11". Strings are "" where
 * there is no such thing, and never NULL. */
typedef struct muster_placement {
    size_t struct_size;
    int rank;
    int local_rank; /* among the ranks of its host */
    const char *host;
    int device; /* its GPU as its process counts them; -1 none */
    const char *device_uuid;
    const char *device_bus_id;
    const char *device_name;
    const char *distance;  /* of its cores to the GPU: "local", "same package", "remote", "anywhere"
                              where nothing is known, "none" without one */
    int package;           /* of its cores; -1 several, or not known */
    int numa_node;         /* of its cores, as the kernel counts them; -1 likewise */
    const char *cpus;      /* of its own cores */
    const char *numa_cpus; /* what it may use of the NUMA nodes that they are on */
    const char *near_cpus; /* what it may use near its GPU; without one numa_cpus */
    bool kept;             /* a launcher bound it, or nobody places it: bind changes nothing */
    bool shared;           /* some of its cores are another rank's too */
    bool elsewhere;        /* on the machine of a file: bind changes nothing */
    const char *nic;      /* the network interface that is nearest of those that reach the others */
    const char *hca;      /* the nearest InfiniBand or fabric adapter, "mlx5_0" */
    const char *nic_why;  /* how near they are, or what else chose them */
    const char *why;      /* where the GPU and the cores are from */
    const char *shortage; /* why it has no GPU, in a sentence on its host */
    int first_rank;       /* the lowest of its host, which tells hosts of one name apart */
} muster_placement;
#define MUSTER_PLACEMENT_INIT                                                                      \
    {                                                                                              \
        .struct_size = sizeof(muster_placement)                                                    \
    }

/* Where a rank of the group is, into *placement, which begins as MUSTER_PLACEMENT_INIT; strings
 * live as long as the group. Any rank can be asked for, on any rank: nobody is asked. */
MUSTER_API muster_status muster_group_placement(const muster_group *group, int rank,
                                                muster_placement *placement);

/*
 * Binds the calling thread, and its memory, as option bind says: "none", "core", "numa", "device".
 * For programs that start threads of their own, and for launchers. MUSTER_ERR_ARGUMENT for another
 * word, MUSTER_ERR_SYSTEM where the kernel refuses the CPUs. A placement that is kept or elsewhere
 * changes nothing.
 */
MUSTER_API muster_status muster_bind_thread(const muster_placement *placement, const char *bind);

/* What to plan for. */
typedef struct muster_plan_args {
    size_t struct_size;
    const char
        *topology; /* a file of hwloc; NULL: this machine, with the GPUs that CUDA would show */
    int num_ranks; /* all on this host, bound by nobody */
    const char *policy; /* as option placement */
    const char *list;   /* as option placement_list; both NULL: as MUSTER_OPTIONS says, else auto */
} muster_plan_args;
#define MUSTER_PLAN_ARGS_INIT                                                                      \
    {                                                                                              \
        sizeof(muster_plan_args), NULL, 1, NULL, NULL                                              \
    }

/* How ranks would be placed. */
typedef struct muster_plan {
    int num_ranks;
    const muster_placement *ranks;
    const char *policy;
    const char *topology; /* "2 packages, 2 NUMA nodes, 44 cores, 176 threads; 4 GPUs; ..." */
    const char *seen_by;  /* "hwloc 2.9 in FILE" */
    const char *shortage; /* which ranks have no GPU, or share one, in a sentence; "" for none */
    const char *remarks;  /* what else is not as one would like */
    const char *hidden;   /* which GPUs CUDA_VISIBLE_DEVICES hides and why */
} muster_plan;

/*
 * Plans for a machine without being there and without ranks: GPUs are those of NVIDIA's that hwloc
 * sees, in the order of the bus. *plan and all in it are freed with one muster_free(). Without
 * hwloc, or for a file that holds no topology, an error says so.
 */
MUSTER_API muster_status muster_plan_placement(const muster_plan_args *args, muster_plan **plan);

#ifdef __cplusplus
}
#endif
#endif
