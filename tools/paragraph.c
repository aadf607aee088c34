/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts on a terminal of 80 columns.
 */
#include "config.h"

#include "paragraph.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMNS = 80 };

/* The columns of UTF-8 text, near enough: its bytes that do not continue a character. */
static int paragraph_width(const char *text, size_t size)
{
    int width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

void paragraph_print(FILE *out, int indent, const char *name, const char *format, ...)
{
    char words[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    int column = fprintf(out, "  %s", name);
    bool first = true;
    for (const char *word = words + strspn(words, " \n"); *word != '\0';) {
        size_t size = strcspn(word, " \n");
        int width = paragraph_width(word, size);
        /* A name that is too long has a line of its own, and so has a word. */
        if (first ? column >= indent : column + 1 + width > COLUMNS - 1) {
            fputc('\n', out);
            column = 0;
            first = true;
        }
        int gap = first ? indent - column : 1;
        fprintf(out, "%*s%.*s", gap, "", (int)size, word);
        column += gap + width;
        first = false;
        word += size;
        word += strspn(word, " \n");
    }
    fputc('\n', out);
}
