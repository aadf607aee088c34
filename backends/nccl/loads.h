/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether libraries were loaded into this process since somebody looked. Every call on a buffer
 * wants to know.
 */
#ifndef MUSTER_BACKENDS_NCCL_LOADS_H
#define MUSTER_BACKENDS_NCCL_LOADS_H

#include <stdatomic.h>
#include <stdbool.h>

struct link_map;

/* What had been loaded at some moment; all zeros: nothing. */
typedef struct loads {
    struct link_map *_Atomic last; /* NULL: not known */
    _Atomic unsigned long long count;
} loads;

loads loads_now(void);

/* For others to look at, on any thread. */
void loads_keep(loads *where, const loads *seen);

/* False too where that isn't known. */
bool loads_none_since(const loads *seen);

#endif
