/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sets of ranks in words, in ranges, so that a thousand missing ranks fit a sentence.
 */
#include "base/rank_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends; false once the text is full, which then ends in "...". */
static bool append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < size - used)
        return true;
    if (size > 3)
        memcpy(text + size - 4, "...", 4);
    return false;
}

static int count_in(const bool *in, int count)
{
    int members = 0;
    for (int r = 0; r < count; r++)
        members += in[r];
    return members;
}

const char *rank_set_text(const bool *in, int count, char *text, size_t size)
{
    int members = count_in(in, count);
    snprintf(text, size, "%s", members == 0 ? "no rank" : members == 1 ? "rank " : "ranks ");
    const char *comma = "";
    for (int first = 0; first < count; first++) {
        if (!in[first])
            continue;
        int last = first;
        while (last + 1 < count && in[last + 1])
            last++;
        bool fits = first == last ? append(text, size, "%s%d", comma, first)
                                  : append(text, size, "%s%d-%d", comma, first, last);
        if (!fits)
            break;
        comma = ",";
        first = last;
    }
    return text;
}

const char *rank_list_text(const int *ranks, size_t count, char *text, size_t size)
{
    snprintf(text, size, "{");
    for (size_t i = 0; i < count; i++)
        if (!append(text, size, "%s%d", i == 0 ? "" : ",", ranks[i]))
            return text;
    append(text, size, "}");
    return text;
}
