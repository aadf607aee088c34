/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where memory is, as the backends with devices know it. A process that makes no use of devices
 * pays a look at a list for it.
 */
#ifndef MUSTER_LIB_DEVICE_MEMORY_H
#define MUSTER_LIB_DEVICE_MEMORY_H

#include "backend/backend.h"

/* The table of the backend whose devices this process makes use of; NULL: none, so that no pointer
 * can be device memory. Only its in_use may be called yet. */
const muster_device_table *device_memory_in_use(void);

/* The same, ready for all calls. Probes the backend the first time. */
const muster_device_table *device_memory_table(void);

/* "device 1", "host memory", "managed memory". Returns text. */
const char *device_memory_words(const muster_memory_place *place, char *text, size_t size);

#endif
