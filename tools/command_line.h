/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command lines of the tools have in common: options, complaints, numbers, and the end.
 */
#ifndef MUSTER_TOOLS_COMMAND_LINE_H
#define MUSTER_TOOLS_COMMAND_LINE_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define COMMAND_LINE_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define COMMAND_LINE_PRINTF
#endif

enum { EXIT_USAGE = 2 };

/* What ends each tool's table of long options. */
enum { COMMAND_LINE_HELP = 512, COMMAND_LINE_VERSION };
#define COMMAND_LINE_END                                                                           \
    {"help", no_argument, NULL, COMMAND_LINE_HELP},                                                \
        {"version", no_argument, NULL, COMMAND_LINE_VERSION},                                      \
    {                                                                                              \
        NULL, 0, NULL, 0                                                                           \
    }

typedef struct command_line {
    const char *tool; /* begins its complaints */
    const char *help;
    const char *letters; /* as getopt_long takes them */
    const struct option *options;
    /* Takes an option whose argument is optarg; false after a complaint. */
    bool (*take)(void *into, int option);
    void *into;
} command_line;

/* Reads the options; what follows them begins at argv[optind]. False: there is nothing more to do
 * than to exit with *status. */
bool command_line_read(const command_line *line, int argc, char **argv, int *status);

/* One line to stderr, in one write, so that lines of several ranks do not mix. */
void command_line_say(const char *format, ...) COMMAND_LINE_PRINTF;

/* The same about the command line itself, with a word on --help; always false. */
bool command_line_refuse(const char *format, ...) COMMAND_LINE_PRINTF;

/* A number from text, for the option name; false after a complaint. */
bool command_line_number(long long *number, const char *name, const char *text, long long least,
                         long long most);

/* Seconds, with a fraction perhaps, as milliseconds of at least 1. */
bool command_line_seconds(int64_t *milliseconds, const char *name, const char *text);

/* Writes out stdout; returns status, or 1 where it could not be written, which has been said. */
int command_line_end(int status);

#endif
