/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Binding the calling thread and its memory, and nothing else of the process.
 */
#ifndef MUSTER_LIB_BINDING_H
#define MUSTER_LIB_BINDING_H

#include "machine/cpu_set.h"

typedef enum binding_to {
    BINDING_NONE,
    BINDING_CORE,
    BINDING_NUMA,
    BINDING_DEVICE,
} binding_to;

/* "none", "core", "numa", "device": MUSTER_ERR_ARGUMENT for another, naming the nearest. */
muster_status binding_read(const char *text, binding_to *to);

/* Binds the calling thread; those that it starts later inherit it. Takes no memory. */
muster_status binding_cpus(const cpu_set *cpus);

/* Memory that the calling thread touches first, and threads that it starts later, comes from the
 * NUMA node as long as there is some; a kernel that can't do so is none the worse. */
void binding_memory(int node);

#endif
