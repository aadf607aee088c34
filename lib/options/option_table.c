/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looks up options in a backend's table, and checks the table itself: it may come from a plugin.
 */
#include "options/option_table.h"

#include <string.h>

#include "options/option_type.h"
#include "base/version.h"

/* Whether words, separated by spaces, has word among them. */
static bool option_table_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at != NULL && *at != '\0'; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (length > 0 && strcspn(at, " ") == length && strncmp(at, word, length) == 0)
            return true;
    }
    return false;
}

const muster_option *option_table_find(const muster_option *options, const char *name)
{
    for (const muster_option *row = options; row != NULL && row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    for (const muster_option *row = options; row != NULL && row->name != NULL; row++)
        if (option_table_has_word(row->aliases, name))
            return row;
    return NULL;
}

static muster_status option_table_check_version(const muster_option *row, const char *text,
                                                const char *what)
{
    version unused;
    if (text == NULL || version_read(text, &unused))
        return MUSTER_OK;
    return error_set(MUSTER_ERR_INTERNAL, "its option '%s' is known %s '%s', which is no version",
                     row->name, what, text);
}

static muster_status option_table_check_row(const char *backend, const muster_option *row)
{
    size_t length = strlen(backend);
    if (strncmp(row->name, backend, length) != 0 || row->name[length] != '.' ||
        row->name[length + 1] == '\0')
        return error_set(MUSTER_ERR_INTERNAL, "its option '%s' does not begin with '%s.'",
                         row->name, backend);
    const option_type *type = option_type_find(row->type);
    if (type == NULL)
        return error_set(MUSTER_ERR_INTERNAL, "its option '%s' has the type %d, which is none",
                         row->name, (int)row->type);
    if (row->default_value != NULL && type->normal(row->default_value) == NULL)
        return error_set(MUSTER_ERR_INTERNAL, "the default '%s' of its option '%s' is not %s",
                         row->default_value, row->name, type->wants);
    muster_status status = option_table_check_version(row, row->since, "since");
    return status != MUSTER_OK ? status : option_table_check_version(row, row->until, "until");
}

muster_status option_table_check(const char *backend, const muster_option *options)
{
    muster_status status = MUSTER_OK;
    for (const muster_option *row = options;
         status == MUSTER_OK && row != NULL && row->name != NULL; row++)
        status = option_table_check_row(backend, row);
    return status;
}

/* Negative, 0 or positive; 0 where either is no version. */
static int option_table_order(const char *a, const char *b)
{
    version left, right;
    if (!version_read(a, &left) || !version_read(b, &right))
        return 0;
    return version_order(&left, &right);
}

option_era option_table_era(const muster_option *option, const char *found)
{
    if (option->since != NULL && option_table_order(found, option->since) < 0)
        return OPTION_TOO_NEW;
    if (option->until != NULL && option_table_order(found, option->until) > 0)
        return OPTION_REMOVED;
    return OPTION_USABLE;
}
