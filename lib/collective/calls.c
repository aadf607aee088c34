/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The latest collectives of a rank, in words that can be compared.
 */
#include "config.h"

#include "collective/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 8 };

/* Of what the words of a call are made of. */
static uint64_t shape_of(const message_label *label)
{
    uint64_t shape = (uint32_t)label->root;
    shape = shape << BITS | (uint8_t)label->kind;
    shape = shape << BITS | (uint8_t)label->type;
    shape = shape << BITS | (uint8_t)label->redop;
    return shape << BITS | label->device;
}

static message_label label_of(uint64_t sequence, uint64_t count, uint64_t shape)
{
    return (message_label){.sequence = sequence,
                           .count = count,
                           .device = (uint8_t)shape,
                           .redop = (uint8_t)(shape >> BITS),
                           .type = (uint8_t)(shape >> 2 * BITS),
                           .kind = (uint8_t)(shape >> 3 * BITS),
                           .root = (int)(uint32_t)(shape >> 4 * BITS)};
}

/* A reader that sees a new part sees too that the number was taken away before it. */
void calls_note(call_list *list, const message_label *label)
{
    call_note *note = &list->calls[label->sequence % CALLS_KEPT];
    atomic_store_explicit(&note->sequence, 0, memory_order_relaxed);
    atomic_store_explicit(&note->count, label->count, memory_order_release);
    atomic_store_explicit(&note->shape, shape_of(label), memory_order_release);
    atomic_store_explicit(&note->sequence, label->sequence, memory_order_release);
    atomic_store_explicit(&list->latest, label->sequence, memory_order_release);
}

/* False where it is not there any more, or yet. */
bool calls_find(const call_list *list, uint64_t number, message_label *label)
{
    const call_note *note = &list->calls[number % CALLS_KEPT];
    if (number == 0 || atomic_load_explicit(&note->sequence, memory_order_acquire) != number)
        return false;
    uint64_t count = atomic_load_explicit(&note->count, memory_order_acquire);
    uint64_t shape = atomic_load_explicit(&note->shape, memory_order_acquire);
    *label = label_of(number, count, shape);
    return atomic_load_explicit(&note->sequence, memory_order_relaxed) == number;
}

bool calls_last(const call_list *list, message_label *label)
{
    return calls_find(list, atomic_load_explicit(&list->latest, memory_order_acquire), label);
}

void calls_clear(call_list *list)
{
    for (int i = 0; i < CALLS_KEPT; i++)
        atomic_store_explicit(&list->calls[i].sequence, 0, memory_order_relaxed);
    atomic_store_explicit(&list->latest, 0, memory_order_release);
}

static const char waiting[] = "waits\n";

const char *calls_text(const call_list *list, bool waits, char *text)
{
    size_t used = 0;
    text[0] = '\0';
    uint64_t latest = atomic_load_explicit(&list->latest, memory_order_acquire);
    for (uint64_t number = latest; number > 0 && latest - number < CALLS_KEPT; number--) {
        message_label label;
        char words[CALLS_WORDS];
        if (!calls_find(list, number, &label))
            continue;
        used += (size_t)snprintf(text + used, CALLS_TEXT - used, "%llu %s\n",
                                 (unsigned long long)number,
                                 message_label_call(&label, words, sizeof(words)));
    }
    snprintf(text + used, CALLS_TEXT - used, "%s", waits ? waiting : "");
    return text;
}

bool calls_waits(const char *text)
{
    size_t length = strlen(text);
    return length >= strlen(waiting) && strcmp(text + length - strlen(waiting), waiting) == 0;
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
