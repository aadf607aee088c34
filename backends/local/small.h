/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations whose data is too much for a slot and fits on a tray: one round all the same.
 */
#ifndef MUSTER_LOCAL_SMALL_H
#define MUSTER_LOCAL_SMALL_H

#include "blocks.h"

/* Whether it fits: the same on all ranks. */
bool small_fits(const hall *of);

muster_status small_run(hall *of);

#endif
