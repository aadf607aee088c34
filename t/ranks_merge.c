/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reports of all ranks made into one list of points.
 */
#include "ranks_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that belong to one point. */
struct lines {
    char *text;
    size_t size;
};

static void merge_line(struct lines *lines, const char *format, ...) TAP_PRINTF(2, 3);

static void merge_line(struct lines *lines, const char *format, ...)
{
    char line[10240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    size_t size = strlen(line);
    lines->text = realloc(lines->text, lines->size + size + 2);
    if (lines->text == NULL)
        abort();
    memcpy(lines->text + lines->size, line, size);
    memcpy(lines->text + lines->size + size, "\n", 2);
    lines->size += size + 1;
}

/* Every line of text, said by rank. */
static void merge_said(struct lines *lines, int rank, const char *text)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");
        if (length > 0)
            merge_line(lines, "[rank %d] %.*s", rank, length, text);
        text += length + (text[length] == '\n');
    }
}

/* One rank's part in point i; text and reason are those of the first rank that has them. */
static bool merge_rank(const struct report *report, int rank, size_t i, struct lines *lines,
                       const char **text, const char **reason)
{
    if (i >= report->num_points) {
        merge_line(lines, "[rank %d] did not come to this point%s%s", rank,
                   report->ending[0] ? ": " : "", report->ending);
        return false;
    }
    const struct report_point *point = &report->points[i];
    if (point->kind == TAP_SKIPPED) {
        *reason = *reason == NULL ? point->text : *reason;
        return true;
    }
    *text = *text == NULL ? point->text : *text;
    if (point->kind == TAP_FAILED) {
        merge_line(lines, "[rank %d] not ok - %s", rank, point->text);
        merge_said(lines, rank, point->notes);
    }
    return point->kind == TAP_PASSED;
}

static void merge_point(const char *name, size_t i, const struct report *reports, int size,
                        const char *skipped)
{
    struct lines lines = {NULL, 0};
    const char *text = NULL, *reason = skipped;
    bool passed = true, counted = false;
    for (int rank = 0; rank < size; rank++) {
        if (!reports[rank].counts || (skipped != NULL && i >= reports[rank].num_points))
            continue;
        counted = true;
        passed &= merge_rank(&reports[rank], rank, i, &lines, &text, &reason);
    }
    char words[2048];
    if (passed && reason != NULL) {
        tap_make(TAP_SKIPPED, reason, "");
    } else {
        snprintf(words, sizeof(words), "%s: %s", name, text == NULL ? "no rank made it" : text);
        tap_make(passed && counted ? TAP_PASSED : TAP_FAILED, words,
                 lines.text == NULL ? "" : lines.text);
    }
    free(lines.text);
}

/* The point that says whether each rank did what the case expects of it. */
static void merge_ending(const char *name, int planned, const struct report *reports, int size,
                         const char *skipped)
{
    struct lines lines = {NULL, 0};
    bool passed = true;
    for (int rank = 0; rank < size; rank++) {
        const struct report *report = &reports[rank];
        if (report->ending[0] != '\0') {
            merge_line(&lines, "[rank %d] %s", rank, report->ending);
            passed = false;
        }
        if (report->counts && skipped == NULL && report->num_points != (size_t)planned) {
            merge_line(&lines, "[rank %d] made %zu points, %d were planned", rank,
                       report->num_points, planned);
            passed = false;
        }
    }
    char words[1024];
    snprintf(words, sizeof(words), "%s: every rank ends as it should", name);
    tap_make(passed ? TAP_PASSED : TAP_FAILED, words, lines.text == NULL ? "" : lines.text);
    free(lines.text);
}

static void merge_remarks(const struct report *report, int rank)
{
    for (size_t i = 0; i < report->num_remarks; i++) {
        struct lines lines = {NULL, 0};
        merge_said(&lines, rank, report->remarks[i].text);
        if (lines.text != NULL)
            tap_make(TAP_NOTE, lines.text, "");
        free(lines.text);
        if (report->remarks[i].kind == TAP_BAIL)
            tap_make(TAP_BAIL, report->remarks[i].text, "");
    }
}

void report_merge(const char *name, int planned, const struct report *reports, int size)
{
    const char *skipped = NULL;
    for (int rank = 0; rank < size; rank++) {
        merge_remarks(&reports[rank], rank);
        skipped = skipped == NULL ? reports[rank].skipped : skipped;
    }
    for (size_t i = 0; i < (size_t)planned; i++)
        merge_point(name, i, reports, size, skipped);
    merge_ending(name, planned, reports, size, skipped);
}
