/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structs that callers fill: taken over by the size that the caller's header gave them.
 */
#ifndef MUSTER_LIB_ARGUMENTS_H
#define MUSTER_LIB_ARGUMENTS_H

#include "muster.h"

/*
 * Copies theirs, which begins with its struct_size, onto ours, which holds the defaults. A smaller
 * struct is one of an older header: what it lacks keeps its default. A larger one is of a newer
 * header: it is refused only if something is set in what we don't know. least is the size of the
 * first version ever.
 */
muster_status arguments_copy(void *ours, size_t our_size, size_t least, const void *theirs,
                             const char *type);

#endif
