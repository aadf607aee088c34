/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MUSTER_CHECK: before a collective moves anything the ranks compare their calls.
 */
#ifndef MUSTER_LIB_AGREE_H
#define MUSTER_LIB_AGREE_H

#include "collective/route.h"

/* Whether MUSTER_CHECK asks for it in this process; a value that is neither yes nor no is wrong. */
muster_status agree_wanted(bool *wanted);

/*
 * All ranks of a group that checks make the same call, else the group has failed with a sentence
 * that names the first ones that differ, and what each of them calls. Takes one message between
 * each two ranks. Of a gather only the kind is compared, call and way being NULL: it compares the
 * rest by itself, and goes on.
 */
muster_status agree_on_call(muster_group *group, const collective_call *call, const route *way,
                            const message_label *label, deadline end);

/* The same for a call that this rank refuses for the reason why: MUSTER_OK where all do. */
muster_status agree_on_refused(muster_group *group, const message_label *label, const char *why,
                               deadline end);

#endif
