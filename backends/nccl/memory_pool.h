/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of devices, and pinned memory, that was got from CUDA. To give it back waits until the
 * device is idle, whoever keeps it busy, and may keep other calls from coming to it meanwhile; so
 * it is used again, and given back when no communicator makes use of the device any more.
 */
#ifndef MUSTER_BACKENDS_NCCL_MEMORY_POOL_H
#define MUSTER_BACKENDS_NCCL_MEMORY_POOL_H

#include "cuda_api.h"

/* Memory that nobody uses, of at least that size but not many times as large; NULL: none. */
void *memory_pool_take(int device, bool pinned, size_t size);

/* Takes note of memory that CUDA has given, and that is in use. False without memory for it. */
bool memory_pool_note(int device, bool pinned, size_t size, void *memory);

/* It is not used any more. sound: nothing on the device can still touch it; else nobody gets it
 * again. What was not noted is left alone. */
void memory_pool_give(void *memory, bool sound);

/* Gives what nobody uses back to CUDA. The calling thread has entered the device, and may not come
 * back. Where another thread is at it already, that one does it. */
void memory_pool_trim(const cuda_api *cuda, int device);

#endif
