/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NCCL's interface as the backend declares it, compared with NVIDIA's header: numbers, sizes, the
 * config and every function's type. What it compares it compares when it is compiled.
 */
#include "config.h"

#include "tap.h"

#ifdef HAVE_NCCL_HEADER
#include <nccl.h>
#else
#define NCCL_VERSION_CODE 0
#endif

#if NCCL_VERSION_CODE < 21400

int main(void)
{
    plan_skip_all("no nccl.h of 2.14 or later to compare with");
}

#else

#include <string.h>

/* The types that functions are declared with are NVIDIA's own here. */
#define nccl_comm struct ncclComm
#define nccl_unique_id ncclUniqueId
#define nccl_result ncclResult_t
#define nccl_config ncclConfig_t
#define nccl_type ncclDataType_t
#define nccl_op ncclRedOp_t
#define nccl_scalar_residence ncclScalarResidence_t
#define cuda_stream cudaStream_t
#define MUSTER_BACKENDS_NCCL_NCCL_ABI_H
#define MUSTER_BACKENDS_NCCL_CUDA_ABI_H
#include "nccl_api.h"
#undef nccl_comm
#undef nccl_unique_id
#undef nccl_result
#undef nccl_config
#undef nccl_type
#undef nccl_op
#undef nccl_scalar_residence
#undef cuda_stream
#undef MUSTER_BACKENDS_NCCL_NCCL_ABI_H

#ifdef NCCL_SHRINK_DEFAULT
/* The names are the same. */
enum { THEIR_SHRINK_DEFAULT = NCCL_SHRINK_DEFAULT, THEIR_SHRINK_ABORT = NCCL_SHRINK_ABORT };
#undef NCCL_SHRINK_DEFAULT
#undef NCCL_SHRINK_ABORT
#endif
#include "nccl_abi.h"

#define FUNCTION(member, name)                                                                     \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(((nccl_api *)NULL)->member), __typeof__(&name)),   \
        #name)
#define NUMBER(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define FIELD(ours, theirs)                                                                        \
    _Static_assert(offsetof(nccl_config, ours) == offsetof(ncclConfig_t, theirs) &&                \
                       sizeof(((nccl_config *)NULL)->ours) ==                                      \
                           sizeof(((ncclConfig_t *)NULL)->theirs),                                 \
                   #theirs)

FUNCTION(get_version, ncclGetVersion);
FUNCTION(get_unique_id, ncclGetUniqueId);
FUNCTION(get_error_string, ncclGetErrorString);
FUNCTION(get_last_error, ncclGetLastError);
FUNCTION(comm_init_rank_config, ncclCommInitRankConfig);
FUNCTION(comm_finalize, ncclCommFinalize);
FUNCTION(comm_destroy, ncclCommDestroy);
FUNCTION(comm_abort, ncclCommAbort);
FUNCTION(comm_get_async_error, ncclCommGetAsyncError);
FUNCTION(comm_count, ncclCommCount);
FUNCTION(comm_user_rank, ncclCommUserRank);
FUNCTION(comm_cu_device, ncclCommCuDevice);
FUNCTION(group_start, ncclGroupStart);
FUNCTION(group_end, ncclGroupEnd);
FUNCTION(all_reduce, ncclAllReduce);
FUNCTION(broadcast, ncclBroadcast);
FUNCTION(reduce, ncclReduce);
FUNCTION(all_gather, ncclAllGather);
FUNCTION(reduce_scatter, ncclReduceScatter);
FUNCTION(send, ncclSend);
FUNCTION(recv, ncclRecv);
FUNCTION(red_op_create_pre_mul_sum, ncclRedOpCreatePreMulSum);
FUNCTION(red_op_destroy, ncclRedOpDestroy);

NUMBER(NCCL_SUCCESS, ncclSuccess);
NUMBER(NCCL_UNHANDLED_CUDA_ERROR, ncclUnhandledCudaError);
NUMBER(NCCL_SYSTEM_ERROR, ncclSystemError);
NUMBER(NCCL_INTERNAL_ERROR, ncclInternalError);
NUMBER(NCCL_INVALID_ARGUMENT, ncclInvalidArgument);
NUMBER(NCCL_INVALID_USAGE, ncclInvalidUsage);
NUMBER(NCCL_REMOTE_ERROR, ncclRemoteError);
NUMBER(NCCL_IN_PROGRESS, ncclInProgress);
NUMBER(NCCL_INT8, ncclInt8);
NUMBER(NCCL_UINT8, ncclUint8);
NUMBER(NCCL_INT32, ncclInt32);
NUMBER(NCCL_UINT32, ncclUint32);
NUMBER(NCCL_INT64, ncclInt64);
NUMBER(NCCL_UINT64, ncclUint64);
NUMBER(NCCL_FLOAT16, ncclFloat16);
NUMBER(NCCL_FLOAT32, ncclFloat32);
NUMBER(NCCL_FLOAT64, ncclFloat64);
NUMBER(NCCL_SUM, ncclSum);
NUMBER(NCCL_PROD, ncclProd);
NUMBER(NCCL_MAX, ncclMax);
NUMBER(NCCL_MIN, ncclMin);
NUMBER(NCCL_AVG, ncclAvg);
NUMBER(NCCL_FIRST_OWN_OP, ncclNumOps);
NUMBER(NCCL_LAST_OP, ncclMaxRedOp);
NUMBER(NCCL_SCALAR_DEVICE, ncclScalarDevice);
NUMBER(NCCL_SCALAR_HOST, ncclScalarHostImmediate);

/* Enumerations and the id go over as they are. */
NUMBER(sizeof(nccl_unique_id), sizeof(ncclUniqueId));
NUMBER(sizeof(nccl_result), sizeof(ncclResult_t));
NUMBER(sizeof(nccl_type), sizeof(ncclDataType_t));
NUMBER(sizeof(nccl_op), sizeof(ncclRedOp_t));
NUMBER(sizeof(nccl_scalar_residence), sizeof(ncclScalarResidence_t));

FIELD(size, size);
FIELD(magic, magic);
FIELD(version, version);
FIELD(blocking, blocking);
#if NCCL_VERSION_CODE >= 21700
NUMBER(NCCL_CONFIG_UNSET, NCCL_CONFIG_UNDEF_INT);
FIELD(cga_cluster_size, cgaClusterSize);
FIELD(min_ctas, minCTAs);
FIELD(max_ctas, maxCTAs);
FIELD(net_name, netName);
#endif
#if NCCL_VERSION_CODE >= 21800
FIELD(split_share, splitShare);
FUNCTION(comm_split, ncclCommSplit);
NUMBER(NCCL_SPLIT_NO_COLOR, NCCL_SPLIT_NOCOLOR);
#endif
#if NCCL_VERSION_CODE >= 21900
FUNCTION(comm_register, ncclCommRegister);
FUNCTION(comm_deregister, ncclCommDeregister);
FUNCTION(mem_alloc, ncclMemAlloc);
FUNCTION(mem_free, ncclMemFree);
#endif
#if NCCL_VERSION_CODE >= 22300
FUNCTION(comm_init_rank_scalable, ncclCommInitRankScalable);
#endif
#if NCCL_VERSION_CODE >= 22400 || defined(__CUDA_BF16_TYPES_EXIST__)
NUMBER(NCCL_BFLOAT16, ncclBfloat16);
#endif
#if NCCL_VERSION_CODE >= 22400
NUMBER(NCCL_FLOAT8_E4M3, ncclFloat8e4m3);
NUMBER(NCCL_FLOAT8_E5M2, ncclFloat8e5m2);
#endif
#if NCCL_VERSION_CODE >= 22602
FIELD(traffic_class, trafficClass);
#endif
#if NCCL_VERSION_CODE >= 22700
FIELD(comm_name, commName);
FIELD(collnet_enable, collnetEnable);
FIELD(cta_policy, CTAPolicy);
FIELD(shrink_share, shrinkShare);
FIELD(nvls_ctas, nvlsCTAs);
FUNCTION(comm_shrink, ncclCommShrink);
NUMBER(NCCL_SHRINK_DEFAULT, THEIR_SHRINK_DEFAULT);
NUMBER(NCCL_SHRINK_ABORT, THEIR_SHRINK_ABORT);
#endif
#if NCCL_VERSION_CODE >= 22803
FIELD(n_channels_per_net_peer, nChannelsPerNetPeer);
FIELD(nvlink_centric_sched, nvlinkCentricSched);
FUNCTION(all_to_all, ncclAlltoAll);
FUNCTION(gather, ncclGather);
FUNCTION(scatter, ncclScatter);
#endif
#if NCCL_VERSION_CODE >= 22807
FUNCTION(comm_revoke, ncclCommRevoke);
#endif
#if NCCL_VERSION_CODE >= 22902
FIELD(graph_usage_mode, graphUsageMode);
FIELD(num_rma_ctx, numRmaCtx);
#endif
#if NCCL_VERSION_CODE >= 23003
FIELD(max_p2p_peers, maxP2pPeers);
#endif
#if NCCL_VERSION_CODE >= 23005
FIELD(graph_stream_ordering, graphStreamOrdering);
#endif
#if NCCL_VERSION_CODE >= 23102
FIELD(launch_order_implicit, launchOrderImplicit);
FIELD(num_rma_sig, numRmaSig);
FIELD(rma_eager_init, rmaEagerInit);
FIELD(host_cft_mode, hostCftMode);
#endif
#if NCCL_VERSION_CODE >= 23203
FIELD(nvls_host_mode, nvlsHostMode);
#endif

#include "nccl_config.h"

/* Whether all fields that the header has are alike. */
static bool same_fields(const nccl_config *ours, const ncclConfig_t *theirs)
{
    bool same = true;
    for (const nccl_config_field *field = nccl_config_fields; field->option != NULL; field++)
        if (field->since <= NCCL_VERSION_CODE &&
            memcmp((const char *)ours + field->offset, (const char *)theirs + field->offset,
                   field->text ? sizeof(char *) : sizeof(int)) != 0) {
            diag("%s differs", field->option);
            same = false;
        }
    return same;
}

/* What nccl_config_init makes is what the header's own initialiser makes, but for blocking, which
 * is always set. */
static void check_initialiser(void)
{
    ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
    nccl_config ours;
    nccl_config_init(&ours, NCCL_VERSION_CODE);
    theirs.blocking = 0;
    is_int(ours.magic, theirs.magic, "the magic number of a config");
    ok(same_fields(&ours, &theirs), "its fields");
    if (NCCL_VERSION_CODE > NCCL_CONFIG_NEWEST) {
        skip(2, "nccl.h is newer than the newest that is known here");
        return;
    }
    is_int((long long)ours.size, sizeof(theirs), "its size");
    is_int(ours.version, theirs.version, "its version");
}

int main(void)
{
    plan(5);
    ok(true, "all declarations are those of nccl.h %d.%d.%d", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH);
    check_initialiser();
    return done();
}

#endif
