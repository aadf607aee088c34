/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Status codes, their texts, and the thread's last error in words.
 */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[ERROR_SIZE];

const char *muster_status_name(muster_status status)
{
    switch (status) {
#define STATUS_NAME(name, number, text)                                                            \
    case MUSTER_##name:                                                                            \
        return "MUSTER_" #name;
        MUSTER_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "unknown status";
}

const char *muster_status_text(muster_status status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text)                                                            \
    case MUSTER_##name:                                                                            \
        return text;
        MUSTER_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *muster_last_error(void)
{
    return last_error;
}

/* Sentences quote what came from outside: nothing in it may look like a line of its own, or move a
 * terminal's cursor. */
void error_clean(char *sentence)
{
    for (unsigned char *c = (unsigned char *)sentence; *c != '\0'; c++)
        if (*c < ' ' || *c == 127)
            *c = '?';
}

muster_status error_set_v(muster_status status, const char *format, va_list arguments)
{
    char sentence[ERROR_SIZE];
    int saved = errno;
    int length = vsnprintf(sentence, sizeof(sentence), format, arguments);
    if (length < 0)
        strcpy(sentence, muster_status_text(status));
    else if ((size_t)length >= sizeof(sentence))
        memcpy(sentence + sizeof(sentence) - 4, "...", 4);
    error_clean(sentence);
    memcpy(last_error, sentence, sizeof(last_error));
    errno = saved;
    return status;
}

muster_status error_set(muster_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error_set_v(status, format, arguments);
    va_end(arguments);
    return status;
}

muster_status error_prefix(muster_status status, const char *format, ...)
{
    char words[ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    return error_set(status, "%s%s", words, last_error);
}

muster_status error_no_memory(size_t bytes, const char *what)
{
    return error_set(MUSTER_ERR_NO_MEMORY, "no memory for %zu bytes of %s", bytes, what);
}

muster_status error_system(const char *format, ...)
{
    int saved = errno;
    char what[ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    char reason[128];
    if (strerror_r(saved, reason, sizeof(reason)) != 0)
        snprintf(reason, sizeof(reason), "error %d", saved);
    return error_set(MUSTER_ERR_SYSTEM, "%s: %s", what, reason);
}

void error_keep(error_kept *kept)
{
    strcpy(kept->sentence, last_error);
}

muster_status error_settle(const error_kept *kept, muster_status status)
{
    if (status == MUSTER_OK)
        strcpy(last_error, kept->sentence);
    return status;
}
