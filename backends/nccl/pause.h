/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asking again and again for what takes microseconds mostly, and sometimes long.
 */
#ifndef MUSTER_BACKENDS_NCCL_PAUSE_H
#define MUSTER_BACKENDS_NCCL_PAUSE_H

#include <stdint.h>

/* How long to sleep before the next time: 0, which is to yield, for the first times, then a little
 * longer each time, up to a millisecond. *times is 0 at first. */
int64_t pause_next_ns(int *times);

/* Does it. */
void pause_before_next(int *times);

#endif
