/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the stand-in's devices, for tests of what a program sees of them.
 */
#ifndef MUSTER_T_GPU_MEMORY_H
#define MUSTER_T_GPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef enum gpu_place { GPU_HOST, GPU_DEVICE, GPU_MANAGED, GPU_PLACES } gpu_place;

extern const char *const gpu_place_names[GPU_PLACES];

/* Makes use of a device, as a program does that has one of its own. */
void gpu_take(int ordinal);

/* Memory of that kind; on the device that was taken last. */
void *gpu_alloc(gpu_place place, size_t size);
void gpu_free(gpu_place place, void *memory);

/* Copies between host memory and any; has ended when it returns. */
void gpu_put(void *to, const void *from, size_t size);
void gpu_get(void *to, const void *from, size_t size);

/* A stream of the device, and a copy on it that has begun. */
void *gpu_stream(void);
void gpu_copy_later(void *stream, void *to, const void *from, size_t size);
void gpu_stream_free(void *stream);

#endif
