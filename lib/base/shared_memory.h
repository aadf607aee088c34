/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that processes of one host can share.
 */
#ifndef MUSTER_LIB_SHARED_MEMORY_H
#define MUSTER_LIB_SHARED_MEMORY_H

/* A descriptor, close-on-exec, of memory of no bytes that has no name, or none any more; -1 with
 * errno. */
int shared_memory_make(void);

#endif
