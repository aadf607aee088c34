/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tap.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

enum { NAME_SIZE = 1024, NOTES_SIZE = 8192 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int planned;
static int made;
static int failed;

struct place {
    tap_sink sink;
    void *user;
};
static struct place process_place;
static _Thread_local struct place thread_place;

void tap_set_process_sink(tap_sink sink, void *user)
{
    process_place = (struct place){sink, user};
}

void tap_set_thread_sink(tap_sink sink, void *user)
{
    thread_place = (struct place){sink, user};
}

long long patient(long long ms)
{
    return (long long)((double)ms * ranks_time_factor());
}

#ifdef __SANITIZE_THREAD__
/* What is left out, in this process and in the programs that it starts, which may be no tests; and
 * that memory which can't be had is NULL, as it is without ThreadSanitizer. */
#define SUPPRESSIONS "allocator_may_return_null=1:suppressions=" TSAN_SUPPRESSIONS

__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return SUPPRESSIONS;
}

__attribute__((constructor)) static void pass_on_suppressions(void)
{
    char options[2048];
    const char *before = getenv("TSAN_OPTIONS");
    snprintf(options, sizeof(options), "%s:%s", SUPPRESSIONS, before != NULL ? before : "");
    setenv("TSAN_OPTIONS", options, 1);
}
#endif

void plan(int points)
{
    planned = points;
    printf("1..%d\n", points);
    fflush(stdout);
}

void needs_gloo(void)
{
#ifndef HAVE_GLOO
    plan_skip_all("muster was built without the gloo backend");
#endif
}

void over_gloo(void)
{
    needs_gloo();
    setenv("MUSTER_OPTIONS", "gloo.shared_memory=off", 1);
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

/* Every line of it behind a "# ". */
static void print_notes(const char *notes)
{
    while (*notes != '\0') {
        int length = (int)strcspn(notes, "\n");
        if (length > 0)
            printf("# %.*s\n", length, notes);
        notes += length + (notes[length] == '\n');
    }
}

static void print(enum tap_kind kind, const char *text, const char *notes)
{
    pthread_mutex_lock(&lock);
    if (kind == TAP_PASSED || kind == TAP_FAILED)
        printf("%s %d - %s\n", kind == TAP_PASSED ? "ok" : "not ok", ++made, text);
    else if (kind == TAP_SKIPPED)
        printf("ok %d # SKIP %s\n", ++made, text);
    else if (kind == TAP_NOTE)
        print_notes(text);
    else
        printf("Bail out! %s\n", text);
    failed += kind == TAP_FAILED;
    print_notes(notes);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}

void tap_make(enum tap_kind kind, const char *text, const char *notes)
{
    struct place place = thread_place.sink != NULL ? thread_place : process_place;
    if (place.sink != NULL)
        place.sink(place.user, kind, text, notes);
    else
        print(kind, text, notes);
    if (kind == TAP_BAIL)
        exit(255);
}

/* notes are shown where the point failed. */
static bool point(bool passed, const char *file, int line, const char *notes, const char *name,
                  va_list arguments)
{
    char text[NAME_SIZE], all[NOTES_SIZE + 512] = "";
    vsnprintf(text, sizeof(text), name, arguments);
    if (!passed)
        snprintf(all, sizeof(all), "failed at %s:%d\n%s", file, line, notes);
    tap_make(passed ? TAP_PASSED : TAP_FAILED, text, all);
    return passed;
}

bool tap_ok(bool passed, const char *file, int line, const char *name, ...)
{
    va_list arguments;
    va_start(arguments, name);
    point(passed, file, line, "", name, arguments);
    va_end(arguments);
    return passed;
}

bool tap_is_int(long long got, long long expected, const char *file, int line, const char *name,
                ...)
{
    char notes[128];
    snprintf(notes, sizeof(notes), "got %lld, expected %lld", got, expected);
    va_list arguments;
    va_start(arguments, name);
    point(got == expected, file, line, notes, name, arguments);
    va_end(arguments);
    return got == expected;
}

static const char *shown(const char *text)
{
    return text == NULL ? "(null)" : text;
}

bool tap_is_str(const char *got, const char *expected, const char *file, int line, const char *name,
                ...)
{
    bool same = got == expected || (got != NULL && expected != NULL && strcmp(got, expected) == 0);
    char notes[NOTES_SIZE];
    snprintf(notes, sizeof(notes), "got      %.4000s\nexpected %.4000s", shown(got),
             shown(expected));
    va_list arguments;
    va_start(arguments, name);
    point(same, file, line, notes, name, arguments);
    va_end(arguments);
    return same;
}

bool tap_has_str(const char *text, const char *part, const char *file, int line, const char *name,
                 ...)
{
    bool found = text != NULL && strstr(text, part) != NULL;
    char notes[NOTES_SIZE];
    snprintf(notes, sizeof(notes), "looked for %.2000s\nin         %.6000s", part, shown(text));
    va_list arguments;
    va_start(arguments, name);
    point(found, file, line, notes, name, arguments);
    va_end(arguments);
    return found;
}

void skip(int points, const char *reason, ...)
{
    char words[NAME_SIZE];
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(words, sizeof(words), reason, arguments);
    va_end(arguments);
    while (points-- > 0)
        tap_make(TAP_SKIPPED, words, "");
}

void diag(const char *format, ...)
{
    char words[NOTES_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    tap_make(TAP_NOTE, words, "");
}

void bail_out(const char *reason, ...)
{
    char words[NAME_SIZE];
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(words, sizeof(words), reason, arguments);
    va_end(arguments);
    tap_make(TAP_BAIL, words, "");
}

int done(void)
{
    if (made != planned) {
        diag("planned %d points, made %d", planned, made);
        return 1;
    }
    return failed > 0;
}
