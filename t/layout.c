/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layouts of blocks, up to counts that no memory holds.
 */
#include "collective/layout.h"

#include <stdint.h>

#include "tap.h"

enum { N = 7 };

static void is_block(const layout *blocks, int r, size_t bytes, size_t offset, size_t count,
                     const char *name)
{
    ok(blocks->bytes[r] == bytes && blocks->offsets[r] == offset && blocks->counts[r] == count,
       "%s: block %d", name, r);
}

int main(void)
{
    static const size_t counts[N] = {0, 3, 0, SIZE_MAX / 64, 1, 0, 0};
    layout blocks;
    plan(16);
    ok(layout_equal(&blocks, N, 5, 8), "blocks of one size");
    is_block(&blocks, 0, 40, 0, 5, "equal");
    is_block(&blocks, 6, 40, 240, 5, "equal");
    layout_free(&blocks);
    ok(blocks.bytes == NULL, "are gone");
    ok(layout_ragged(&blocks, N, counts, 8), "of any sizes");
    is_block(&blocks, 0, 0, 0, 0, "ragged");
    is_block(&blocks, 3, SIZE_MAX / 64 * 8, 24, SIZE_MAX / 64, "ragged");
    is_block(&blocks, 4, 8, 24 + SIZE_MAX / 64 * 8, 1, "ragged");
    is_block(&blocks, 6, 0, 32 + SIZE_MAX / 64 * 8, 0, "ragged");
    layout_free(&blocks);
    ok(layout_slices(&blocks, N, 10, 4), "slices");
    is_block(&blocks, 0, 8, 0, 10, "the first are longer");
    is_block(&blocks, 2, 8, 16, 10, "so is the third");
    is_block(&blocks, 3, 4, 24, 10, "but no other");
    layout_free(&blocks);
    ok(layout_slices(&blocks, N, SIZE_MAX / 2, 1), "slices of half of all addresses");
    ok(blocks.offsets[N - 1] + blocks.bytes[N - 1] == SIZE_MAX / 2, "reach to its end");
    ok(blocks.bytes[0] - blocks.bytes[N - 1] <= 1, "and are even");
    layout_free(&blocks);
    return done();
}
