/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command lines of the tools have in common.
 */
#include "config.h"

#include "command_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "muster.h"
#include "standard.h"

static const char *command_line_tool = "muster";

/* What is written at once fails at once, with the reason in errno. */
static void command_line_begin(void)
{
    static char buffer[1 << 16];
    standard_open();
    if (!isatty(STDOUT_FILENO))
        setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

static int command_line_print(const char *text)
{
    fputs(text, stdout);
    return command_line_end(EXIT_SUCCESS);
}

static int command_line_version(void)
{
    printf("%s (muster) " PACKAGE_VERSION "\n", command_line_tool);
    return command_line_end(EXIT_SUCCESS);
}

bool command_line_read(const command_line *line, int argc, char **argv, int *status)
{
    int option;
    command_line_begin();
    command_line_tool = line->tool;
    /* getopt begins its complaints with it, and only reads it. */
    argv[0] = (char *)line->tool;
    *status = EXIT_USAGE;
    while ((option = getopt_long(argc, argv, line->letters, line->options, NULL)) != -1) {
        if (option == COMMAND_LINE_HELP || option == COMMAND_LINE_VERSION) {
            *status = option == COMMAND_LINE_HELP ? command_line_print(line->help)
                                                  : command_line_version();
            return false;
        }
        if (option == '?')
            fprintf(stderr, "Try '%s --help'.\n", line->tool);
        if (option == '?' || !line->take(line->into, option))
            return false;
    }
    return true;
}

static void command_line_write(const char *format, va_list arguments, const char *end)
{
    char words[4096];
    vsnprintf(words, sizeof(words), format, arguments);
    fprintf(stderr, "%s: %s%s\n", command_line_tool, words, end);
    muster_report_failure(words);
}

void command_line_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    command_line_write(format, arguments, "");
    va_end(arguments);
}

bool command_line_refuse(const char *format, ...)
{
    char end[64];
    va_list arguments;
    snprintf(end, sizeof(end), "; see %s --help", command_line_tool);
    va_start(arguments, format);
    command_line_write(format, arguments, end);
    va_end(arguments);
    return false;
}

bool command_line_number(long long *number, const char *name, const char *text, long long least,
                         long long most)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most)
        return command_line_refuse("%s takes a number from %lld to %lld, not '%s'", name, least,
                                   most, text);
    *number = value;
    return true;
}

bool command_line_seconds(int64_t *milliseconds, const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0.001 && value <= 1e9))
        return command_line_refuse("%s takes seconds from 0.001 to 1000000000, not '%s'", name,
                                   text);
    *milliseconds = (int64_t)(value * 1000 + 0.5);
    return true;
}

int command_line_end(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    command_line_say("the standard output can't be written: %s",
                     strerror(errno != 0 ? errno : EIO));
    return EXIT_FAILURE;
}
