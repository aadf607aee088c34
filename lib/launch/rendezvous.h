/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks meet: from an init_method to a store, a rank and a world size.
 *
 *   env://              who this process is by its launcher's variables (launcher.h), torch's RANK
 *                       and WORLD_SIZE among them, and MASTER_ADDR and MASTER_PORT; where these are
 *                       not set, rank 0's address by the ways of meeting.h. With no launcher and
 *                       nothing passed, and with a world size of 1, this process is alone and needs
 *                       no address.
 *   tcp://host:port     that address
 *   file:///path        one file on a folder that all share
 *
 * Rank and world size are those passed, those of the URL's query, and under env:// those of the
 * launcher; where two of these are given and differ, that is an error that quotes both. With tcp://
 * and file:// the launcher is asked only where neither is given, since a group beside the
 * launcher's world has ranks of its own.
 *
 * Rank 0 runs the server, on exactly the address that was given, which must be one of its machine
 * (of a name all those that are); the other ranks are clients, and none of them serves where the
 * address is its own: programs of torch expect rank 0 there, and a store that two could serve would
 * part a job in two. Where TORCHELASTIC_USE_AGENT_STORE is "True" and host and port are
 * MASTER_ADDR and MASTER_PORT, torchrun's agent runs the server and every rank is a client.
 *
 * Keys of an earlier try or of another job are kept apart by a prefix of the store:
 *   env://    "job/<id>", where id is MUSTER_JOB_ID, else what the launcher calls the job
 *             (TORCHELASTIC_RUN_ID; job and step of Slurm; the namespace of PMIx; ...). Behind it
 * is
 *             "/attempt/<n>" where Slurm says how often it has started the job again
 *             (SLURM_RESTART_COUNT, else 0), and where torchrun's agent runs the server, with the n
 *             of TORCHELASTIC_RESTART_COUNT, else 0; without an id it is "attempt/<n>" where n is
 *             over 0. Other servers are new with each try.
 *   file://   "job/<id>" where MUSTER_JOB_ID is set, else none: a file that is used again without
 *             one must be removed first.
 *   tcp://    none: ranks that join such a group may be started by different launchers.
 */
#ifndef MUSTER_LIB_RENDEZVOUS_H
#define MUSTER_LIB_RENDEZVOUS_H

#include "launch/launcher.h"
#include "muster.h"

typedef struct rendezvous {
    muster_store *store; /* the caller's, to free */
    int rank;
    int world_size;
    launcher launcher; /* its facts are -1 where it was not asked */
} rendezvous;

/* init_method NULL is "env://"; rank and world_size -1 are as it says. What can be refused without
 * the network is refused before any socket is opened. On failure the store is NULL. */
muster_status rendezvous_join(const char *init_method, int rank, int world_size, int64_t timeout_ms,
                              rendezvous *result);

#endif
