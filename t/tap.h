/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TAP 12 from C: a plan, points, diagnostics. Points may be made on several threads.
 */
#ifndef MUSTER_T_TAP_H
#define MUSTER_T_TAP_H

#include <stdbool.h>

#if defined(__GNUC__)
#define TAP_PRINTF(words, values) __attribute__((format(printf, words, values)))
#else
#define TAP_PRINTF(words, values)
#endif

/* The number of points to come; first of all. */
void plan(int points);

/* The whole file is skipped; ends the process. */
void plan_skip_all(const char *reason, ...) TAP_PRINTF(1, 2);

/* For tests over the gloo backend: the whole file is skipped where muster was built without it. */
void needs_gloo(void);

/* The same, for tests that are about Gloo: ranks of one host do not share memory. */
void over_gloo(void);

/* So many milliseconds, times MUSTER_TEST_TIMEOUT_FACTOR: for what must not take longer. */
long long patient(long long ms);

/* One point; returns passed. A failed one says where. */
#define ok(passed, ...) tap_ok(passed, __FILE__, __LINE__, __VA_ARGS__)
bool tap_ok(bool passed, const char *file, int line, const char *name, ...) TAP_PRINTF(4, 5);

/* Points that compare, and on failure show both values. */
#define is_int(got, expected, ...) tap_is_int(got, expected, __FILE__, __LINE__, __VA_ARGS__)
bool tap_is_int(long long got, long long expected, const char *file, int line, const char *name,
                ...) TAP_PRINTF(5, 6);
#define is_str(got, expected, ...) tap_is_str(got, expected, __FILE__, __LINE__, __VA_ARGS__)
bool tap_is_str(const char *got, const char *expected, const char *file, int line, const char *name,
                ...) TAP_PRINTF(5, 6);

/* The text holds the part. */
#define has_str(text, part, ...) tap_has_str(text, part, __FILE__, __LINE__, __VA_ARGS__)
bool tap_has_str(const char *text, const char *part, const char *file, int line, const char *name,
                 ...) TAP_PRINTF(5, 6);

/* So many points are skipped, with the reason. */
void skip(int points, const char *reason, ...) TAP_PRINTF(2, 3);

/* A line for the reader. */
void diag(const char *format, ...) TAP_PRINTF(1, 2);

/* Stops everything: the test can't go on. */
void bail_out(const char *reason, ...) TAP_PRINTF(1, 2);

/* ---- for the harness: where points go ---- */

enum tap_kind { TAP_PASSED, TAP_FAILED, TAP_SKIPPED, TAP_NOTE, TAP_BAIL };

/* Takes a point instead of stdout. text is its name or the reason of a skip; notes has lines for
 * the reader, or is "". */
typedef void (*tap_sink)(void *user, enum tap_kind kind, const char *text, const char *notes);

/* For every thread of the process, and for this thread alone, which is the stronger; NULL ends it.
 */
void tap_set_process_sink(tap_sink sink, void *user);
void tap_set_thread_sink(tap_sink sink, void *user);

/* Makes a point, or what else kind says, as it is. */
void tap_make(enum tap_kind kind, const char *text, const char *notes);

/* The exit status for main: 0 if all planned points were made and passed. */
int done(void);

#endif
