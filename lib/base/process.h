/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which process this is, without asking the system each time: every call on a group wants to know.
 */
#ifndef MUSTER_LIB_PROCESS_H
#define MUSTER_LIB_PROCESS_H

#include <stdatomic.h>
#include <sys/types.h>

/* What is known of it; 0: nothing. */
extern _Atomic pid_t process_known;

/* Asks the system. */
pid_t process_ask(void);

/* getpid(), also in a child of fork. */
static inline pid_t process_id(void)
{
    pid_t id = atomic_load_explicit(&process_known, memory_order_relaxed);
    return id != 0 ? id : process_ask();
}

#endif
