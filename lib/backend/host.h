/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions that a backend may call, and the core's side of a communicator that they act on.
 */
#ifndef MUSTER_LIB_HOST_H
#define MUSTER_LIB_HOST_H

#include "muster/backend.h"

/* Whoever opens a communicator embeds this and fills it; the slots are those of struct muster_host.
 */
struct muster_comm_owner {
    const char *(*option)(const muster_comm_owner *owner, const char *name);
    muster_status (*exchange)(muster_comm_owner *owner, muster_blob mine, const muster_blob **all);
    bool (*cancelled)(const muster_comm_owner *owner);
    void (*broken)(muster_comm_owner *owner, int rank, muster_status status, const char *sentence);
};

/* Given to every backend's probe. */
extern const muster_host host_functions;

#endif
