/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fills NCCL's config from options.
 */
#include "config.h"

#include "nccl_config.h"

#include <stdlib.h>
#include <string.h>

#include "nccl_api.h"

#define AT(member) offsetof(nccl_config, member)

const nccl_config_field nccl_config_fields[] = {
    {"nccl.blocking", AT(blocking), false, 21400, 0, 1, "NCCL_COMM_BLOCKING"},
    {"nccl.cga_cluster_size", AT(cga_cluster_size), false, 21700, 0, 8, "NCCL_CGA_CLUSTER_SIZE"},
    {"nccl.min_ctas", AT(min_ctas), false, 21700, 1, INT_MAX, "NCCL_MIN_CTAS"},
    {"nccl.max_ctas", AT(max_ctas), false, 21700, 1, INT_MAX, "NCCL_MAX_CTAS"},
    {"nccl.net_name", AT(net_name), true, 21700, 0, 0, "NCCL_NET"},
    {"nccl.split_share", AT(split_share), false, 21800, 0, 1, "NCCL_COMM_SPLIT_SHARE_RESOURCES"},
    {"nccl.traffic_class", AT(traffic_class), false, 22602, 0, INT_MAX, "NCCL_IB_TC"},
    {"nccl.comm_name", AT(comm_name), true, 22700, 0, 0, NULL},
    {"nccl.collnet_enable", AT(collnet_enable), false, 22700, 0, 1, "NCCL_COLLNET_ENABLE"},
    {"nccl.cta_policy", AT(cta_policy), false, 22700, 0, INT_MAX, "NCCL_CTA_POLICY"},
    {"nccl.shrink_share", AT(shrink_share), false, 22700, 0, 1, "NCCL_COMM_SHRINK_SHARE_RESOURCES"},
    {"nccl.nvls_ctas", AT(nvls_ctas), false, 22700, 1, INT_MAX, "NCCL_NVLS_NCHANNELS"},
    {"nccl.n_channels_per_net_peer", AT(n_channels_per_net_peer), false, 22803, 1, 64,
     "NCCL_NCHANNELS_PER_NET_PEER"},
    {"nccl.nvlink_centric_sched", AT(nvlink_centric_sched), false, 22803, 0, 1,
     "NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE"},
    {"nccl.graph_usage_mode", AT(graph_usage_mode), false, 22902, 0, 2,
     "NCCL_GRAPH_MIXING_SUPPORT"},
    {"nccl.num_rma_ctx", AT(num_rma_ctx), false, 22902, 0, INT_MAX, "NCCL_NUM_RMA_CTX"},
    {"nccl.max_p2p_peers", AT(max_p2p_peers), false, 23003, 1, INT_MAX, "NCCL_MAX_P2P_PEERS"},
    {"nccl.graph_stream_ordering", AT(graph_stream_ordering), false, 23005, 0, 1,
     "NCCL_GRAPH_STREAM_ORDERING"},
    {"nccl.launch_order_implicit", AT(launch_order_implicit), false, 23102, 0, 1,
     "NCCL_LAUNCH_ORDER_IMPLICIT"},
    {"nccl.num_rma_sig", AT(num_rma_sig), false, 23102, 0, INT_MAX, NULL},
    {"nccl.rma_eager_init", AT(rma_eager_init), false, 23102, 0, 1, "NCCL_RMA_EAGER_INIT"},
    {"nccl.host_cft_mode", AT(host_cft_mode), false, 23102, 1, 3, NULL},
    {"nccl.nvls_host_mode", AT(nvls_host_mode), false, 23203, 0, INT_MAX, NULL},
    {.option = NULL},
};

/* What the fields up to this version take, rounded up as the compiler does. */
size_t nccl_config_size(int version)
{
    size_t end = AT(blocking), step = _Alignof(nccl_config);
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++)
        if (field->since <= version)
            end = field->offset + (field->text ? sizeof(const char *) : sizeof(int));
    return (end + step - 1) / step * step;
}

static int *nccl_config_number(nccl_config *config, const nccl_config_field *field)
{
    return (int *)(void *)((char *)config + field->offset);
}

/* Every field has its value, those behind size too: an older library takes them for padding, but
 * some look at what lies there. */
void nccl_config_init(nccl_config *config, int version)
{
    memset(config, 0, sizeof(*config));
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++)
        if (!field->text)
            *nccl_config_number(config, field) = NCCL_CONFIG_UNSET;
    config->not_yet = NCCL_CONFIG_UNSET;
    config->size = nccl_config_size(version);
    config->magic = (unsigned)NCCL_CONFIG_MAGIC;
    config->version = (unsigned)(version < NCCL_CONFIG_NEWEST ? version : NCCL_CONFIG_NEWEST);
    config->blocking = 0;
}

static int nccl_config_highest(const nccl_config_field *field, int version)
{
    enum { EFFICIENCY = 1, ZERO = 2 };
    if (field->offset == AT(cta_policy))
        return version < 22803 ? EFFICIENCY : version < 22902 ? ZERO : EFFICIENCY | ZERO;
    return field->highest;
}

/* The library reads its environment after its config. */
static void nccl_config_warn(const nccl_config_field *field, const char *value)
{
    const char *wins = field->variable == NULL ? NULL : getenv(field->variable);
    if (wins != NULL && strcmp(wins, value) != 0)
        nccl_host->log(MUSTER_LOG_WARNING, "%s is '%s' in the environment and wins over %s, '%s'",
                       field->variable, wins, field->option, value);
}

static muster_status nccl_config_set(nccl_config *config, int version,
                                     const nccl_config_field *field, const char *value)
{
    char since[NCCL_VERSION_TEXT], found[NCCL_VERSION_TEXT];
    if (version < field->since)
        return nccl_host->error(MUSTER_ERR_UNSUPPORTED,
                                "option '%s' needs NCCL %s or later, and %s was found",
                                field->option, nccl_version_text(field->since, since),
                                nccl_version_text(version, found));
    nccl_config_warn(field, value);
    if (field->text) {
        memcpy((char *)config + field->offset, &value, sizeof(value));
        return MUSTER_OK;
    }
    int highest = nccl_config_highest(field, version);
    long long number = strtoll(value, NULL, 10);
    if (number < field->lowest || number > highest)
        return nccl_host->error(MUSTER_ERR_ARGUMENT,
                                "option '%s' is %s, but NCCL %s takes %d to %d only", field->option,
                                value, nccl_version_text(version, found), field->lowest, highest);
    *nccl_config_number(config, field) = (int)number;
    return MUSTER_OK;
}

/* A least number alone is refused, since it is compared with a greatest that is unset: the greatest
 * is then as high as NCCL knows. */
static muster_status nccl_config_check_ctas(nccl_config *config, int version)
{
    int most = version < 22501 ? 32 : 64;
    if (config->min_ctas == NCCL_CONFIG_UNSET)
        return MUSTER_OK;
    if (config->max_ctas == NCCL_CONFIG_UNSET)
        config->max_ctas = config->min_ctas > most ? config->min_ctas : most;
    if (config->min_ctas <= config->max_ctas)
        return MUSTER_OK;
    return nccl_host->error(MUSTER_ERR_ARGUMENT,
                            "option 'nccl.min_ctas' is %d, more than 'nccl.max_ctas', which is %d",
                            config->min_ctas, config->max_ctas);
}

muster_status nccl_config_fill(nccl_config *config, int version, const muster_comm_owner *owner)
{
    muster_status status = MUSTER_OK;
    nccl_config_init(config, version);
    for (const nccl_config_field *field = nccl_config_fields;
         status == MUSTER_OK && field->option != NULL; field++) {
        const char *value = nccl_host->option(owner, field->option);
        if (value != NULL)
            status = nccl_config_set(config, version, field, value);
    }
    return status != MUSTER_OK ? status : nccl_config_check_ctas(config, version);
}
