/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What making a world and making a group of a group have in common.
 */
#ifndef MUSTER_LIB_INIT_H
#define MUSTER_LIB_INIT_H

#include "group/group.h"

/* Collects the options from everywhere and checks them against the backends found. */
muster_status init_options(const muster_options *base, const muster_options *object,
                           const char *text, muster_options **options);

/* The group is made: notes what it took, and logs it. */
void init_finish(muster_group *group, int64_t began_ns, long long operations_before);

/* MUSTER_OK for a name that a caller may give to a group. */
muster_status init_check_name(const char *name);

#endif
