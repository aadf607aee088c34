/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether this host can use NCCL, and why not.
 */
#ifndef MUSTER_BACKENDS_NCCL_PROBE_H
#define MUSTER_BACKENDS_NCCL_PROBE_H

#include "muster/backend.h"

/* The slot of the backend's table. */
muster_status probe(const muster_host *host, muster_backend_info *info);

#endif
