/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int planned;
static int made;
static int failed;

void plan(int points)
{
    planned = points;
    printf("1..%d\n", points);
    fflush(stdout);
}

void plan_skip_all(const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    printf("1..0 # SKIP ");
    vprintf(reason, arguments);
    printf("\n");
    va_end(arguments);
    exit(0);
}

static bool point(bool passed, const char *file, int line, const char *name, va_list arguments)
{
    made++;
    printf("%s %d - ", passed ? "ok" : "not ok", made);
    vprintf(name, arguments);
    printf("\n");
    if (!passed) {
        failed++;
        diag("failed at %s:%d", file, line);
    }
    fflush(stdout);
    return passed;
}

bool tap_ok(bool passed, const char *file, int line, const char *name, ...)
{
    va_list arguments;
    va_start(arguments, name);
    point(passed, file, line, name, arguments);
    va_end(arguments);
    return passed;
}

bool tap_is_int(long long got, long long expected, const char *file, int line, const char *name,
                ...)
{
    va_list arguments;
    va_start(arguments, name);
    point(got == expected, file, line, name, arguments);
    va_end(arguments);
    if (got != expected)
        diag("got %lld, expected %lld", got, expected);
    return got == expected;
}

bool tap_is_str(const char *got, const char *expected, const char *file, int line, const char *name,
                ...)
{
    bool same = got == expected || (got != NULL && expected != NULL && strcmp(got, expected) == 0);
    va_list arguments;
    va_start(arguments, name);
    point(same, file, line, name, arguments);
    va_end(arguments);
    if (!same) {
        diag("got      %s", got == NULL ? "(null)" : got);
        diag("expected %s", expected == NULL ? "(null)" : expected);
    }
    return same;
}

bool tap_has_str(const char *text, const char *part, const char *file, int line, const char *name,
                 ...)
{
    bool found = text != NULL && strstr(text, part) != NULL;
    va_list arguments;
    va_start(arguments, name);
    point(found, file, line, name, arguments);
    va_end(arguments);
    if (!found) {
        diag("looked for %s", part);
        diag("in         %s", text == NULL ? "(null)" : text);
    }
    return found;
}

void skip(int points, const char *reason, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(words, sizeof(words), reason, arguments);
    va_end(arguments);
    while (points-- > 0)
        printf("ok %d # SKIP %s\n", ++made, words);
    fflush(stdout);
}

/* Every line of it behind a "# ". */
void diag(const char *format, ...)
{
    char words[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    for (char *rest = NULL, *line = strtok_r(words, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        printf("# %s\n", line);
    fflush(stdout);
}

void bail_out(const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    printf("Bail out! ");
    vprintf(reason, arguments);
    printf("\n");
    va_end(arguments);
    exit(255);
}

int done(void)
{
    if (made != planned) {
        diag("planned %d points, made %d", planned, made);
        return 1;
    }
    return failed > 0;
}
