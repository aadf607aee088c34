/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A call that makes groups of a group, from its arguments to its groups.
 *
 * There are two ways to meet: all ranks of the parent (sub-groups by enumeration, split,
 * create_sub_group), or the members alone (muster_new_group). Either way one exchange makes all the
 * groups of a call. Whoever finds its arguments wrong tells the others through the exchange, so
 * that nobody waits for it.
 */
#ifndef MUSTER_LIB_MAKING_H
#define MUSTER_LIB_MAKING_H

#include "base/error.h"
#include "group/exchange.h"
#include "group/group.h"

/* One group of the call that the caller is in. */
typedef struct membership {
    int *ranks; /* of the parent, in the order of the new group */
    int size;
    const char *label; /* "", or what tells the groups of one call apart: "regular " */
    char *name;        /* the automatic one, without its count; filled in by making_form */
    bool splits;       /* every rank of the parent is in a group of two or more, in its order */
    int color;         /* then: tells the groups apart */
} membership;

/* A call that makes groups. */
typedef struct making {
    muster_group *parent;
    const char *function;
    muster_group_args args;
    int64_t timeout_ms;
    int64_t began_ns;
    long long operations_before;
    error_kept before; /* the thread's sentence, which a call that succeeds leaves alone */
    turn mine;
    exchange meeting;
    const int *participants; /* of the parent, ascending; NULL: all of its ranks */
} making;

/* Begins a call: parent must be a group that works. */
muster_status making_start(making *call, muster_group *parent, const char *function);

/* The same where the parent may have failed. */
muster_status making_start_on_any(making *call, muster_group *parent, const char *function);

muster_status making_take_arguments(making *call, const muster_group_args *args);

/*
 * Begins the exchange among count participants, of whom this one is number index. Calls of one kind
 * ("/call" and the like) have their turn in the order in which they were issued on this rank, which
 * must be the same on all: their number tells them apart. One whose turn does not come in time
 * tells the others.
 */
muster_status making_begin(making *call, const char *kind, int index, int count);

/* The same among all ranks of the parent, together with making_take_arguments. Arguments that are
 * wrong do not keep the exchange from being begun, so that the others can be told. */
muster_status making_begin_with_all(making *call, const muster_group_args *args);

/* All participants must say the same plan, and the same backend. */
muster_status making_agree(making *call, const char *plan);

/* The groups of the memberships, in groups[]; all or none. */
muster_status making_form(making *call, membership *in, size_t count, muster_group **groups);

/* Ends the call; a failure gets the name of the group and the function in front. */
muster_status making_finish(making *call, muster_status status, muster_group **groups,
                            size_t count);

/* The end of a call in which a rank is in one group or in none: status says how its arguments were
 * found; frees the membership. */
muster_status making_form_one(making *call, muster_status status, membership *in,
                              muster_group **group);

/* Ranks of the parent, each at most once over all lists that share seen. */
muster_status making_check_list(const muster_group *parent, const int *ranks, size_t count,
                                bool *seen);

/* The list in memory of its own. */
muster_status making_copy_list(const int *ranks, size_t count, int **copy);

#endif
