/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of this backend: those of NCCL's config (nccl_config.h), and nccl.device and
 * nccl.high_priority_stream, which say where operations run.
 */
#ifndef MUSTER_BACKENDS_NCCL_OPTIONS_H
#define MUSTER_BACKENDS_NCCL_OPTIONS_H

#include "muster/backend.h"

/* Ended by one whose name is NULL. */
extern const muster_option nccl_options[];

#endif
