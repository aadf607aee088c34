/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of ranks in words: "rank 3", "ranks 0-2,5".
 */
#ifndef MUSTER_LIB_RANK_SET_H
#define MUSTER_LIB_RANK_SET_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the ranks r of 0..count-1 for which in[r] holds, in ranges, with "rank " or "ranks " in
 * front; "no rank" for none. What does not fit is cut with "...". Returns text. */
const char *rank_set_text(const bool *in, int count, char *text, size_t size);

/* The same for a list in its own order, without words in front: "{0,1,2}". */
const char *rank_list_text(const int *ranks, size_t count, char *text, size_t size);

#endif
