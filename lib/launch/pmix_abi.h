/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The small part of PMIx's binary interface that pmix_client.c uses, declared here so that muster
 * builds without its headers. These have been the same from PMIx 3 on; where the real header is
 * found when muster is built, pmix_check.c compares.
 */
#ifndef MUSTER_LIB_PMIX_ABI_H
#define MUSTER_LIB_PMIX_ABI_H

#include <stdbool.h>
#include <stdint.h>

#define PMIX_ABI_LIBRARY "libpmix.so.2"

enum {
    PMIX_ABI_NAME_SIZE = 256, /* of a namespace, its end included */
    PMIX_ABI_KEY_SIZE = 512,
    PMIX_ABI_SUCCESS = 0,
    PMIX_ABI_BOOL = 1, /* types of values */
    PMIX_ABI_STRING = 3,
    PMIX_ABI_UINT32 = 14,
    PMIX_ABI_GLOBAL = 3 /* a scope: all ranks see it */
};
#define PMIX_ABI_ALL_RANKS (UINT32_MAX - 1)
#define PMIX_ABI_KEY_JOB_SIZE "pmix.job.size"
#define PMIX_ABI_KEY_COLLECT "pmix.collect"

typedef struct pmix_abi_process {
    char space[PMIX_ABI_NAME_SIZE];
    uint32_t rank;
} pmix_abi_process;

typedef struct pmix_abi_value {
    uint16_t type;
    union {
        bool flag;
        char *string;
        uint32_t uint32;
        uint64_t room[3];
    } data;
} pmix_abi_value;

typedef struct pmix_abi_info {
    char key[PMIX_ABI_KEY_SIZE];
    uint32_t flags;
    pmix_abi_value value;
} pmix_abi_info;

typedef struct pmix_abi {
    int (*init)(pmix_abi_process *self, pmix_abi_info *infos, size_t num);
    int (*put)(uint8_t scope, const char *key, pmix_abi_value *value);
    int (*commit)(void);
    int (*fence)(const pmix_abi_process *members, size_t num, const pmix_abi_info *infos,
                 size_t num_infos);
    int (*get)(const pmix_abi_process *whose, const char *key, const pmix_abi_info *infos,
               size_t num_infos, pmix_abi_value **value);
    int (*finalize)(const pmix_abi_info *infos, size_t num);
    const char *(*error_string)(int status);
} pmix_abi;

#endif
