/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process groups: making one from nothing, what it tells, and leaving it.
 *
 * A group made here is a world: it needs no group before it. Groups made of its ranks are in
 * muster/subgroup.h. What a group tells it knows by itself: no other rank is asked, and a group
 * that has failed answers too.
 */
#ifndef MUSTER_GROUP_H
#define MUSTER_GROUP_H

#include <muster/options.h>
#include <muster/status.h>
#include <muster/store.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_group muster_group;

#define MUSTER_TIMEOUT_DEFAULT (-1) /* 30 minutes for a new world, the parent's for a sub-group */

/* ---- Making and leaving a world ------------------------------------------------------------ */

/* The arguments of muster_init_process_group. All ranks of a group pass the same, but for rank. */
typedef struct muster_init_args {
    size_t struct_size;
    /* "auto" or NULL: the best backend that every rank has. "gloo", "nccl", "local", or
     * "cpu:gloo,cuda:nccl" for host and device memory: exactly that, or an error that says why not.
     */
    const char *backend;
    /* How ranks meet; NULL is "env://".
     *
     * env:// takes rank and world size from the variables of whatever started the process (RANK and
     * WORLD_SIZE; those of Open MPI, MPICH, Slurm, Flux, ...), and meets at MASTER_ADDR and
     * MASTER_PORT, else at an address that the launcher lets the ranks agree on; see
     * muster_describe_launcher. With no launcher and neither rank nor world_size given this process
     * is the one rank of a world of one.
     *
     * tcp://host:port is where rank 0 listens and the others connect; tcp://[::1]:29500 for IPv6.
     *
     * file:///path is one file on a folder that all ranks share. Where MUSTER_JOB_ID is set, as
     * muster-run does, only ranks of one job meet in it; ranks of several jobs meet at a tcp://
     * address, with one MUSTER_JOB_SECRET, or in a store.
     *
     * Behind the last two rank and world_size may stand: tcp://10.0.0.1:29500?rank=0&world_size=4.
     * Where neither is given, there or below, they are the launcher's.
     */
    const char *init_method;
    int64_t timeout_ms;  /* for making the group and for each operation on it; > 0 */
    int world_size;      /* -1: as init_method says */
    int rank;            /* -1: as init_method says */
    muster_store *store; /* instead of init_method; then rank and world_size must be given */
    /* NULL is "world"; groups that live at the same time differ in it. 1 to 200 characters, none of
     * them a '/' or a control character. */
    const char *group_name;
    union {
        const muster_options *backend_options;
        const muster_options *pg_options; /* what backend_options was called before */
    };
    const char *options; /* as for muster_options_parse, or NULL */
} muster_init_args;
#define MUSTER_INIT_ARGS_INIT                                                                      \
    {                                                                                              \
        sizeof(muster_init_args), NULL, NULL, MUSTER_TIMEOUT_DEFAULT, -1, -1, NULL, NULL, {NULL},  \
            NULL                                                                                   \
    }

/*
 * Makes a process group; collective over its ranks. May be called any number of times in one
 * process, with different names, sizes, backends and members, from several threads at once. args
 * NULL takes every default. The group is handed over on all ranks or on none: each rank has found
 * every other where it should be, over the backend, before any returns MUSTER_OK.
 *
 * Else all return the same: MUSTER_ERR_MISMATCH with the ranks that were given another world_size
 * or backend, MUSTER_ERR_EXISTS where two processes claim one rank or a group of that name is still
 * open, MUSTER_ERR_UNAVAILABLE with why a backend can't be had (MUSTER_ERR_NOT_FOUND where none is
 * called so), MUSTER_ERR_PEER_LOST with a rank that has died meanwhile, MUSTER_ERR_TIMEOUT with
 * those that did not come. What one rank finds wrong before it meets the others, such as an option,
 * it alone is told.
 */
MUSTER_API muster_status muster_init_process_group(muster_group **group,
                                                   const muster_init_args *args);

/*
 * Leaves the group and frees it; never waits for other ranks longer than a second, but for
 * callbacks that run as long as they take. The others can go on with their own sub-groups; an
 * operation of theirs that needs this rank fails with MUSTER_ERR_PEER_LOST.
 *
 * Operations that are under way a third of a second later are broken off. Here they end with
 * MUSTER_ERR_FAILED, and their handles, which outlive the group, are freed as ever; the other ranks
 * get MUSTER_ERR_PEER_LOST, with a sentence that says what this rank has freed the group in. A
 * group and those made of it do not need each other: they may be freed in any order.
 */
MUSTER_API void muster_group_free(muster_group *group);

/* ---- Ranks and hosts ----------------------------------------------------------------------- */

/* The caller's rank in the group, from 0, and the number of its ranks; -1 for NULL. */
MUSTER_API int muster_group_rank(const muster_group *group);
MUSTER_API int muster_group_size(const muster_group *group);

/*
 * Where the caller stands among the group's ranks of its own host, and its host among the group's:
 * local rank, number of local ranks, rank of the host (in the order of their lowest ranks) and
 * number of hosts. Found by what the ranks say of their hosts, not by the launcher's variables. -1
 * for NULL.
 */
MUSTER_API int muster_group_local_rank(const muster_group *group);
MUSTER_API int muster_group_local_size(const muster_group *group);
MUSTER_API int muster_group_node_rank(const muster_group *group);
MUSTER_API int muster_group_num_nodes(const muster_group *group);

/* The host name of a rank; NULL for a rank that is none. Lives as long as the group. */
MUSTER_API const char *muster_group_host(const muster_group *group, int rank);

/* ---- What else a group tells --------------------------------------------------------------- */

/* The group's name and its backend ("gloo", "cpu:gloo,cuda:nccl"); "" for NULL. Both live as long
 * as the group. */
MUSTER_API const char *muster_group_name(const muster_group *group);
MUSTER_API const char *muster_group_backend(const muster_group *group);

/* The time-out of this rank's operations in ms; -1 for NULL. */
MUSTER_API int64_t muster_group_timeout(const muster_group *group);

/* Changes the time-out (in ms, > 0) for later operations of this rank. */
MUSTER_API muster_status muster_group_set_timeout(muster_group *group, int64_t timeout_ms);

/*
 * Bytes that this rank has sent to others, and received from them, through the group: messages with
 * their headers, also those that collectives are made of and those between ranks of one host; and
 * of collectives in shared memory what it has put there for others, once however many read it, and
 * what it has read of theirs. What failed is not counted in full, and what a backend carries on
 * device memory not at all.
 */
MUSTER_API muster_status muster_group_traffic(const muster_group *group, uint64_t *sent,
                                              uint64_t *received);

/*
 * Says in words (json false) or in JSON what the group is: name, ranks, hosts, backend with version
 * and why it was chosen, why not the others, interface and address, options with where each came
 * from, and what making it took. *text ends with a newline and is freed with muster_free().
 */
MUSTER_API muster_status muster_group_describe(muster_group *group, bool json, char **text);

#ifdef __cplusplus
}
#endif
#endif
