/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators of the stand-in's NCCL for tests.
 */
#include "config.h"

#include "standin_nccl.h"

#include <string.h>
#include <time.h>

#include "ranks.h"

nccl_config standin_config(int blocking)
{
    nccl_config config;
    int version = 0;
    memset(&config, 0, sizeof(config));
    standin_api_get()->ncclGetVersion(&version);
    config.size = sizeof(config);
    config.magic = (unsigned)NCCL_CONFIG_MAGIC;
    config.version = (unsigned)version;
    config.blocking = blocking;
    config.cga_cluster_size = config.min_ctas = config.max_ctas = NCCL_CONFIG_UNSET;
    for (int *number = &config.split_share; number <= &config.traffic_class; number++)
        *number = NCCL_CONFIG_UNSET;
    for (int *number = &config.collnet_enable; number <= &config.graph_stream_ordering; number++)
        *number = NCCL_CONFIG_UNSET;
    return config;
}

nccl_unique_id standin_share_id(int rank)
{
    static int shared;
    nccl_unique_id *ids = ranks_shared(16 * sizeof(*ids));
    nccl_unique_id *id = &ids[shared++ % 16];
    if (rank == 0)
        standin_api_get()->ncclGetUniqueId(id);
    ranks_barrier();
    return *id;
}

nccl_result standin_settle(nccl_comm *comm, long long ms)
{
    nccl_result result = NCCL_IN_PROGRESS;
    struct timespec pause = {0, 1000000};
    for (; ms > 0 && result == NCCL_IN_PROGRESS; ms--) {
        if (standin_api_get()->ncclCommGetAsyncError(comm, &result) != NCCL_SUCCESS)
            return NCCL_INTERNAL_ERROR;
        nanosleep(&pause, NULL);
    }
    return result;
}

nccl_comm *standin_open(int rank, int size, int blocking)
{
    const standin_api *api = standin_api_get();
    nccl_comm *comm = NULL;
    nccl_config config = standin_config(blocking);
    nccl_unique_id id = standin_share_id(rank);
    api->cudaSetDevice(rank);
    nccl_result result = api->ncclCommInitRankConfig(&comm, size, id, rank, &config);
    if (result == NCCL_IN_PROGRESS)
        result = standin_settle(comm, patient(10000));
    return result == NCCL_SUCCESS ? comm : NULL;
}

bool standin_close(nccl_comm *comm)
{
    const standin_api *api = standin_api_get();
    nccl_result result = api->ncclCommFinalize(comm);
    if (result == NCCL_IN_PROGRESS)
        result = standin_settle(comm, patient(10000));
    return result == NCCL_SUCCESS && api->ncclCommDestroy(comm) == NCCL_SUCCESS;
}
