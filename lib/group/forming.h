/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From a list of ranks to groups that work: opens the communicators, tests them, and agrees on the
 * verdict.
 */
#ifndef MUSTER_LIB_FORMING_H
#define MUSTER_LIB_FORMING_H

#include "group/exchange.h"
#include "group/group.h"

enum { FORMING_MAX_GROUPS = 2 };

/* One group that this process is to be in. */
typedef struct forming_plan {
    muster_group *group;  /* with all but backend, comm and queue filled in */
    const int *positions; /* of its ranks among the participants of the meeting; NULL: the same */
    const char *given;    /* the name that the caller gave, which all must; NULL: none */
    muster_group *parent; /* that splits into this one and its siblings, or NULL */
    int color;            /* of this one among them */
} forming_plan;

/*
 * Makes the groups of the plans at once; collective over the participants of the meeting, each of
 * which has from 0 to FORMING_MAX_GROUPS plans, in an order that is the same everywhere. Takes two
 * rounds of the meeting: one for addresses, one for the verdict. All succeed, or all get the same
 * error; the groups then are only good for group_destroy().
 */
muster_status forming_run(exchange *meeting, const forming_plan *plans, size_t num_plans);

/* host->cancelled for the group that is an owner. */
bool forming_cancelled(const muster_comm_owner *owner);

/* host->exchange for the group that is an owner. */
muster_status forming_exchange(muster_comm_owner *owner, muster_blob mine, const muster_blob **all);

#endif
