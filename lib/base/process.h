/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which process this is, without asking the system each time: every call on a group wants to know.
 */
#ifndef MUSTER_LIB_PROCESS_H
#define MUSTER_LIB_PROCESS_H

#include <sys/types.h>

/* getpid(), also in a child of fork. */
pid_t process_id(void);

#endif
