/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages: posting one, and waiting for it. The functions are the backend's slots.
 */
#ifndef MUSTER_LOCAL_MESSAGE_H
#define MUSTER_LOCAL_MESSAGE_H

#include "comm.h"

muster_status message_post_send(muster_comm *comm, int peer, uint64_t slot, const void *data,
                                size_t size, muster_request **request);
muster_status message_post_recv(muster_comm *comm, int peer, uint64_t slot, void *data, size_t size,
                                muster_request **request);
muster_status message_wait(muster_comm *comm, muster_request *request, int64_t timeout_ms);

#endif
