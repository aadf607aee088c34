/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks_report.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct header {
    uint32_t magic;
    uint32_t kind;
    uint32_t text_size;
    uint32_t notes_size;
};
enum { MAGIC = 0x7461706d, LONGEST = 1 << 20 };

static void *report_grow(void *memory, size_t count, size_t size)
{
    void *longer = realloc(memory, count * size);
    if (longer == NULL)
        abort();
    return longer;
}

static void report_write(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno != EINTR)
            _exit(99);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

void report_send(void *user, enum tap_kind kind, const char *text, const char *notes)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct header header = {MAGIC, (uint32_t)kind, (uint32_t)strlen(text), (uint32_t)strlen(notes)};
    size_t size = sizeof(header) + header.text_size + header.notes_size;
    char *record = report_grow(NULL, size, 1);
    memcpy(record, &header, sizeof(header));
    memcpy(record + sizeof(header), text, header.text_size);
    memcpy(record + sizeof(header) + header.text_size, notes, header.notes_size);
    pthread_mutex_lock(&lock);
    report_write(*(int *)user, record, size);
    pthread_mutex_unlock(&lock);
    free(record);
}

static char *report_copy(const char *text, size_t size)
{
    char *copy = report_grow(NULL, size + 1, 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

/* Takes text and notes over. */
static void report_take(struct report *report, unsigned kind, char *text, char *notes)
{
    struct report_point point = {(enum tap_kind)kind, text, notes};
    if (kind == TAP_PASSED || kind == TAP_FAILED || kind == TAP_SKIPPED) {
        report->points = report_grow(report->points, report->num_points + 1, sizeof(point));
        report->points[report->num_points++] = point;
    } else if (kind == TAP_NOTE || kind == TAP_BAIL) {
        report->remarks = report_grow(report->remarks, report->num_remarks + 1, sizeof(point));
        report->remarks[report->num_remarks++] = point;
    } else {
        report->finished |= kind == REPORT_FINISHED;
        if (kind == REPORT_SKIP_CASE) {
            free(report->skipped);
            report->skipped = text;
            text = NULL;
        }
        free(text);
        free(notes);
    }
}

void report_add(void *user, enum tap_kind kind, const char *text, const char *notes)
{
    report_take(user, (unsigned)kind, report_copy(text, strlen(text)),
                report_copy(notes, strlen(notes)));
}

/* The size of the record at bytes; 0: it is not all there; larger than any: it is none. */
static size_t report_record(const char *bytes, size_t size, struct header *header)
{
    if (size < sizeof(*header))
        return 0;
    memcpy(header, bytes, sizeof(*header));
    if (header->magic != MAGIC || header->text_size > LONGEST || header->notes_size > LONGEST)
        return SIZE_MAX;
    size_t whole = sizeof(*header) + header->text_size + header->notes_size;
    return whole <= size ? whole : 0;
}

bool report_decode(struct report *report, const char *bytes, size_t size)
{
    report->bytes = report_grow(report->bytes, report->num_bytes + size + 1, 1);
    memcpy(report->bytes + report->num_bytes, bytes, size);
    report->num_bytes += size;
    size_t at = 0, whole;
    struct header header;
    while ((whole = report_record(report->bytes + at, report->num_bytes - at, &header)) > 0) {
        if (whole == SIZE_MAX)
            return false;
        const char *text = report->bytes + at + sizeof(header);
        report_take(report, header.kind, report_copy(text, header.text_size),
                    report_copy(text + header.text_size, header.notes_size));
        at += whole;
    }
    report->num_bytes -= at;
    memmove(report->bytes, report->bytes + at, report->num_bytes);
    return true;
}

void report_free(struct report *report)
{
    for (size_t i = 0; i < report->num_points; i++) {
        free(report->points[i].text);
        free(report->points[i].notes);
    }
    for (size_t i = 0; i < report->num_remarks; i++) {
        free(report->remarks[i].text);
        free(report->remarks[i].notes);
    }
    free(report->points);
    free(report->remarks);
    free(report->skipped);
    free(report->bytes);
    *report = (struct report){0};
}
