/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Breaking off a group, from another thread or from a signal handler.
 */
#ifndef MUSTER_LIB_ABORT_H
#define MUSTER_LIB_ABORT_H

#include "group/group.h"

/* Ends the thread that waits for a signal handler's word. NULL does nothing. */
void abort_listener_stop(abort_listener *listener);

/* After fork, in the child: frees the memory alone. */
void abort_listener_forget(abort_listener *listener);

#endif
