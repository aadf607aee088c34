/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which option each setting is for: unknown names are refused with a hint, older names become those
 * of today, and settings that turn out to be one and the same are merged.
 */
#include "options/options_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"
#include "options/option_table.h"

const options_table *options_check_table(const options_check_state *state, const char *name)
{
    size_t length = strcspn(name, ".");
    for (size_t i = 0; i < state->num_tables; i++) {
        const options_table *table = &state->tables[i];
        if (*table->backend == '\0' ? option_table_find(table->options, name) != NULL
                                    : name[length] == '.' && strlen(table->backend) == length &&
                                          strncmp(table->backend, name, length) == 0)
            return table;
    }
    return NULL;
}

/* "gloo, local" in buffer, cut where it does not fit. */
static const char *options_names_backends(const options_check_state *state, char *buffer,
                                          size_t size)
{
    buffer[0] = '\0';
    for (size_t i = 0; i < state->num_tables; i++) {
        const char *name = state->tables[i].backend;
        size_t used = strlen(buffer);
        if (*name == '\0')
            continue;
        if (used + strlen(name) + 3 > size)
            break;
        strcpy(buffer + used, used > 0 ? ", " : "");
        strcat(buffer + used, name);
    }
    return buffer;
}

/* The nearest known option to name in words, "; did you mean 'gloo.iface'?", or who knows all.
 * Compares without the backend's name where name has none, or has that of the table. */
static const char *options_names_hint(const options_check_state *state, const options_table *only,
                                      const char *name, char *buffer, size_t size)
{
    bool bare = only != NULL || strchr(name, '.') == NULL;
    nearest search = {only != NULL ? name + strlen(only->backend) + 1 : name, NULL, 0};
    const char *full = NULL;
    for (size_t i = 0; i < state->num_tables; i++) {
        const options_table *table = &state->tables[i];
        if (table->options == NULL || (only != NULL && only != table))
            continue;
        for (const muster_option *row = table->options; row->name != NULL; row++) {
            size_t front = *table->backend == '\0' ? 0 : strlen(table->backend) + 1;
            const char *known = row->name + (bare ? front : 0);
            nearest_offer(&search, known);
            if (search.best == known)
                full = row->name;
        }
    }
    if (full == NULL)
        return "; muster-info --options lists all options";
    snprintf(buffer, size, "; did you mean '%s'?", full);
    return buffer;
}

static muster_status options_names_no_backend(const options_check_state *state,
                                              const options_setting *setting)
{
    char known[256], hint[256];
    options_names_backends(state, known, sizeof(known));
    if (strchr(setting->name, '.') == NULL)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "option '%s' (%s) has no backend's name in front, as in 'backend.%s'; "
                         "there are: %s%s",
                         setting->name, setting->source, setting->name, known,
                         options_names_hint(state, NULL, setting->name, hint, sizeof(hint)));
    return error_set(
        MUSTER_ERR_ARGUMENT, "option '%s' (%s): no backend '%.*s' was found; there are: %s%s",
        setting->name, setting->source, (int)strcspn(setting->name, "."), setting->name, known,
        options_names_hint(state, NULL, setting->name, hint, sizeof(hint)));
}

/* Gives the setting its name of today. */
static muster_status options_names_rename(options_setting *setting, const char *canonical)
{
    size_t name = strlen(canonical) + 1, value = strlen(setting->value) + 1;
    log_line(MUSTER_LOG_INFO, "option '%s' (%s) is now called '%s'", setting->name, setting->source,
             canonical);
    char *block = malloc(name + value);
    if (block == NULL)
        return error_no_memory(name + value, "an option");
    char *old = setting->name;
    setting->value = memcpy(block + name, setting->value, value);
    setting->name = memcpy(block, canonical, name);
    free(old);
    return MUSTER_OK;
}

/* Finds the option that the setting at i is for; *drop where it is to be left out. */
static muster_status options_names_name(const options_check_state *state, size_t i, bool *drop)
{
    options_setting *setting = &state->settings->settings[i];
    const options_table *table = options_check_table(state, setting->name);
    *drop = false;
    if (table == NULL && setting->optional && strchr(setting->name, '.') != NULL) {
        options_check_warn_dropped(setting, "its backend was not found here");
        *drop = true;
        return MUSTER_OK;
    }
    if (table == NULL)
        return options_names_no_backend(state, setting);
    if (!table->readable) {
        log_line(MUSTER_LOG_INFO, "option '%s' (%s) is not checked: the backend can't be loaded",
                 setting->name, setting->source);
        return MUSTER_OK;
    }
    const muster_option *row = option_table_find(table->options, setting->name);
    char hint[256];
    if (row == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "backend '%s' has no option '%s' (%s)%s",
                         table->backend, setting->name, setting->source,
                         options_names_hint(state, table, setting->name, hint, sizeof(hint)));
    if (strcmp(row->name, setting->name) != 0)
        return options_names_rename(setting, row->name);
    return MUSTER_OK;
}

static muster_status options_names_names(const options_check_state *state)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < state->settings->count;) {
        bool drop;
        status = options_names_name(state, i, &drop);
        if (status == MUSTER_OK && drop)
            options_remove(state->settings, i);
        else
            i++;
    }
    return status;
}

/* Two settings have one name since an older name was used: the stronger stays. */
static muster_status options_names_merge(muster_options *settings, size_t first, size_t second)
{
    const options_setting *a = &settings->settings[first], *b = &settings->settings[second];
    if (a->strength == b->strength && strcmp(a->value, b->value) != 0)
        return error_set(MUSTER_ERR_ARGUMENT,
                         "option '%s' is set to '%s' and, by an older name, to '%s' in the same "
                         "place (%s); set it once",
                         a->name, a->value, b->value, a->source);
    options_remove(settings, a->strength >= b->strength ? second : first);
    return MUSTER_OK;
}

static bool options_names_find_double(const muster_options *settings, size_t *first, size_t *second)
{
    for (*first = 0; *first < settings->count; ++*first)
        for (*second = *first + 1; *second < settings->count; ++*second)
            if (strcmp(settings->settings[*first].name, settings->settings[*second].name) == 0)
                return true;
    return false;
}

static muster_status options_names_doubles(muster_options *settings)
{
    muster_status status = MUSTER_OK;
    size_t first, second;
    while (status == MUSTER_OK && options_names_find_double(settings, &first, &second))
        status = options_names_merge(settings, first, second);
    return status;
}

muster_status options_settle_names(const options_check_state *state)
{
    muster_status status = options_names_names(state);
    return status != MUSTER_OK ? status : options_names_doubles(state->settings);
}
