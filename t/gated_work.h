/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations for tests of a group's queue: they wait at a gate, note that they ran, or fail.
 */
#ifndef MUSTER_T_GATED_WORK_H
#define MUSTER_T_GATED_WORK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "group/group.h"

enum { PLENTY_MS = 20000, SHORT_MS = 50, WORK_MANY = 500 };

/* Whose queue it is; the test starts it. */
extern muster_group group;

/* A gate that operations wait at; and opening it on another thread after SHORT_MS. */
void set_gate(bool value);
void *open_later(void *unused);

/* The argument is an int, which is noted when it runs, at once or behind the gate. */
muster_status note(muster_group *of, void *arguments);
muster_status wait_at_gate(muster_group *of, void *arguments);
muster_status nothing(muster_group *of, void *arguments);

/* Fails with "it was <arguments>". */
muster_status fail(muster_group *of, void *arguments);

/* What was noted, and how often; whether that is 0 to count - 1 in order, which begins anew. */
extern atomic_int seen[WORK_MANY];
extern atomic_int num_seen;
bool in_order(int count);

#endif
