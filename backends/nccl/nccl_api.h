/* SPDX-License-Identifier: BSD-3-Clause
 *
 * NCCL's functions, taken by name from the library that is found when the program runs.
 */
#ifndef MUSTER_BACKENDS_NCCL_NCCL_API_H
#define MUSTER_BACKENDS_NCCL_NCCL_API_H

#include "cuda_abi.h"
#include "muster/backend.h"
#include "nccl_abi.h"

/* The table that probe was given. */
extern const muster_host *nccl_host;

/* Those with a version behind them are NULL in a library that is older; all others are there. */
typedef struct nccl_api {
    int version;           /* 22809: of the library */
    char version_text[16]; /* "2.28.9" */
    char file[256];        /* where it lies, or how it was asked for */

    nccl_result (*get_version)(int *version);
    nccl_result (*get_unique_id)(nccl_unique_id *id);
    const char *(*get_error_string)(nccl_result result);
    const char *(*get_last_error)(nccl_comm *comm); /* comm may be NULL */

    nccl_result (*comm_init_rank_config)(nccl_comm **comm, int num_ranks, nccl_unique_id id,
                                         int rank, nccl_config *config);
    nccl_result (*comm_init_rank_scalable)(nccl_comm **comm, int num_ranks, int rank, int num_ids,
                                           nccl_unique_id *ids, nccl_config *config); /* 2.23 */
    nccl_result (*comm_finalize)(nccl_comm *comm);
    nccl_result (*comm_destroy)(nccl_comm *comm);
    nccl_result (*comm_abort)(nccl_comm *comm);
    nccl_result (*comm_get_async_error)(nccl_comm *comm, nccl_result *result);
    nccl_result (*comm_split)(nccl_comm *comm, int color, int key, nccl_comm **made,
                              nccl_config *config); /* 2.18 */
    nccl_result (*comm_shrink)(nccl_comm *comm, int *excluded, int num_excluded, nccl_comm **made,
                               nccl_config *config, int flags); /* 2.27 */
    nccl_result (*comm_revoke)(nccl_comm *comm, int flags);     /* 2.28.7 */
    nccl_result (*comm_count)(nccl_comm *comm, int *count);
    nccl_result (*comm_user_rank)(nccl_comm *comm, int *rank);
    nccl_result (*comm_cu_device)(nccl_comm *comm, int *device);

    nccl_result (*comm_register)(nccl_comm *comm, void *memory, size_t size,
                                 void **handle);                   /* 2.19 */
    nccl_result (*comm_deregister)(nccl_comm *comm, void *handle); /* 2.19 */
    nccl_result (*mem_alloc)(void **memory, size_t size);          /* 2.19 */
    nccl_result (*mem_free)(void *memory);                         /* 2.19 */

    nccl_result (*group_start)(void);
    nccl_result (*group_end)(void);

    nccl_result (*all_reduce)(const void *send, void *receive, size_t count, nccl_type type,
                              nccl_op op, nccl_comm *comm, cuda_stream stream);
    nccl_result (*broadcast)(const void *send, void *receive, size_t count, nccl_type type,
                             int root, nccl_comm *comm, cuda_stream stream);
    nccl_result (*reduce)(const void *send, void *receive, size_t count, nccl_type type, nccl_op op,
                          int root, nccl_comm *comm, cuda_stream stream);
    nccl_result (*all_gather)(const void *send, void *receive, size_t send_count, nccl_type type,
                              nccl_comm *comm, cuda_stream stream);
    nccl_result (*reduce_scatter)(const void *send, void *receive, size_t receive_count,
                                  nccl_type type, nccl_op op, nccl_comm *comm, cuda_stream stream);
    nccl_result (*send)(const void *data, size_t count, nccl_type type, int peer, nccl_comm *comm,
                        cuda_stream stream);
    nccl_result (*recv)(void *data, size_t count, nccl_type type, int peer, nccl_comm *comm,
                        cuda_stream stream);
    nccl_result (*all_to_all)(const void *send, void *receive, size_t count, nccl_type type,
                              nccl_comm *comm, cuda_stream stream); /* 2.28.3 */
    nccl_result (*gather)(const void *send, void *receive, size_t count, nccl_type type, int root,
                          nccl_comm *comm, cuda_stream stream); /* 2.28.3 */
    nccl_result (*scatter)(const void *send, void *receive, size_t count, nccl_type type, int root,
                           nccl_comm *comm, cuda_stream stream); /* 2.28.3 */

    nccl_result (*red_op_create_pre_mul_sum)(nccl_op *op, void *scalar, nccl_type type,
                                             nccl_scalar_residence residence, nccl_comm *comm);
    nccl_result (*red_op_destroy)(nccl_op op, nccl_comm *comm);
} nccl_api;

/* One row of the table of functions. */
typedef struct nccl_function {
    const char *name;
    size_t offset; /* of the pointer in struct nccl_api */
    int since;     /* version that brought it, as NCCL numbers them; the library that has that
                      version and lacks it is refused. 0: older than all that are taken */
} nccl_function;

/* Ended by a row whose name is NULL. */
extern const nccl_function nccl_functions[];

enum { NCCL_OLDEST = 21400 }; /* the first whose communicators can be bounded in time */

/*
 * Opens the library once in a process and never closes it: the one that MUSTER_NCCL_LIBRARY names,
 * else the one that the process has loaded, else the loader's libnccl.so.2. Fails with a sentence
 * where there is none, it is older than NCCL_OLDEST or lacks what its version has; fails the same
 * way every time after that. May be called from any thread.
 */
muster_status nccl_api_load(const nccl_api **api);

/* The same, with the reason instead of a sentence. */
bool nccl_api_try(const nccl_api **api, const char **why);

/* Whether opening it takes no time to speak of, or was asked for: something in the process has
 * loaded it, or it is named. Its file has hundreds of megabytes. */
bool nccl_api_is_near(void);

/* Writes a version as words: 22809 as "2.28.9". Returns text. */
enum { NCCL_VERSION_TEXT = 16 };
const char *nccl_version_text(int version, char text[NCCL_VERSION_TEXT]);

#endif
