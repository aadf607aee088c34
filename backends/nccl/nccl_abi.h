/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What this backend needs of NCCL's binary interface, in names of its own, so that no header of
 * NVIDIA's is needed to build it. Nothing here ever changed between 2.14 and 2.32; things were only
 * added, and each says when. t/nccl_abi.c compares all of it with the real header where there is
 * one.
 */
#ifndef MUSTER_BACKENDS_NCCL_NCCL_ABI_H
#define MUSTER_BACKENDS_NCCL_NCCL_ABI_H

#include <limits.h>
#include <stddef.h>

/* A communicator. */
typedef struct nccl_comm nccl_comm;

/* Handed over by value. It holds the address of the rank that made it. */
typedef struct nccl_unique_id {
    char internal[128];
} nccl_unique_id;

/* There are others by now and there will be more: what is not named here is an error. */
typedef enum nccl_result {
    NCCL_SUCCESS = 0,
    NCCL_UNHANDLED_CUDA_ERROR = 1,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_ARGUMENT = 4, /* the call had no effect, the communicator is still good */
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
    NCCL_IN_PROGRESS = 7
} nccl_result;

typedef enum nccl_type {
    NCCL_INT8 = 0,
    NCCL_UINT8 = 1,
    NCCL_INT32 = 2,
    NCCL_UINT32 = 3,
    NCCL_INT64 = 4,
    NCCL_UINT64 = 5,
    NCCL_FLOAT16 = 6,
    NCCL_FLOAT32 = 7,
    NCCL_FLOAT64 = 8,
    NCCL_BFLOAT16 = 9,
    NCCL_FLOAT8_E4M3 = 10, /* 2.24, and reductions from compute capability 9.0 on only */
    NCCL_FLOAT8_E5M2 = 11  /* likewise */
} nccl_type;

/* Those that a program makes have numbers from NCCL_FIRST_OWN_OP on. */
typedef enum nccl_op {
    NCCL_SUM = 0,
    NCCL_PROD = 1,
    NCCL_MAX = 2,
    NCCL_MIN = 3,
    NCCL_AVG = 4,
    NCCL_FIRST_OWN_OP = 5,
    NCCL_LAST_OP = INT_MAX
} nccl_op;

/* Where the scalar of a pre-multiplied sum is read. */
typedef enum nccl_scalar_residence {
    NCCL_SCALAR_DEVICE = 0,
    NCCL_SCALAR_HOST = 1 /* before the call returns */
} nccl_scalar_residence;

enum {
    NCCL_SPLIT_NO_COLOR = -1,
    NCCL_SHRINK_DEFAULT = 0,
    NCCL_SHRINK_ABORT = 1, /* ends what runs on the parent first */

    /* How versions are written in one number: 2.14.3 is 21403. */
    NCCL_VERSION_MAJOR_UNIT = 10000,
    NCCL_VERSION_MINOR_UNIT = 100,

    NCCL_CONFIG_MAGIC = (int)0xcafebeef,
    NCCL_CONFIG_UNSET = INT_MIN
};

/*
 * How a communicator is to be, as 2.32.3 lays it out. A library takes the first size bytes of it,
 * at most as many as it knows, and says nothing about the rest; and it resets fields that it thinks
 * newer than version. So a struct is filled for the library that is there: see nccl_config.h.
 * Strings that are not set are NULL, numbers NCCL_CONFIG_UNSET.
 */
typedef struct nccl_config {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking; /* 2.14; before 2.17 it can't be left unset */
    int cga_cluster_size;
    int min_ctas; /* refused where max_ctas is unset */
    int max_ctas;
    const char *net_name;
    int split_share;
    int traffic_class;
    const char *comm_name; /* not copied: must live as long as the communicator */
    int collnet_enable;
    int cta_policy;
    int shrink_share;
    int nvls_ctas;
    int n_channels_per_net_peer;
    int nvlink_centric_sched;
    int graph_usage_mode;
    int num_rma_ctx;
    int max_p2p_peers;
    int graph_stream_ordering;
    int launch_order_implicit;
    int num_rma_sig;
    int rma_eager_init;
    int host_cft_mode;
    int nvls_host_mode;
    int not_yet; /* padding, where the next field will be */
} nccl_config;

#endif
