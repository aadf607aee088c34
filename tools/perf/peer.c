/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Open MPI and torch as peers of a measurement.
 */
#include "config.h"

#include "peer.h"
#include "agree.h"

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
    char ranks[16], rank[16], data[16];
    char address[128]; /* of rank 0 */
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
    execlp(peer->python, peer->python, "-W", "ignore", "-c", peer_torch_script, peer->ranks,
           peer->rank, peer->address, peer->data, (char *)NULL);
    printf("!'%s' can't be run: %s\n", peer->python, strerror(errno));
    return EXIT_FAILURE;
}

/* False where it gives no answer, and why. */
static bool peer_ask(perf_peers *peers, int side, const char *order, double numbers[2], char *lack,
                     char why[600])
{
    char reason[512];
    if (perf_party_ask(&peers->parties[side], order, numbers, lack, SWEEP_LACK, peers->timeout_ms,
                       reason))
        return true;
    snprintf(why, 600, "--peer %s: %s", sweep_side_names[side], reason);
    return false;
}

/* Its answer is the number of its ranks. */
static void peer_count(perf_peers *peers, int side, const char *order, const peer_context *context,
                       char why[600])
{
    double answer[2];
    if (peer_ask(peers, side, order, answer, NULL, why) &&
        answer[0] != strtod(context->ranks, NULL))
        snprintf(why, 600, "--peer %s: its world has %.0f of %s ranks", sweep_side_names[side],
                 answer[0], context->ranks);
}

static bool peer_start_mpi(perf_peers *peers, const peer_context *context, muster_group *world)
{
    char why[600] = "";
    if (muster_group_rank(world) == 0 && perf_fact(world, "hosts") > 1)
        snprintf(why, sizeof(why), "--peer mpi is for ranks on one host, and these are on %lld",
                 perf_fact(world, "hosts"));
    else if (muster_group_rank(world) == 0 &&
             !perf_party_start(&peers->parties[SWEEP_MPI], peer_mpi, context))
        snprintf(why, sizeof(why), "--peer mpi: there is no process for it");
    else if (muster_group_rank(world) == 0)
        peer_count(peers, SWEEP_MPI, NULL, context, why);
    return agree(world, why);
}

/* Where rank 0 is found by the others, and which interface this one is to use. */
static bool peer_addresses(peer_context *context, muster_group *world)
{
    perf_fact_text(world, "interface", context->interface, sizeof(context->interface));
    strcpy(context->address, "127.0.0.1");
    if (perf_fact(world, "hosts") > 1)
        perf_fact_text(world, "address", context->address, sizeof(context->address));
    return muster_broadcast(world, context->address, sizeof(context->address), MUSTER_UINT8, 0,
                            NULL) == MUSTER_OK ||
           perf_failed(world);
}

static bool peer_start_torch(perf_peers *peers, peer_context *context, muster_group *world)
{
    char why[600] = "", order[32];
    double port[2] = {0};
    if (!peer_addresses(context, world))
        return false;
    if (!perf_party_start(&peers->parties[SWEEP_TORCH], peer_torch, context))
        snprintf(why, sizeof(why), "--peer torch: there is no process for it");
    else
        peer_ask(peers, SWEEP_TORCH, NULL, port, NULL, why);
    if (!agree(world, why))
        return false;
    if (muster_broadcast(world, port, 1, MUSTER_FLOAT64, 0, NULL) != MUSTER_OK)
        return perf_failed(world);
    snprintf(order, sizeof(order), "%.0f\n", port[0]);
    peer_count(peers, SWEEP_TORCH, order, context, why);
    return agree(world, why);
}

bool perf_peers_start(perf_peers *peers, const perf_options *options, muster_group *world, int data)
{
    peer_context context = {.python = options->python == NULL ? "python3" : options->python};
    *peers = (perf_peers){.timeout_ms = options->job.timeout_ms};
    if (peers->timeout_ms < 0)
        peers->timeout_ms = PEER_TIMEOUT_MS;
    signal(SIGPIPE, SIG_IGN);
    snprintf(context.ranks, sizeof(context.ranks), "%d", muster_group_size(world));
    snprintf(context.rank, sizeof(context.rank), "%d", muster_group_rank(world));
    snprintf(context.data, sizeof(context.data), "%d", data);
    return (!options->sweep.mpi || peer_start_mpi(peers, &context, world)) &&
           (!options->sweep.torch || peer_start_torch(peers, &context, world));
}

void perf_peers_end(perf_peers *peers)
{
    for (int side = SWEEP_MPI; side < SWEEP_NUM_SIDES; side++)
        perf_party_end(&peers->parties[side]);
}

bool perf_peers_ask(perf_peers *peers, muster_group *world, int side, const char *order,
                    double numbers[2], char lack[SWEEP_LACK])
{
    char why[600] = "";
    if (peers->parties[side].pid != 0)
        peer_ask(peers, side, order, numbers, lack, why);
    return agree(world, why);
}
