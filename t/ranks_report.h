/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What one rank reports: its points, as records of a pipe or taken directly from a thread, and the
 * merging of all ranks' reports.
 */
#ifndef MUSTER_T_RANKS_REPORT_H
#define MUSTER_T_RANKS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "tap.h"

struct report_point {
    enum tap_kind kind;
    char *text;
    char *notes;
};

struct report {
    struct report_point *points;
    size_t num_points;
    struct report_point *remarks; /* notes between points, and a reason to bail out */
    size_t num_remarks;
    bool finished;    /* its body has returned */
    bool counts;      /* its points must be there: it is to live */
    char *skipped;    /* why it skips the case, or NULL */
    char ending[256]; /* how it ended if that was wrong, or "" */
    char *bytes;      /* not decoded yet */
    size_t num_bytes;
};

/* Kinds of records beyond tap_kind. */
enum { REPORT_FINISHED = 100, REPORT_SKIP_CASE };

/* A tap_sink that writes records to the descriptor *(int *)user. */
void report_send(void *user, enum tap_kind kind, const char *text, const char *notes);

/* A tap_sink that adds to the struct report at user. */
void report_add(void *user, enum tap_kind kind, const char *text, const char *notes);

/* Takes bytes from the pipe; false if they are no records. */
bool report_decode(struct report *report, const char *bytes, size_t size);

/* Makes the case's points and the one for how the ranks ended, by tap_make. */
void report_merge(const char *name, int planned, const struct report *reports, int size);

void report_free(struct report *report);

#endif
