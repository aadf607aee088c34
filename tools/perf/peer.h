/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What muster-perf compares itself with: Open MPI and torch, on as many ranks of their own. Open
 * MPI is started by rank 0; of torch each rank starts one, which so is on the same host and CPUs.
 * All functions are collective over the world.
 */
#ifndef MUSTER_PERF_PEER_H
#define MUSTER_PERF_PEER_H

#include "party.h"
#include "perf.h"
#include "sweep.h"

typedef struct perf_peers {
    perf_party parties[SWEEP_NUM_SIDES];
    int64_t timeout_ms;
} perf_peers;

/* Starts those that were asked for. Torch's get the descriptor data, -1 for none. False: all is
 * said. */
bool perf_peers_start(perf_peers *peers, const perf_options *options, muster_group *world,
                      int data);
void perf_peers_end(perf_peers *peers);

/* Gives the order, which may differ from rank to rank, to a side where it runs. The numbers of its
 * answer are those of all of the side's ranks; below 0 where it has no such thing, and what it
 * lacks is in lack. With Open MPI only rank 0 has them. False: all is said. */
bool perf_peers_ask(perf_peers *peers, muster_group *world, int side, const char *order,
                    double numbers[2], char lack[SWEEP_LACK]);

#endif
