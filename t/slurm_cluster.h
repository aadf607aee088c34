/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A Slurm cluster of this test's own: a controller and two nodes on this host, with a
 * configuration, a key, sockets and ports of its own. It needs no root.
 */
#ifndef MUSTER_T_SLURM_CLUSTER_H
#define MUSTER_T_SLURM_CLUSTER_H

#include <stdbool.h>

/* Starts it and waits until both nodes are idle; false with the reason. SLURM_CONF then leads srun
 * to it. */
bool slurm_cluster_start(char *reason, unsigned long size);

/* A folder for the test's files, removed with the cluster. */
const char *slurm_cluster_folder(void);

void slurm_cluster_stop(void);

#endif
