/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a group's device communicator carries: collectives and transfers of device memory whole, and
 * in a group that has no other communicator messages of host memory, through memory of the device.
 * All of it runs on the group's thread.
 */
#ifndef MUSTER_LIB_NATIVE_H
#define MUSTER_LIB_NATIVE_H

#include "collective/batch.h"
#include "collective/message.h"
#include "collective/route.h"

/* Whether messages go this way. */
bool native_alone(muster_group *group);

/* Whether the communicator has the operation for this type and reduction; all ranks come to the
 * same. */
bool native_can(muster_group *group, const collective_call *call);

/* The call as a backend is given it, without counts of ranks. */
muster_call native_plain_call(const muster_group *group, const collective_call *call);

/* Whether all ranks give one count. */
bool native_is_uniform(message_kind kind);

/* Carries out a collective whose buffers the device can reach. */
muster_status native_call(muster_group *group, const collective_call *call,
                          const message_label *label, const layout *out, const layout *in,
                          const route *way, deadline end);

/* ---- native_idle.c ---- */

/*
 * Between two ranks for which a _v operation has nothing either way there are envelopes instead, as
 * where it goes by messages: one of them may be without any buffer, and go by messages then.
 */
muster_status native_tell_idle(muster_group *group, const collective_call *call,
                               const message_label *label, deadline end);

/* ---- native_transfers.c, native_carry.c ---- */

/* The transfers of a batch, all at once; those in host memory through memory of the device. */
muster_status native_transfers(muster_group *group, const batch *all, deadline end);

/* messages_carry() in a group that has no other communicator: the envelopes of all, then what
 * follows them, piece by piece. The other side of each does the same. */
muster_status native_carry(muster_group *group, message *messages, size_t count, deadline end);

/* Frees the memory for that. */
void native_free(muster_group *group);
void native_forget(muster_group *group);

#endif
