/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks settings against the tables of the backends found: first their names, then their values
 * and whether the version found knows them.
 */
#include "options/options_check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "options/core_options.h"
#include "options/option_table.h"
#include "options/option_type.h"

void options_check_warn_dropped(const options_setting *setting, const char *why)
{
    log_line(MUSTER_LOG_WARNING, "option '%s' (%s) is left out: %s", setting->name, setting->source,
             why);
}

/* Options that nobody set and that have a variable of their own become settings now, so that a
 * variable that changes later changes nothing. */
static muster_status options_check_variables(const options_check_state *state,
                                             const options_table *table)
{
    muster_status status = MUSTER_OK;
    for (const muster_option *row = table->options;
         status == MUSTER_OK && row != NULL && row->name != NULL; row++) {
        const char *value = row->environment == NULL ? NULL : getenv(row->environment);
        if (value == NULL || value[0] == '\0' || options_find(state->settings, row->name) != NULL ||
            option_table_era(row, table->version) != OPTION_USABLE)
            continue;
        const options_setting setting = {(char *)(uintptr_t)row->name, (char *)(uintptr_t)value,
                                         false, OPTIONS_FROM_VARIABLE, row->environment};
        status = options_put(state->settings, &setting);
    }
    return status;
}

/* Checks the value and puts it into the form that backends get. */
static muster_status options_check_value(muster_options *settings, const options_setting *setting,
                                         const muster_option *row)
{
    const option_type *type = option_type_find(row->type);
    const char *normal = type->normal(setting->value);
    if (normal == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "option '%s' is of type %s, but '%s' (%s) is not %s",
                         setting->name, type->name, setting->value, setting->source, type->wants);
    if (normal == setting->value)
        return MUSTER_OK;
    options_setting changed = *setting;
    changed.value = (char *)(uintptr_t)normal;
    return options_put(settings, &changed);
}

/* Checks that the version found knows the option; *drop where the setting is to be left out. */
static muster_status options_check_era(const options_table *table, const options_setting *setting,
                                       const muster_option *row, bool *drop)
{
    option_era era = table->available ? option_table_era(row, table->version) : OPTION_USABLE;
    *drop = false;
    if (era == OPTION_USABLE)
        return MUSTER_OK;
    char why[512];
    if (era == OPTION_TOO_NEW)
        snprintf(why, sizeof(why), "it needs %s %s or later, and %s was found",
                 core_options_owner(table), row->since, table->version);
    else
        snprintf(why, sizeof(why), "it was removed after %s %s, and %s was found",
                 core_options_owner(table), row->until, table->version);
    if (!setting->optional)
        return error_set(MUSTER_ERR_UNSUPPORTED,
                         "option '%s' (%s) can't be used: %s; leave it out, or write '%s?' to have "
                         "it left out where it is not known",
                         setting->name, setting->source, why, setting->name);
    options_check_warn_dropped(setting, why);
    *drop = true;
    return MUSTER_OK;
}

static muster_status options_check_setting(const options_check_state *state, size_t i, bool *drop)
{
    muster_options *settings = state->settings;
    const char *name = settings->settings[i].name;
    const options_table *table = options_check_table(state, name);
    *drop = false;
    if (!table->readable)
        return MUSTER_OK;
    const muster_option *row = option_table_find(table->options, name);
    muster_status status = options_check_value(settings, &settings->settings[i], row);
    if (status != MUSTER_OK)
        return status;
    return options_check_era(table, &settings->settings[i], row, drop);
}

muster_status options_check(muster_options *collected, const options_table *tables,
                            size_t num_tables)
{
    const options_check_state state = {collected, tables, num_tables};
    muster_status status = options_settle_names(&state);
    for (size_t i = 0; status == MUSTER_OK && i < num_tables; i++)
        if (tables[i].available)
            status = options_check_variables(&state, &tables[i]);
    for (size_t i = 0; status == MUSTER_OK && i < collected->count;) {
        bool drop;
        status = options_check_setting(&state, i, &drop);
        if (status == MUSTER_OK && drop)
            options_remove(collected, i);
        else
            i++;
    }
    return status;
}

const char *options_value(const muster_options *checked, const muster_option *table,
                          const char *name, const char **source)
{
    const options_setting *setting = checked == NULL ? NULL : options_find(checked, name);
    const muster_option *row = setting == NULL ? option_table_find(table, name) : NULL;
    const char *value = NULL, *from = NULL;
    if (setting != NULL) {
        value = setting->value;
        from = setting->source;
    } else if (row != NULL && row->default_value != NULL) {
        value = option_type_find(row->type)->normal(row->default_value);
        from = "default";
    }
    if (source != NULL)
        *source = from;
    return value;
}
