/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks on one GPU with NCCL itself, which refuses that: each says that it is a host of its own
 * (NCCL_HOSTID), so that what they exchange goes over NCCL's network transport. Such a pair is for
 * seeing that communicators of several ranks work and end, not for how fast they are. The plugin's
 * table is driven directly, with the UUIDs that the ranks exchange told apart, since muster refuses
 * such a pair as well.
 */
#include "config.h"

#include "gpu/common.h"
#include "nccl_ranks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 5001, REPEATS = 5, WAIT_MS = 5000, FEW_WAIT_MS = 1000 };

/* Before NCCL has looked at any of it. */
static void be_a_host(int rank)
{
    char id[32];
    snprintf(id, sizeof(id), "muster-pair-%d", rank);
    setenv("NCCL_HOSTID", id, 1);
    setenv("NCCL_NET", "Socket", 1);
    setenv("NCCL_IB_DISABLE", "1", 1);
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    setenv("NCCL_MAX_CTAS", "1", 1);
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    setenv("NCCL_CUMEM_ENABLE", "0", 1);
    setenv("NCCL_MNNVL_ENABLE", "0", 1);
}

/* The UUID of each rank's device becomes another; every rank writes the same. */
static void tell_apart(nccl_group *group)
{
    for (int r = 0; r < group->size; r++) {
        char *uuid = memmem(group->all[r].data, group->all[r].size, "GPU-", 4);
        if (uuid != NULL)
            uuid[4] = (char)('0' + r);
    }
}

static bool opens(nccl_group *group, int rank, int size)
{
    be_a_host(rank);
    nccl_group_init(group, rank, size);
    group->device = 0;
    group->after_exchange = tell_apart;
    group->timeout_ms = patient(COMMON_TIMEOUT_MS);
    return nccl_try_open(group) == MUSTER_OK;
}

/* NCCL does not take such a pair here, which is no fault of muster's. */
static void give_up(void)
{
    ranks_skip_case("two ranks on one GPU by NCCL_HOSTID: %s", muster_last_error());
}

/* How long an operation may take. A peer that was killed may never be noticed before. */
static int64_t wait_ms(void)
{
    return patient(common_few() ? FEW_WAIT_MS : WAIT_MS);
}

static muster_call call_of(const nccl_group *group, muster_operation operation)
{
    return (muster_call){.size = sizeof(muster_call),
                         .operation = operation,
                         .type = MUSTER_INT32,
                         .redop = MUSTER_SUM,
                         .count = COUNT,
                         .uniform = true,
                         .stream = nccl_stream(group)};
}

/* Runs one of them on COUNT numbers of this rank, which are first + i; what comes back is in got,
 * received numbers of it. */
static bool run(nccl_group *group, muster_call *call, int first, int32_t *got, size_t received)
{
    int32_t mine[COUNT];
    size_t bytes = received * sizeof(int32_t);
    for (int i = 0; i < COUNT; i++)
        mine[i] = first + i;
    char *send = nccl_memory(group, sizeof(mine)), *receive = nccl_memory(group, bytes);
    nccl_put(group, send, mine, sizeof(mine));
    nccl_put(group, receive, mine, sizeof(mine));
    call->send = send;
    call->receive = receive;
    muster_transfer both[2];
    if (call->operation == MUSTER_OPERATION_SEND_RECV) {
        for (int i = 0; i < 2; i++)
            both[i] = (muster_transfer){.direction = i == 0 ? MUSTER_SENDS : MUSTER_RECEIVES,
                                        .peer = 1 - group->rank,
                                        .count = COUNT,
                                        .type = MUSTER_INT32,
                                        .receive = i == 0 ? send : receive};
        call->transfers = both;
        call->num_transfers = 2;
    }
    muster_status status = nccl_run(group, call, wait_ms());
    if (status == MUSTER_OK)
        nccl_get(group, got, receive, bytes);
    else
        diag("%s", muster_last_error());
    nccl_plugin()->devices->free_memory(group->device, send);
    nccl_plugin()->devices->free_memory(group->device, receive);
    return status == MUSTER_OK;
}

/* So many numbers, each times * i + first. */
static bool are(const int32_t *got, int times, int first)
{
    for (int i = 0; i < COUNT; i++)
        if (got[i] != times * i + first)
            return false;
    return true;
}

static bool sums(nccl_group *group)
{
    int32_t got[COUNT];
    muster_call call = call_of(group, MUSTER_OPERATION_ALL_REDUCE);
    return run(group, &call, group->rank * 10, got, COUNT) && are(got, 2, 10);
}

static bool gathers(nccl_group *group)
{
    int32_t got[2 * COUNT];
    const size_t counts[] = {COUNT, COUNT}, offsets[] = {0, COUNT};
    muster_call call = call_of(group, MUSTER_OPERATION_ALL_GATHER);
    call.send_counts = call.receive_counts = counts;
    call.send_offsets = call.receive_offsets = offsets;
    return run(group, &call, group->rank * 10, got, (size_t)2 * COUNT) && are(got, 1, 0) &&
           are(got + COUNT, 1, 10);
}

static bool exchanges(nccl_group *group)
{
    int32_t got[COUNT];
    muster_call call = call_of(group, MUSTER_OPERATION_SEND_RECV);
    return run(group, &call, group->rank * 10, got, COUNT) && are(got, 1, 10 - group->rank * 10);
}

static void works(int rank, int size)
{
    nccl_group group;
    if (!opens(&group, rank, size))
        give_up();
    ok(true, "a communicator of two ranks on one GPU, over the network transport");
    int right = 0;
    for (int i = 0; i < REPEATS; i++)
        right += sums(&group);
    is_int(right, REPEATS, "all_reduce");
    ok(gathers(&group), "all_gather");
    ok(exchanges(&group), "sends and receives");
    ok(group.broken_count == 0, "nothing broke");
    ranks_barrier();
    int64_t began = now_ms();
    nccl_close(&group);
    ok(in_time(began, 3000), "it closes");
    if (rank == 0)
        common_row("%-34s it works (network transport, says nothing of speed)",
                   "two ranks on one GPU, NCCL_HOSTID");
    ranks_barrier();
}

static void killed(int rank, int size)
{
    nccl_group group;
    bool opened = opens(&group, rank, size);
    if (!opened && rank == 0)
        give_up();
    bool worked = opened && sums(&group);
    if (opened)
        ranks_barrier();
    if (rank == 1)
        raise(SIGKILL);
    ok(worked, "both are there");
    int64_t began = now_ms();
    ok(!sums(&group), "then one is killed, and the other's call fails");
    int64_t noticed = now_ms() - began;
    ok(noticed < wait_ms() + patient(2000), "within its time-out");
    began = now_ms();
    nccl_plugin()->abort(group.comm);
    ok(in_time(began, 200), "abort returns at once");
    nccl_close(&group);
    ok(in_time(began, 3000), "and close soon");
    common_row("%-34s noticed after %lld ms, abort and close took %lld ms",
               "two ranks on one GPU, one killed", (long long)noticed,
               (long long)(now_ms() - began));
}

int main(int argc, char **argv)
{
    static const struct ranks_case cases[] = {
        {.name = "works", .size = 2, .points = 6, .body = works, .seconds = 25},
        {.name = "killed",
         .size = 2,
         .points = 5,
         .body = killed,
         .seconds = 25,
         .deaths = {{.rank = 1, .signal = SIGKILL}}},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
