/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The muster_options object: a short list of names and values in the order in which they were set.
 */
#include "options/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

muster_status muster_options_new(muster_options **options)
{
    if (options == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_options_new: options is NULL");
    muster_options *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(sizeof(*made), "options");
    *options = made;
    return MUSTER_OK;
}

void muster_options_free(muster_options *options)
{
    if (options == NULL)
        return;
    for (size_t i = 0; i < options->count; i++)
        free(options->settings[i].name);
    free(options->settings);
    free(options);
}

options_setting *options_find(const muster_options *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->settings[i].name, name) == 0)
            return &options->settings[i];
    return NULL;
}

/* Makes room for so many more. */
static muster_status options_reserve(muster_options *options, size_t more)
{
    if (more <= options->capacity - options->count)
        return MUSTER_OK;
    size_t capacity = options->capacity * 2 + more; /* far from SIZE_MAX: each one is in memory */
    options_setting *grown = realloc(options->settings, capacity * sizeof(*grown));
    if (grown == NULL)
        return error_no_memory(capacity * sizeof(*grown), "options");
    options->settings = grown;
    options->capacity = capacity;
    return MUSTER_OK;
}

/* The copy of name and value in one block, so that a setting has one owner and one free. */
static muster_status options_copy(const options_setting *setting, options_setting *copy)
{
    size_t name = strlen(setting->name) + 1, value = strlen(setting->value) + 1;
    char *block = malloc(name + value);
    if (block == NULL)
        return error_no_memory(name + value, "an option");
    *copy = *setting;
    copy->name = memcpy(block, setting->name, name);
    copy->value = memcpy(block + name, setting->value, value);
    return MUSTER_OK;
}

/* Room has been made. Takes the setting's memory over. */
static void options_place(muster_options *options, const options_setting *setting)
{
    options_setting *place = options_find(options, setting->name);
    if (place != NULL)
        free(place->name);
    else
        place = &options->settings[options->count++];
    *place = *setting;
}

muster_status options_put(muster_options *options, const options_setting *setting)
{
    options_setting copy;
    muster_status status = options_reserve(options, 1);
    if (status == MUSTER_OK)
        status = options_copy(setting, &copy);
    if (status == MUSTER_OK)
        options_place(options, &copy);
    return status;
}

muster_status options_move(muster_options *options, muster_options *from)
{
    muster_status status = options_reserve(options, from->count);
    if (status != MUSTER_OK)
        return status;
    for (size_t i = 0; i < from->count; i++)
        options_place(options, &from->settings[i]);
    from->count = 0;
    return MUSTER_OK;
}

void options_remove(muster_options *options, size_t i)
{
    free(options->settings[i].name);
    options->count--;
    memmove(&options->settings[i], &options->settings[i + 1],
            (options->count - i) * sizeof(options->settings[0]));
}

muster_status muster_options_set(muster_options *options, const char *name, const char *value)
{
    if (options == NULL || name == NULL || value == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_options_set: %s is NULL",
                         options == NULL ? "options"
                         : name == NULL  ? "name"
                                         : "value");
    size_t length = strlen(name);
    bool optional = length > 0 && name[length - 1] == '?';
    char *plain = strndup(name, length - optional);
    if (plain == NULL)
        return error_no_memory(length + 1, "an option");
    muster_status status = MUSTER_OK;
    options_setting setting = {plain, (char *)(uintptr_t)value, optional, OPTIONS_FROM_ARGUMENT,
                               "argument"};
    if (plain[0] == '\0')
        status =
            error_set(MUSTER_ERR_ARGUMENT,
                      "muster_options_set: the name of the option set to '%s' is empty", value);
    else
        status = options_put(options, &setting);
    free(plain);
    return status;
}

muster_status muster_options_parse(muster_options *options, const char *text)
{
    if (options == NULL || text == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_options_parse: %s is NULL",
                         options == NULL ? "options" : "text");
    return options_put_text(options, text, OPTIONS_FROM_ARGUMENT, "argument",
                            "muster_options_parse: ");
}

muster_status muster_options_get(const muster_options *options, const char *name,
                                 const char **value)
{
    if (options == NULL || name == NULL || value == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_options_get: %s is NULL",
                         options == NULL ? "options"
                         : name == NULL  ? "name"
                                         : "value");
    const options_setting *setting = options_find(options, name);
    if (setting == NULL)
        return error_set(MUSTER_ERR_NOT_FOUND, "muster_options_get: no option '%s' is set", name);
    *value = setting->value;
    return MUSTER_OK;
}

size_t options_count(const muster_options *options)
{
    return options == NULL ? 0 : options->count;
}

const options_setting *options_at(const muster_options *options, size_t i)
{
    return &options->settings[i];
}
