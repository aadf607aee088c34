/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open MPI and torch as peers of a measurement.
 */
#include "config.h"

#include "peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer_mpi.h"
#include "peer_mpi_start.h"
#include "peer_torch.h"

enum { PEER_TIMEOUT_MS = 1800 * 1000 };

extern char **environ;

/* What a peer is started with. */
typedef struct peer_context {
    const char *python;
    char ranks[16];
    char interface[64];
} peer_context;

/* A launcher that started this process must not take the peer's for one of its own ranks. */
static bool peer_is_launchers(const char *variable)
{
    static const char *const others[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDI_", "SLURM_"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strncmp(variable, others[i], strlen(others[i])) == 0)
            return true;
    return false;
}

static void peer_forget_launcher(void)
{
    char **keep = environ;
    for (char **one = environ; *one != NULL; one++)
        if (!peer_is_launchers(*one))
            *keep++ = *one;
    *keep = NULL;
}

static int peer_mpi(const void *context)
{
    const peer_context *peer = context;
    peer_forget_launcher();
    execlp("sh", "sh", "-c", peer_mpi_start_script, "sh", peer_mpi_script, peer->ranks,
           (char *)NULL);
    printf("!there is no sh: %s\n", strerror(errno));
    return EXIT_FAILURE;
}

static int peer_torch(const void *context)
{
    const peer_context *peer = context;
    if (peer->interface[0] != '\0')
        setenv("GLOO_SOCKET_IFNAME", peer->interface, 0);
    execlp(peer->python, peer->python, "-c", peer_torch_script, peer->ranks, (char *)NULL);
    printf("!'%s' can't be run: %s\n", peer->python, strerror(errno));
    return EXIT_FAILURE;
}

static bool peer_start(perf_peers *peers, int side, const peer_context *context, char why[600])
{
    double answer[2];
    char reason[512] = "there is no process for it";
    bool good =
        perf_party_start(&peers->parties[side], side == SWEEP_MPI ? peer_mpi : peer_torch,
                         context) &&
        perf_party_ask(&peers->parties[side], NULL, answer, NULL, 0, peers->timeout_ms, reason);
    if (good && answer[0] == strtod(context->ranks, NULL))
        return true;
    if (good)
        snprintf(reason, sizeof(reason), "its world has %.0f of %s ranks", answer[0],
                 context->ranks);
    snprintf(why, 600, "--peer %s: %s", sweep_side_names[side], reason);
    return false;
}

void perf_peers_start(perf_peers *peers, const perf_options *options, muster_group *world,
                      char why[600])
{
    peer_context context = {.python = options->python == NULL ? "python3" : options->python};
    *peers = (perf_peers){.timeout_ms = options->job.timeout_ms};
    if (peers->timeout_ms < 0)
        peers->timeout_ms = PEER_TIMEOUT_MS;
    why[0] = '\0';
    if (muster_group_rank(world) != 0 || (!options->sweep.mpi && !options->sweep.torch))
        return;
    if (perf_fact(world, "hosts") > 1) {
        snprintf(why, 600, "--peer is for ranks on one host, and these are on %lld",
                 perf_fact(world, "hosts"));
        return;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(context.ranks, sizeof(context.ranks), "%d", muster_group_size(world));
    perf_fact_text(world, "interface", context.interface, sizeof(context.interface));
    if (!options->sweep.mpi || peer_start(peers, SWEEP_MPI, &context, why))
        if (options->sweep.torch)
            peer_start(peers, SWEEP_TORCH, &context, why);
}

void perf_peers_end(perf_peers *peers)
{
    for (int side = SWEEP_MPI; side < SWEEP_NUM_SIDES; side++)
        perf_party_end(&peers->parties[side]);
}

bool perf_peers_measure(perf_peers *peers, int side, const perf_options *options,
                        const sweep_call *one, double *seconds, char lack[SWEEP_LACK],
                        char why[600])
{
    char order[256], reason[512];
    double numbers[2];
    snprintf(order, sizeof(order), "%s %s %s %d %zu %lld %lld\n", one->operation->name,
             muster_type_name(one->type),
             one->operation->reduces ? muster_reduction_name(one->kind) : "none", one->root,
             one->base, options->sweep.iterations, options->sweep.warmups);
    if (!perf_party_ask(&peers->parties[side], order, numbers, lack, SWEEP_LACK, peers->timeout_ms,
                        reason)) {
        snprintf(why, 600, "--peer %s: %s", sweep_side_names[side], reason);
        return false;
    }
    *seconds = numbers[0];
    return true;
}
