/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether this process can share memory with others of its host, as far as it can tell by itself.
 */
#ifndef MUSTER_LIB_MEMORY_ACCESS_H
#define MUSTER_LIB_MEMORY_ACCESS_H

typedef struct memory_access {
    char why_not[256]; /* in words; "" where it can */
    char as[128];      /* as whom, in words: it can with those who say the same; "" not known */
} memory_access;

/* What can't be found out for want of descriptors or memory is taken to be there. */
void memory_access_get(memory_access *self);

#endif
