/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prompts from a file of JSON lines.
 */
#include "config.h"

#include "prompts.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a sentence about the file is written. */
typedef struct prompts_reader {
    prompts *list;
    const char *file;
    size_t line;
    char *why;
    size_t why_size;
} prompts_reader;

#if defined(__GNUC__)
#define PROMPTS_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define PROMPTS_PRINTF
#endif

static bool prompts_refuse(prompts_reader *reader, const char *format, ...) PROMPTS_PRINTF;

/* "FILE:LINE: what"; always false. */
static bool prompts_refuse(prompts_reader *reader, const char *format, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    if (reader->line == 0)
        snprintf(reader->why, reader->why_size, "'%s' can't be read: %s", reader->file, words);
    else
        snprintf(reader->why, reader->why_size, "%s:%zu: %s", reader->file, reader->line, words);
    return false;
}

static bool prompts_no_memory(prompts_reader *reader)
{
    return prompts_refuse(reader, "there is not enough memory for the prompts");
}

/* An array of items with room for needed of them. */
static bool prompts_grow(void *array, size_t needed, size_t item)
{
    void *grown = needed > SIZE_MAX / item ? NULL : realloc(*(void **)array, needed * item);
    if (grown != NULL)
        *(void **)array = grown;
    return grown != NULL;
}

static bool prompts_load(prompts_reader *reader, int file, size_t expected)
{
    prompts *list = reader->list;
    size_t capacity = 0;
    for (;;) {
        if (list->size == capacity) {
            capacity = capacity == 0 ? expected + 1 : capacity * 2;
            if (!prompts_grow(&list->bytes, capacity, 1))
                return prompts_no_memory(reader);
        }
        ssize_t got = read(file, list->bytes + list->size, capacity - list->size);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return prompts_refuse(reader, "%s", strerror(errno));
        list->size += got > 0 ? (size_t)got : 0;
    }
}

/* Every rank reads the file, which a pipe would not survive; not waiting for its writer, either. */
static bool prompts_open(prompts_reader *reader)
{
    struct stat status;
    int file = open(reader->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return prompts_refuse(reader, "%s", strerror(errno));
    bool good;
    if (fstat(file, &status) != 0)
        good = prompts_refuse(reader, "%s", strerror(errno));
    else if (S_ISDIR(status.st_mode))
        good = prompts_refuse(reader, "it is a folder");
    else if (!S_ISREG(status.st_mode))
        good = prompts_refuse(reader, "it is no regular file, and every rank is to read it");
    else
        good = prompts_load(reader, file, (size_t)status.st_size);
    close(file);
    return good;
}

static bool prompts_room(prompts *list, size_t more_tokens)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        if (!prompts_grow(&list->lines, capacity, sizeof(*list->lines)) ||
            !prompts_grow(&list->line_numbers, capacity, sizeof(*list->line_numbers)) ||
            !prompts_grow(&list->lengths, capacity, sizeof(*list->lengths)) ||
            !prompts_grow(&list->offsets, capacity + 1, sizeof(*list->offsets)))
            return false;
        list->capacity = capacity;
    }
    size_t needed = list->num_tokens + more_tokens;
    if (needed > list->token_capacity) {
        size_t capacity = list->token_capacity * 2 > needed ? list->token_capacity * 2 : needed;
        if (!prompts_grow(&list->tokens, capacity, sizeof(*list->tokens)))
            return false;
        list->token_capacity = capacity;
    }
    return true;
}

static bool prompts_add(prompts_reader *reader, muster_blob line, const json_t *object)
{
    prompts *list = reader->list;
    const json_t *ids = json_object_get(object, "token_ids");
    if (!json_is_object(object))
        return prompts_refuse(reader, "the line is no JSON object");
    if (!json_is_string(json_object_get(object, "prompt")))
        return prompts_refuse(reader, "there is no text \"prompt\" in the object");
    if (!json_is_array(ids))
        return prompts_refuse(reader, "there is no list \"token_ids\" in the object");
    size_t length = json_array_size(ids);
    if (!prompts_room(list, length))
        return prompts_no_memory(reader);
    for (size_t i = 0; i < length; i++) {
        const json_t *id = json_array_get(ids, i);
        if (!json_is_integer(id))
            return prompts_refuse(reader, "item %zu of \"token_ids\" is no integer", i);
        list->tokens[list->num_tokens + i] = json_integer_value(id);
    }
    list->lines[list->count] = line;
    list->line_numbers[list->count] = reader->line;
    list->lengths[list->count] = length;
    list->offsets[list->count] = list->num_tokens;
    list->count++;
    list->num_tokens += length;
    list->offsets[list->count] = list->num_tokens;
    return true;
}

static bool prompts_parse(prompts_reader *reader, const char *text, size_t size)
{
    while (size > 0 && text[size - 1] == '\r')
        size--;
    size_t blanks = 0;
    while (blanks < size && (text[blanks] == ' ' || text[blanks] == '\t'))
        blanks++;
    if (blanks == size)
        return true;
    json_error_t error;
    json_t *object = json_loadb(text, size, JSON_ALLOW_NUL, &error);
    if (object == NULL)
        return prompts_refuse(reader, "the line is no JSON: %s", error.text);
    bool good = prompts_add(reader, (muster_blob){text, size}, object);
    json_decref(object);
    return good;
}

bool prompts_read(prompts *list, const char *file, char *why, size_t why_size)
{
    prompts_reader reader = {list, file, 0, why, why_size};
    *list = (prompts){.count = 0};
    if (!prompts_open(&reader))
        return false;
    const char *at = list->bytes;
    const char *end = at + list->size;
    bool good = prompts_room(list, 1) || prompts_no_memory(&reader);
    if (good)
        list->offsets[0] = 0;
    while (good && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((line_end != NULL ? line_end : end) - at);
        reader.line++;
        good = prompts_parse(&reader, at, size);
        at += size + 1;
    }
    return good;
}

void prompts_free(prompts *list)
{
    free(list->bytes);
    free(list->lines);
    free(list->line_numbers);
    free(list->lengths);
    free(list->offsets);
    free(list->tokens);
    *list = (prompts){.count = 0};
}

size_t prompts_share(size_t count, int rank, int size)
{
    size_t even = count / (size_t)size;
    size_t more = count % (size_t)size;
    return even * (size_t)rank + ((size_t)rank < more ? (size_t)rank : more);
}
