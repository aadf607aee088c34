/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the programs of t/gpu/run share. They use the libraries that the three variables name, which
 * the script has set: NVIDIA's, or the stand-in's.
 */
#ifndef MUSTER_T_GPU_COMMON_H
#define MUSTER_T_GPU_COMMON_H

#include "grouptest.h"

enum { COMMON_TIMEOUT_MS = 20000 };

/* Whether the script was asked for the fewest sizes and rounds. */
bool common_few(void);

/* A line of the table that the script prints at the end; from one rank alone. */
void common_row(const char *format, ...) TAP_PRINTF(1, 2);

/* The group of all ranks of the case on that backend. Where there is none the test can't go on. */
muster_group *common_group(const char *backend);

/* Frees it when all ranks are done with it. */
void common_leave(muster_group *group);

#endif
