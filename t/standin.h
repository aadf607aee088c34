/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stand-in for hardware: a driver, a runtime and an NCCL in the place of NVIDIA's, which work
 * between processes of one host (and of one network namespace) and make no claim about hardware.
 * Device memory faults when the host touches it, streams run what they are given later.
 *
 * More is said by the environment, before the first call of a process:
 *   MUSTER_STANDIN_DEVICES   t/standin/devices.h, with CUDA_VISIBLE_DEVICES
 *   MUSTER_STANDIN_DRIVER    t/standin/driver.c: a stub, too old, no device
 *   MUSTER_STANDIN_DELAY_US  t/standin/stream.h: how much later streams run
 *   MUSTER_STANDIN_PEERS     t/standin/nccl_operation.c: whether a dead peer is noticed
 *   MUSTER_STANDIN_FAULTS    t/standin/fault.h: at any time
 *   NCCL_HOSTID, NCCL_COMM_BLOCKING, NCCL_MULTI_RANK_GPU_ENABLE as NCCL has them
 */
#ifndef MUSTER_T_STANDIN_H
#define MUSTER_T_STANDIN_H

/*
 * Points MUSTER_CUDA_LIBRARY, MUSTER_CUDART_LIBRARY and MUSTER_NCCL_LIBRARY to the stand-in, with
 * an NCCL of this version: "2.13", "2.14", "2.18", "2.23", "2.28" or "2.30". Call it before
 * anything of muster. Where t/gpu/run has set them (T_GPU_AS_IT_IS) they stay as they are.
 */
void standin_use(const char *nccl_version);

/* The same for the runtime alone: "11", "12" or "13", which is what standin_use takes. */
void standin_use_runtime(const char *major);

/* The file of a part: "libcuda", "libcudart-12", "libnccl-2.18". The text lives until the next
 * call. */
const char *standin_file(const char *part);

/* A function of one of the three libraries, which are loaded for it; NULL if it has none of that
 * name. Cast it to its type. */
void *standin_function(const char *name);

#endif
