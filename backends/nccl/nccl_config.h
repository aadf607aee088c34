/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The fields of ncclConfig_t, with the version of NCCL that brought each and the option that sets
 * it. Size, version and refusals all follow from this one table.
 */
#ifndef MUSTER_BACKENDS_NCCL_NCCL_CONFIG_H
#define MUSTER_BACKENDS_NCCL_NCCL_CONFIG_H

#include "muster/backend.h"
#include "nccl_abi.h"

typedef struct nccl_config_field {
    const char *option; /* "nccl.max_ctas" */
    size_t offset;      /* in struct nccl_config */
    bool text;          /* a const char *, not an int */
    int since;          /* as NCCL numbers its versions */
    int lowest, highest;
    const char *variable; /* of NCCL's environment, which wins over the field; NULL: none */
} nccl_config_field;

/* In the order of the struct; ended by one whose option is NULL. */
extern const nccl_config_field nccl_config_fields[];

/* The newest version whose fields are all known here. */
enum { NCCL_CONFIG_NEWEST = 23203 };

/* sizeof(ncclConfig_t) of that version. */
size_t nccl_config_size(int version);

/* A config that leaves all to the library of that version, but for blocking, which is 0. */
void nccl_config_init(nccl_config *config, int version);

/*
 * Fills a config for the library of that version from the options of the owner's group. Fails with
 * a sentence for a value that NCCL would refuse, or would drop silently since it is too old for it.
 * Strings are the options' own, which live as long as the communicator does.
 */
muster_status nccl_config_fill(nccl_config *config, int version, const muster_comm_owner *owner);

#endif
