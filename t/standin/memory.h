/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: memory of devices, which
 * faults when the host touches it, pinned memory of the host, and managed memory.
 */
#ifndef MUSTER_T_STANDIN_MEMORY_H
#define MUSTER_T_STANDIN_MEMORY_H

#include "driver.h"

/* type is not CUDA_MEMORY_UNREGISTERED. */
cu_result memory_make(int device, cuda_memory_type type, size_t size, void **memory);

/* Takes what memory_make gave; STANDIN_INVALID_VALUE for anything else. */
cu_result memory_drop(void *memory);

/* The allocation that a pointer points into. */
bool memory_find(const void *pointer, standin_memory *found);

/* Where the bytes are that a device sees at pointer; NULL unless all size of them are in one
 * allocation. */
void *memory_reach(const void *pointer, size_t size);

#endif
