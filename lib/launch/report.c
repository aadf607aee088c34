/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Telling the launcher why a process fails: the file that torchrun's agent reads.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "muster.h"

static void report_text(buffer *json, const char *text)
{
    buffer_append(json, text, strlen(text));
}

/* The length of the character of UTF-8 that text begins with, and the character; 0 for none. */
static int report_character(const unsigned char *text, unsigned long *character)
{
    static const unsigned char marks[] = {0x00, 0xc0, 0xe0, 0xf0};
    static const unsigned long least[] = {0, 0x80, 0x800, 0x10000};
    int more = text[0] < 0x80 ? 0 : text[0] >= 0xf0 ? 3 : text[0] >= 0xe0 ? 2 : 1;
    *character = (unsigned long)(text[0] ^ marks[more]);
    if (text[0] >= 0x80 && text[0] < 0xc0)
        return 0;
    for (int i = 1; i <= more; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (text[i] & 0x3f);
    }
    bool surrogate = *character >= 0xd800 && *character < 0xe000;
    return *character < least[more] || *character > 0x10ffff || surrogate ? 0 : more + 1;
}

/* A JSON string in ASCII, since the reader's idea of an encoding is not known. A byte that is no
 * UTF-8 becomes the mark for that. */
static void report_string(buffer *json, const char *text)
{
    report_text(json, "\"");
    while (*text != '\0') {
        char escaped[48]; /* what the compiler takes two unsigned longs for */
        unsigned long character;
        int length = report_character((const unsigned char *)text, &character);
        if (length == 0)
            character = 0xfffd;
        if (character == '"' || character == '\\')
            snprintf(escaped, sizeof(escaped), "\\%c", (char)character);
        else if (character >= 0x20 && character < 0x7f)
            snprintf(escaped, sizeof(escaped), "%c", (char)character);
        else if (character < 0x10000)
            snprintf(escaped, sizeof(escaped), "\\u%04lx", character);
        else
            snprintf(escaped, sizeof(escaped), "\\u%04lx\\u%04lx", 0xd7c0 + (character >> 10),
                     0xdc00 + (character & 0x3ff));
        report_text(json, escaped);
        text += length == 0 ? 1 : length;
    }
    report_text(json, "\"");
}

/* As torch's own error handler writes it: py_callstack is what torchrun prints, and the earliest
 * timestamp of all ranks makes the root cause. */
static void report_json(buffer *json, const char *sentence)
{
    char now[32];
    snprintf(now, sizeof(now), "%lld", (long long)time(NULL));
    report_text(json, "{\"message\": {\"message\": ");
    report_string(json, sentence);
    report_text(json, ", \"extraInfo\": {\"py_callstack\": ");
    report_string(json, sentence);
    report_text(json, ", \"timestamp\": \"");
    report_text(json, now);
    report_text(json, "\"}}}\n");
}

/* The first report of a process stays. */
static muster_status report_write(const char *path, const buffer *json)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0 && errno == EEXIST)
        return MUSTER_OK;
    if (fd < 0)
        return error_system("muster_report_failure: opening TORCHELASTIC_ERROR_FILE '%s'", path);
    size_t done = 0;
    while (done < json->size) {
        ssize_t written = write(fd, json->data + done, json->size - done);
        if (written < 0 && errno != EINTR)
            break;
        done += written < 0 ? 0 : (size_t)written;
    }
    muster_status status = MUSTER_OK;
    if (done < json->size) {
        status = error_system("muster_report_failure: writing '%s'", path);
        unlink(path); /* torchrun fails over a part of it */
    }
    close(fd);
    return status;
}

muster_status muster_report_failure(const char *sentence)
{
    buffer json = {0};
    const char *path = getenv("TORCHELASTIC_ERROR_FILE");
    if (sentence == NULL)
        sentence = muster_last_error();
    if (sentence[0] == '\0')
        return error_set(MUSTER_ERR_ARGUMENT,
                         "muster_report_failure: there is no sentence, and no call of muster has "
                         "failed on this thread");
    if (path == NULL || path[0] == '\0')
        return MUSTER_OK;
    report_json(&json, sentence);
    muster_status status =
        json.failed ? error_no_memory(json.size, "a report") : report_write(path, &json);
    buffer_free(&json);
    return status;
}
