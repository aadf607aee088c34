/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank's own view, and the page of memory by which ranks meet.
 */
#ifndef MUSTER_T_RANKS_SELF_H
#define MUSTER_T_RANKS_SELF_H

#include <stdatomic.h>
#include <stdint.h>

#include "ranks.h"

struct meeting {
    _Atomic uint32_t generation; /* counts the barriers that are over; waited for by futex */
    atomic_int arrived;
    atomic_int pids[RANKS_MOST];
};

struct self {
    int rank;
    int size;
    struct meeting *meeting;
};

/* Says who this thread is. */
void self_set(const struct self *self);

/* Whether this process was started as a rank. */
bool self_is_rank(void);

/* Runs the body of this rank's case; what main() returns. */
int self_main(const struct ranks_case *cases, size_t count);

#endif
