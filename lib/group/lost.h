/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a group that are lost, as far as the ranks that are left know together.
 */
#ifndef MUSTER_LIB_LOST_H
#define MUSTER_LIB_LOST_H

#include "group/group.h"

/* Says in the store that this rank is lost for the others: it has freed the group while they needed
 * it. Takes half a second at most. */
void lost_say_freed(muster_group *group);

#endif
