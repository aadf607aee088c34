/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The token lists that muster-perf gathers: all of them on every rank, who gives its share.
 */
#ifndef MUSTER_PERF_LISTS_H
#define MUSTER_PERF_LISTS_H

#include "perf.h"
#include "prompts.h"

#include <stdio.h>

/* From the file, or made up by the shapes; to be freed as prompts (lines stay NULL). False after a
 * complaint in why. */
bool lists_make(const perf_options *options, prompts *list, char *why, size_t why_size);

/* The bytes of the narrowest signed integer type that holds all ids. */
int lists_width(const prompts *list);

/* A file that has no name, for processes that are started from now on: the number of lists, where
 * each begins and the last ends, and the ids, each of 8 bytes. NULL where it can't be written. */
FILE *lists_file(const prompts *list);

#endif
