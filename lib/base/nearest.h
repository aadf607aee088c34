/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which known name was meant by one that is not known.
 */
#ifndef MUSTER_LIB_NEAREST_H
#define MUSTER_LIB_NEAREST_H

#include <stddef.h>

/* Begin with {wanted, NULL, 0}, offer every known name, then best is the nearest of those that are
 * near enough to be a slip of the pen, or NULL. */
typedef struct nearest {
    const char *wanted;
    const char *best;
    size_t distance;
} nearest;

void nearest_offer(nearest *search, const char *known);

/* How many letters were added, left out, changed or swapped with the next. Case does not count.
 * Words over 63 letters are as far from each other as can be. */
size_t nearest_distance(const char *a, const char *b);

#endif
