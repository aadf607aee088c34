/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The failed state of a group: the first cause is kept, published to the other ranks and quoted by
 * them.
 */
#ifndef MUSTER_LIB_FAILURE_H
#define MUSTER_LIB_FAILURE_H

#include "group/group.h"

void failure_init(group_failure *failure);
void failure_destroy(group_failure *failure);

/* failure_check of a group that has failed. */
muster_status failure_say(muster_group *group);

/* The status of the group's failure with its sentence set, or MUSTER_OK. */
static inline muster_status failure_check(muster_group *group)
{
    if (atomic_load_explicit(&group->failure.status, memory_order_acquire) == MUSTER_OK)
        return MUSTER_OK;
    return failure_say(group);
}

/* The status of the group's failure as far as it is known, or MUSTER_OK, without a sentence; it
 * does not wait. */
muster_status failure_begun(muster_group *group);

/* Another rank, or another thread of this one, knows why the group fails, and is about to say so as
 * soon as it is given a core: waits for that a moment. */
void failure_await(muster_group *group);

/* The group has failed with the thread's last error as the reason, seen by this rank itself: keeps
 * it, tells the others, breaks the communicator. Returns what is then known as the first cause. */
muster_status failure_raise(muster_group *group, muster_status status);

/* The same where others must know more: a cause that one of them tells within a moment is the
 * first.
 */
muster_status failure_raise_unless_known(muster_group *group, muster_status status);

/* An operation has timed out; sequence and what say which. Finds out which ranks did not take part,
 * as all ranks that did agree on it. peer is the one that was waited for, -1 where that is unknown.
 * hint ends the sentence. */
muster_status failure_raise_timeout(muster_group *group, uint64_t sequence, const char *what,
                                    int peer, const char *hint);

/* This rank breaks the group off, for the reason given in words behind "since". Calls that wait are
 * let go as soon as the others are told why, and where that takes long before it. */
void failure_break_off(muster_group *group, const char *reason);

/* This rank frees the group with operations under way: they end, and the others are told that it is
 * gone. */
void failure_leave(muster_group *group);

/* Before a group that has failed is freed: where the store ends with this process, it stays a
 * moment for ranks that have yet to learn the cause. */
void failure_see_others_told(muster_group *group);

/* host->broken for this group: rank was lost or says that it has failed. */
void failure_reported(muster_comm_owner *owner, int rank, muster_status status,
                      const char *sentence);

#endif
