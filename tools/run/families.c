/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process that is started by one launcher inside of another must not see the outer one's ranks:
 * mpirun inside a Slurm job, for one, leaves Slurm's size of 1 in every rank's environment.
 */
#include "families.h"

#include <stddef.h>
#include <string.h>

static const char *const prefixes[] = {
    "OMPI_",  "PMI_",  "PMIX_",      "PRTE_",          "HYDI_", "MPI_LOCAL",     "MV2_COMM_WORLD_",
    "SLURM_", "PALS_", "FLUX_TASK_", "JSM_NAMESPACE_", "PET_",  "TORCHELASTIC_",
};

static const char *const names[] = {
    "RANK",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "GROUP_WORLD_SIZE",
    "ROLE_RANK",
    "ROLE_WORLD_SIZE",
    "ROLE_NAME",
    "FLUX_JOB_SIZE",
    "FLUX_JOB_NNODES",
    "WORLD_SIZE",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "JOB_COMPLETION_INDEX",
    "MUSTER_RANK",
    "MUSTER_SIZE",
    "MUSTER_NUM_NODES",
    "MUSTER_LOCAL_RANK",
    "MUSTER_LOCAL_SIZE",
    "MUSTER_NODE_RANK",
    "MUSTER_MASTER_ADDR",
    "MUSTER_MASTER_PORT",
};

bool families_own(const char *entry)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(entry, names[i], length) == 0 && (entry[length] == '=' || !entry[length]))
            return true;
    }
    return false;
}
