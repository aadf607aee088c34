/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command lines of the tools have in common: complaints, numbers, and the end.
 */
#ifndef MUSTER_TOOLS_COMMAND_LINE_H
#define MUSTER_TOOLS_COMMAND_LINE_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define COMMAND_LINE_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define COMMAND_LINE_PRINTF
#endif

enum { EXIT_USAGE = 2 };

/* The tool's name, which begins its complaints and those of getopt, which takes it from argv[0]. */
void command_line_begin(const char *tool, char **argv);

/* One line to stderr, in one write, so that lines of several ranks do not mix. */
void command_line_say(const char *format, ...) COMMAND_LINE_PRINTF;

/* The same about the command line itself, with a word on --help; always false. */
bool command_line_refuse(const char *format, ...) COMMAND_LINE_PRINTF;

/* A number from text, for the option name; false after a complaint. */
bool command_line_number(long long *number, const char *name, const char *text, long long least,
                         long long most);

/* Seconds, with a fraction perhaps, as milliseconds of at least 1. */
bool command_line_seconds(int64_t *milliseconds, const char *name, const char *text);

/* Prints text on stdout, and returns what to exit with. */
int command_line_print(const char *text);

/* Writes out stdout; returns status, or 1 where it could not be written, which has been said. */
int command_line_end(int status);

#endif
