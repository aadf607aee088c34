/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looks after the other ranks of a group whose communicator does not notice that one is lost:
 * processes of this host are looked at, and the store is asked whether a rank has failed.
 */
#ifndef MUSTER_LIB_VIGIL_H
#define MUSTER_LIB_VIGIL_H

#include "group/group.h"

/* Starts and ends the thread that looks. A group without one is left alone. */
muster_status vigil_start(muster_group *group);
void vigil_stop(muster_group *group);

/* After fork, in the child: memory alone. */
void vigil_forget(muster_group *group);

/* An operation begins, and has ended. */
void vigil_begin(muster_group *group);
void vigil_end(muster_group *group);

#endif
