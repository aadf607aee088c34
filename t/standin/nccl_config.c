/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how its NCCL reads an
 * ncclConfig_t. The rules are those of the version that the library says it is.
 */
#include "config.h"

#include "nccl_config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_comm.h"

enum { UNSET = NCCL_CONFIG_UNSET };

static const struct {
    int since;
    size_t size; /* of the struct from this version on */
} sizes[] = {{23000, 96}, {22900, 88}, {22800, 80}, {22700, 72}, {21800, 48}, {21700, 40}, {0, 24}};

/* The numbers, with the version that a caller's struct must have at least for them to be read; 0:
 * only its size says whether they are there. */
static const struct {
    const char *name;
    size_t offset;
    int since;
    int lowest, highest, usual;
} numbers[] = {
    {"cgaClusterSize", offsetof(nccl_config, cga_cluster_size), 21700, 0, INT_MAX, 4},
    {"minCTAs", offsetof(nccl_config, min_ctas), 21700, 1, INT_MAX, 1},
    {"maxCTAs", offsetof(nccl_config, max_ctas), 21700, 1, INT_MAX, 32},
    {"splitShare", offsetof(nccl_config, split_share), 0, 0, 1, 0},
    {"trafficClass", offsetof(nccl_config, traffic_class), 22500, INT_MIN, INT_MAX, 0},
    {"collnetEnable", offsetof(nccl_config, collnet_enable), 22700, 0, 1, 0},
    {"CTAPolicy", offsetof(nccl_config, cta_policy), 22700, 0, 2, 0},
    {"shrinkShare", offsetof(nccl_config, shrink_share), 22700, 0, 1, 0},
    {"nvlsCTAs", offsetof(nccl_config, nvls_ctas), 22700, 1, INT_MAX, 0},
    {"nChannelsPerNetPeer", offsetof(nccl_config, n_channels_per_net_peer), 22800, 1, 64, 0},
    {"nvlinkCentricSched", offsetof(nccl_config, nvlink_centric_sched), 22800, 0, 1, 0},
    {"graphUsageMode", offsetof(nccl_config, graph_usage_mode), 22900, 0, 2, 2},
    {"numRmaCtx", offsetof(nccl_config, num_rma_ctx), 22900, 0, INT_MAX, 1},
    {"maxP2pPeers", offsetof(nccl_config, max_p2p_peers), 23000, 1, INT_MAX, 0},
    {"graphStreamOrdering", offsetof(nccl_config, graph_stream_ordering), 23005, 0, 1, 1},
};

enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static int *config_number(nccl_config *config, int i)
{
    return (int *)(void *)((char *)config + numbers[i].offset);
}

static size_t config_size(void)
{
    int i = 0;
    while (nccl_version < sizes[i].since)
        i++;
    return sizes[i].size;
}

static void config_clear(nccl_config *config)
{
    memset(config, 0, sizeof(*config));
    config->blocking = UNSET;
    for (int i = 0; i < NUMBERS; i++)
        *config_number(config, i) = UNSET;
}

/* The part that both sides know, without what is newer than the version that it says it has. From
 * 2.22 on a struct too short for its magic is found out. */
static nccl_result config_copy(const nccl_config *given, nccl_config *config)
{
    size_t size = given->size < config_size() ? given->size : config_size();
    config_clear(config);
    config->magic = nccl_version < 22200 ? (unsigned)NCCL_CONFIG_MAGIC : 0;
    memcpy((void *)config, (const void *)given, size);
    if (config->magic != (unsigned)NCCL_CONFIG_MAGIC)
        return comm_fail(NCCL_INVALID_ARGUMENT,
                         "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    for (int i = 0; i < NUMBERS; i++)
        if ((int)config->version < numbers[i].since)
            *config_number(config, i) = UNSET;
    if (config->version < 21700)
        config->net_name = NULL;
    return NCCL_SUCCESS;
}

static nccl_result config_check_blocking(const nccl_config *config)
{
    bool may_be_unset = nccl_version >= 21700;
    if (config->blocking == 0 || config->blocking == 1 ||
        (may_be_unset && config->blocking == UNSET))
        return NCCL_SUCCESS;
    return comm_fail(NCCL_INVALID_ARGUMENT, "Invalid config blocking attribute value %d",
                     config->blocking);
}

/* One bound set without the other is compared with what is not set. */
static nccl_result config_check_numbers(nccl_config *config)
{
    for (int i = 0; i < NUMBERS; i++) {
        int value = *config_number(config, i);
        if (value != UNSET && (value < numbers[i].lowest || value > numbers[i].highest))
            return comm_fail(NCCL_INVALID_ARGUMENT, "Invalid config %s attribute value %d",
                             numbers[i].name, value);
    }
    if (config->cta_policy == 2 && nccl_version < 22803)
        return comm_fail(NCCL_INVALID_ARGUMENT, "Invalid config policy attribute value 2");
    if (config->min_ctas > config->max_ctas)
        return comm_fail(NCCL_INVALID_ARGUMENT,
                         "Invalid config min/max channels attribute value %d/%d", config->min_ctas,
                         config->max_ctas);
    return NCCL_SUCCESS;
}

static void config_complete(nccl_config *config, const nccl_config *base)
{
    nccl_config usual;
    config_clear(&usual);
    usual.blocking = 1;
    for (int i = 0; i < NUMBERS; i++)
        *config_number(&usual, i) = numbers[i].usual;
    if (base != NULL)
        usual = *base;
    if (config->blocking == UNSET)
        config->blocking = usual.blocking;
    for (int i = 0; i < NUMBERS; i++)
        if (*config_number(config, i) == UNSET)
            *config_number(config, i) = *config_number(&usual, i);
    if (config->net_name == NULL)
        config->net_name = usual.net_name;
    if (config->comm_name == NULL)
        config->comm_name = usual.comm_name;
}

/* Before 2.17 the user's variable has an effect with the value 1 only. */
static void config_read_environment(nccl_config *config)
{
    const char *given = getenv("NCCL_COMM_BLOCKING");
    if (given == NULL)
        return;
    if (strcmp(given, "1") == 0)
        config->blocking = 1;
    if (strcmp(given, "0") == 0 && nccl_version >= 21700)
        config->blocking = 0;
}

nccl_result config_read(const nccl_config *given, const nccl_config *base, nccl_config *config)
{
    nccl_result result = NCCL_SUCCESS;
    config_clear(config);
    if (given != NULL)
        result = config_copy(given, config);
    if (result == NCCL_SUCCESS && given != NULL)
        result = config_check_blocking(config);
    if (result == NCCL_SUCCESS && given != NULL)
        result = config_check_numbers(config);
    config_complete(config, base);
    config_read_environment(config);
    return result;
}
