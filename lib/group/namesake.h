/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of muster_new_group that give the same name and different members. They meet under their
 * members, so they would wait for each other: each says in the store for which members it waits.
 */
#ifndef MUSTER_LIB_NAMESAKE_H
#define MUSTER_LIB_NAMESAKE_H

#include "group/making.h"

typedef struct namesake {
    const making *call;
    const int *sorted; /* the members, ascending */
    const membership *in;
    char *prefix; /* of the keys of all calls with the name */
} namesake;

/* Says it, where the call has a name, and looks at once; MUSTER_ERR_MISMATCH where two wait for
 * each other. */
muster_status namesake_begin(namesake *one, making *call, const int *sorted, const membership *in);

/* The call has ended. */
void namesake_end(namesake *one);

#endif
