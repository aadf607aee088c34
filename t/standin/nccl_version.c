/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: which version a library
 * of NCCL says it is.
 */
#include "config.h"

#include "nccl_comm.h"

const int nccl_version = STANDIN_NCCL_VERSION;
