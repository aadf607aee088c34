/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening the driver and a runtime that works with it.
 */
#ifndef MUSTER_BACKENDS_NCCL_CUDA_LOAD_H
#define MUSTER_BACKENDS_NCCL_CUDA_LOAD_H

#include "cuda_api.h"
#include "library.h"

extern const library_place cuda_driver_place;

/* Fills the table, or says why there can be none. */
bool cuda_load(cuda_api *api, library_reason *why);

#endif
