/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: how its NCCL reads an
 * ncclConfig_t, by the rules of its version.
 */
#ifndef MUSTER_T_STANDIN_CONFIG_H
#define MUSTER_T_STANDIN_CONFIG_H

#include "nccl_abi.h"

/* Reads what the caller gave, NULL for nothing, into one where nothing is unset; what is not given
 * is as in base, or NCCL's own where that is NULL. */
nccl_result config_read(const nccl_config *given, const nccl_config *base, nccl_config *config);

#endif
