/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connecting every rank with every other.
 */
#ifndef MUSTER_BACKENDS_GLOO_MESH_H
#define MUSTER_BACKENDS_GLOO_MESH_H

#include "comm.h"
#include "descriptors.h"

/* Exchanges addresses through the store, connects, hands the connections to Gloo, posts the watch,
 * and greets every peer. before: what was open when it all began. */
muster_status mesh_connect(muster_comm *comm, const muster_open_args *args, deadline end,
                           const descriptors *before);

#endif
