/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cheapest way to give each row a column of its own, exact, and always the same one.
 */
#ifndef MUSTER_LIB_ASSIGN_H
#define MUSTER_LIB_ASSIGN_H

#include "muster.h"

/* The dearest that a pair may be, and what stands for a pair that may not be. */
#define ASSIGN_DEAREST ((int64_t)1 << 32)
#define ASSIGN_NEVER (-1)

enum { ASSIGN_MOST = 4096 }; /* rows, and columns */

/*
 * costs[row * columns + column] is 0 to ASSIGN_DEAREST, or ASSIGN_NEVER. Writes to column_of each
 * row's column, or -1 where it has none; no two rows have the same. Of all ways to do so it is
 * that in which most rows have a column; of these the one of least cost; of these the one that
 * gives row 0 the lowest column, then row 1, and so on, where none is after all others. A pair
 * out of bounds is MUSTER_ERR_ARGUMENT.
 */
muster_status assign_columns(const int64_t *costs, int rows, int columns, int *column_of);

#endif
