/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What muster-perf compares collectives with: Open MPI and torch, on as many ranks of their own,
 * started by rank 0.
 */
#ifndef MUSTER_PERF_PEER_H
#define MUSTER_PERF_PEER_H

#include "party.h"
#include "sweep.h"

typedef struct perf_peers {
    perf_party parties[SWEEP_NUM_SIDES]; /* on rank 0 */
    int64_t timeout_ms;
} perf_peers;

/* Starts those that were asked for; "" or why one can't be had, in why. */
void perf_peers_start(perf_peers *peers, const perf_options *options, muster_group *world,
                      char why[600]);
void perf_peers_end(perf_peers *peers);

/* Seconds of one call, below 0 where a peer has no such operation, and then what it lacks in lack.
 * False: the sentence is in why. */
bool perf_peers_measure(perf_peers *peers, int side, const perf_options *options,
                        const sweep_call *one, double *seconds, char lack[SWEEP_LACK],
                        char why[600]);

#endif
