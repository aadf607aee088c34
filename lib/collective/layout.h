/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the blocks of an array lie, one block a rank.
 */
#ifndef MUSTER_LIB_LAYOUT_H
#define MUSTER_LIB_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct layout {
    size_t *bytes;
    size_t *offsets; /* in bytes */
    size_t *counts;  /* as ranks tell each other */
} layout;

/* n blocks of count elements of size bytes, one behind the other. Each is false without memory. */
bool layout_equal(layout *out, size_t n, size_t count, size_t size);

/* counts[r] elements in block r. */
bool layout_ragged(layout *out, size_t n, const size_t *counts, size_t size);

/* count elements cut into n blocks as even as can be, the first ones longer by one. What ranks tell
 * each other is the count of all. */
bool layout_slices(layout *out, size_t n, size_t count, size_t size);

void layout_free(layout *blocks);

#endif
