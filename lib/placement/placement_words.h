/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What there is to say of a placement that is not as one would like.
 */
#ifndef MUSTER_LIB_PLACEMENT_WORDS_H
#define MUSTER_LIB_PLACEMENT_WORDS_H

#include "placement/placement.h"

/* Sets shortage and remarks of a placement that is done otherwise. */
muster_status placement_words(placement *p, const placement_wish *wish);

#endif
