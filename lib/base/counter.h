/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers that a store keeps as decimal text, as torch's stores do.
 */
#ifndef MUSTER_LIB_COUNTER_H
#define MUSTER_LIB_COUNTER_H

#include "muster.h"

enum { COUNTER_TEXT_SIZE = 24 };

/*
 * Adds delta to the number in value, NULL for one that is missing and counts as 0. As in torch,
 * blanks and a sign may stand in front of the number and anything behind it. text receives what the
 * store is to keep then, ended by a zero. MUSTER_ERR_ARGUMENT for what is no number and for a sum
 * that 64 bits do not hold; key is for the sentence.
 */
muster_status counter_add(muster_blob key, const muster_blob *value, int64_t delta,
                          char text[COUNTER_TEXT_SIZE], int64_t *sum);

#endif
