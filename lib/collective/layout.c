/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the blocks of an array lie, one block a rank. Whoever asks has checked that all blocks
 * together can be in memory.
 */
#include "collective/layout.h"

#include <stdlib.h>

static bool layout_new(layout *out, size_t n)
{
    out->bytes = calloc(n, 3 * sizeof(size_t));
    if (out->bytes == NULL)
        return false;
    out->offsets = out->bytes + n;
    out->counts = out->offsets + n;
    return true;
}

static void lay_out(layout *out, size_t n)
{
    for (size_t r = 1; r < n; r++)
        out->offsets[r] = out->offsets[r - 1] + out->bytes[r - 1];
}

bool layout_equal(layout *out, size_t n, size_t count, size_t size)
{
    if (!layout_new(out, n))
        return false;
    for (size_t r = 0; r < n; r++) {
        out->bytes[r] = count * size;
        out->counts[r] = count;
    }
    lay_out(out, n);
    return true;
}

bool layout_ragged(layout *out, size_t n, const size_t *counts, size_t size)
{
    if (!layout_new(out, n))
        return false;
    for (size_t r = 0; r < n; r++) {
        out->bytes[r] = counts[r] * size;
        out->counts[r] = counts[r];
    }
    lay_out(out, n);
    return true;
}

bool layout_slices(layout *out, size_t n, size_t count, size_t size)
{
    if (!layout_new(out, n))
        return false;
    for (size_t r = 0; r < n; r++) {
        out->bytes[r] = (count / n + (r < count % n)) * size;
        out->counts[r] = count;
    }
    lay_out(out, n);
    return true;
}

void layout_free(layout *blocks)
{
    free(blocks->bytes);
    *blocks = (layout){NULL, NULL, NULL};
}
