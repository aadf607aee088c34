/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: what the calls of its
 * runtime have in common.
 */
#ifndef MUSTER_T_STANDIN_RUNTIME_H
#define MUSTER_T_STANDIN_RUNTIME_H

#include "driver.h"
#include "fault.h"

/* 13000 and so on: each library that is built has one. */
extern const int runtime_version;

/* Begins a call: CUDA_OK with the driver, or what the call is to answer. */
cuda_error runtime_enter(const char *function, const standin_driver **driver);

/* The same for a call that makes use of the thread's device. */
cuda_error runtime_enter_device(const char *function, const standin_driver **driver);

/* Ends a call: remembers an error for cudaGetLastError, and returns it. */
cuda_error runtime_leave(cuda_error error);

#endif
