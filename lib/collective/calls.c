/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The latest collectives of a rank, in words that can be compared.
 */
#include "config.h"

#include "collective/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void calls_note(call_list *list, const message_label *label)
{
    list->latest = label->sequence;
    list->calls[label->sequence % CALLS_KEPT] = *label;
}

const message_label *calls_last(const call_list *list)
{
    return list->latest == 0 ? NULL : &list->calls[list->latest % CALLS_KEPT];
}

const char *calls_text(const call_list *list, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t number = list->latest; number > 0 && list->latest - number < CALLS_KEPT;
         number--) {
        const message_label *label = &list->calls[number % CALLS_KEPT];
        char words[CALLS_WORDS];
        if (label->kind == 0 || label->sequence != number)
            continue;
        used += (size_t)snprintf(text + used, CALLS_TEXT - used, "%llu %s\n",
                                 (unsigned long long)number,
                                 message_label_call(label, words, sizeof(words)));
    }
    return text;
}

/* Takes a line off the text; false at its end. */
static bool take_line(const char **text, uint64_t *number, char *words, size_t size)
{
    char *call;
    *number = strtoull(*text, &call, 10);
    if (call == *text)
        return false;
    call += *call == ' ';
    size_t length = strcspn(call, "\n");
    snprintf(words, size, "%.*s", (int)(length < size ? length : size - 1), call);
    *text = call + length + (call[length] == '\n');
    return true;
}

uint64_t calls_latest(const char *text, char *words, size_t size)
{
    uint64_t number = 0;
    words[0] = '\0';
    take_line(&text, &number, words, size);
    return number;
}

/* The call of that number; false where the text does not have it. */
static bool find(const char *text, uint64_t wanted, char *words, size_t size)
{
    uint64_t number;
    while (take_line(&text, &number, words, size))
        if (number == wanted)
            return true;
    return false;
}

bool calls_differ(const char *ours, const char *theirs, calls_difference *found)
{
    bool differ = false;
    uint64_t number;
    char mine[CALLS_WORDS], other[CALLS_WORDS];
    while (take_line(&ours, &number, mine, sizeof(mine)))
        if (find(theirs, number, other, sizeof(other)) && strcmp(mine, other) != 0) {
            differ = true;
            found->number = number;
            memcpy(found->ours, mine, sizeof(mine));
            memcpy(found->theirs, other, sizeof(other));
        }
    return differ;
}

bool calls_has(const char *text, uint64_t number)
{
    char words[CALLS_WORDS];
    return find(text, number, words, sizeof(words));
}
