/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations of so little data that it goes along in the slots that ranks meet by: one line from
 * each rank to those that wait for it.
 */
#ifndef MUSTER_LOCAL_BRIEF_H
#define MUSTER_LOCAL_BRIEF_H

#include "hall_memory.h"

/* Whether it is one of them: the same on all ranks. */
bool brief_fits(const muster_call *call);

muster_status brief_run(hall *of);

#endif
