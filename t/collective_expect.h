/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a case of a collective (collective_rows.h) must come to by the plain model, and how its
 * buffers lie.
 */
#ifndef MUSTER_T_COLLECTIVE_EXPECT_H
#define MUSTER_T_COLLECTIVE_EXPECT_H

#include "collective_rows.h"

/* Whether the rank gives something; whether the setting's own gets something. */
bool expect_sends(const setting *s, int rank);
bool expect_receives(const setting *s);

/* Whether the setting's rank gives or gets of what that rank has; the rest, which it takes long to
 * make up, it need not know. */
bool expect_concerns(const setting *s, int rank);

/* What a rank multiplies by in a scaled sum; whole numbers for integers. */
bool expect_is_whole(muster_type type);
double expect_scalar(muster_type type, int rank);

/* What the setting's rank must get of the arrays of all ranks. */
void expect_result(const setting *s, char *const *arrays, char *expected);

/* Where send and receive begin in memory of so many bytes, with some around each. */
typedef struct expect_places {
    size_t bytes;
    size_t send;
    size_t receive;
} expect_places;
void expect_place(const setting *s, expect_places *places);

#endif
