/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nccl backend: the table that the core sees.
 */
#include "comm.h"
#include "device.h"
#include "options.h"
#include "probe.h"

__attribute__((visibility("default"))) extern const muster_backend muster_backend_1;

const muster_backend muster_backend_1 = {
    .abi = MUSTER_BACKEND_ABI,
    .size = sizeof(muster_backend),
    .name = "nccl",
    .priority = 20,
    .options = nccl_options,
    .probe = probe,
    .open = comm_open,
    .wait = comm_wait,
    .abort = comm_abort,
    .close = comm_close,
    .forget = comm_forget,
    .describe = comm_describe,
    .devices = &nccl_devices,
    .can = comm_can,
    .call = comm_call,
    .test = comm_test,
};
