/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which namespaces of the kernel this process is in.
 */
#ifndef MUSTER_LIB_NAMESPACE_H
#define MUSTER_LIB_NAMESPACE_H

#include <stdint.h>

/* The number of this process's namespace of a kind, "pid", "net" or "user"; 0: not known. */
uint64_t namespace_number(const char *kind);

#endif
