/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator of several ranks comes to be.
 */
#ifndef MUSTER_LOCAL_BIRTH_H
#define MUSTER_LOCAL_BIRTH_H

#include "comm.h"

/* Collective: fills a communicator that is new. Where it fails the watch has been left, and the
 * rest is the caller's to free. */
muster_status birth(muster_comm *comm, const muster_open_args *args);

#endif
