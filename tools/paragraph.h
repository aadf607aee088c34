/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts on a terminal of 80 columns: a name, and beside it words that are wrapped.
 */
#ifndef MUSTER_TOOLS_PARAGRAPH_H
#define MUSTER_TOOLS_PARAGRAPH_H

#include <stdio.h>

#if defined(__GNUC__)
#define PARAGRAPH_PRINTF __attribute__((format(printf, 4, 5)))
#else
#define PARAGRAPH_PRINTF
#endif

/* Prints name after two spaces, and the words from column indent on. */
void paragraph_print(FILE *out, int indent, const char *name, const char *format,
                     ...) PARAGRAPH_PRINTF;

#endif
