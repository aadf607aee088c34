/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of the tools share: command lines, a folder of their own, and what all command
 * lines are to do.
 */
#ifndef MUSTER_T_TOOLS_H
#define MUSTER_T_TOOLS_H

#include "command.h"
#include "tap.h"

#include <jansson.h>

extern struct command tools_run; /* the last run */

/* Runs a tool of the build tree alone, or as so many ranks; words up to a NULL follow. */
#define TOOLS_ALONE(tool, ...) tools_start(0, TOOLS "/" tool, (const char *[]){__VA_ARGS__, NULL})
#define TOOLS_RANKS(ranks, tool, ...)                                                              \
    tools_start(ranks, TOOLS "/" tool, (const char *[]){__VA_ARGS__, NULL})
void tools_start(int ranks, const char *tool, const char *const *words);

/* How many times part is in text. */
int tools_count(const char *text, const char *part);

/* The length of the longest line, in bytes, but for those of one word, such as a path, which can't
 * be broken. */
int tools_width(const char *text);

/* A path in the folder of this test, in one of a few buffers in turn; the file is written where
 * there is text. */
const char *tools_path(const char *name);
const char *tools_write(const char *name, const char *text);
void tools_clean(void);

/* Six points: --help, --version, an unknown option. */
enum { TOOLS_COMMON_POINTS = 6 };
void tools_common(const char *name);

/* A JSON text that the last run printed; an empty object where it is none. */
json_t *tools_json(void);

#endif
