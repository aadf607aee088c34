/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of a group that are lost, as far as the ranks that are left know together.
 */
#ifndef MUSTER_LIB_LOST_H
#define MUSTER_LIB_LOST_H

#include "group/group.h"

/* Says in the store that this rank is not to be counted on any more: it has freed the group while
 * others needed it. Takes as long as the store does. */
void lost_add_self(muster_store *store, const char *prefix, int rank, int size);

#endif
