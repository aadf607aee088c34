/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NCCL's functions by name, with the version that brought each.
 */
#include "nccl_api.h"

#define AT(member) offsetof(nccl_api, member)

const nccl_function nccl_functions[] = {
    {"ncclGetVersion", AT(get_version), 0},
    {"ncclGetUniqueId", AT(get_unique_id), 0},
    {"ncclGetErrorString", AT(get_error_string), 0},
    {"ncclGetLastError", AT(get_last_error), 0},
    {"ncclCommInitRankConfig", AT(comm_init_rank_config), 0},
    {"ncclCommInitRankScalable", AT(comm_init_rank_scalable), 22300},
    {"ncclCommFinalize", AT(comm_finalize), 0},
    {"ncclCommDestroy", AT(comm_destroy), 0},
    {"ncclCommAbort", AT(comm_abort), 0},
    {"ncclCommGetAsyncError", AT(comm_get_async_error), 0},
    {"ncclCommSplit", AT(comm_split), 21800},
    {"ncclCommShrink", AT(comm_shrink), 22700},
    {"ncclCommRevoke", AT(comm_revoke), 22807},
    {"ncclCommCount", AT(comm_count), 0},
    {"ncclCommUserRank", AT(comm_user_rank), 0},
    {"ncclCommCuDevice", AT(comm_cu_device), 0},
    {"ncclCommRegister", AT(comm_register), 21900},
    {"ncclCommDeregister", AT(comm_deregister), 21900},
    {"ncclMemAlloc", AT(mem_alloc), 21900},
    {"ncclMemFree", AT(mem_free), 21900},
    {"ncclGroupStart", AT(group_start), 0},
    {"ncclGroupEnd", AT(group_end), 0},
    {"ncclAllReduce", AT(all_reduce), 0},
    {"ncclBroadcast", AT(broadcast), 0},
    {"ncclReduce", AT(reduce), 0},
    {"ncclAllGather", AT(all_gather), 0},
    {"ncclReduceScatter", AT(reduce_scatter), 0},
    {"ncclSend", AT(send), 0},
    {"ncclRecv", AT(recv), 0},
    {"ncclAlltoAll", AT(all_to_all), 22803},
    {"ncclGather", AT(gather), 22803},
    {"ncclScatter", AT(scatter), 22803},
    {"ncclRedOpCreatePreMulSum", AT(red_op_create_pre_mul_sum), 0},
    {"ncclRedOpDestroy", AT(red_op_destroy), 0},
    {.name = NULL},
};
