/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Giving Gloo a connection that has been made without it.
 */
#ifndef MUSTER_BACKENDS_GLOO_HANDOVER_H
#define MUSTER_BACKENDS_GLOO_HANDOVER_H

#include "comm.h"

/*
 * Makes Gloo's connections of sockets that are connected to the peers: fds has one for each rank,
 * -1 for the own. They are closed, and set to -1, as they are handed over. address is the numeric
 * one of the comm's device.
 */
muster_status handover(muster_comm *comm, int *fds, const char *address, deadline end);

#endif
