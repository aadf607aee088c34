/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tells programs which backends were found, and which options those know.
 */
#include <stdlib.h>

#include "backend/backend.h"
#include "options/core_options.h"
#include "options/option_table.h"
#include "options/option_type.h"

static const char *backend_report_text(const char *text)
{
    return text == NULL ? "" : text;
}

muster_status muster_list_backends(muster_backend_report **reports, size_t *num_reports)
{
    if (reports == NULL || num_reports == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_list_backends: %s is NULL",
                         reports == NULL ? "reports" : "num_reports");
    const backend_entry *const *list;
    size_t count;
    muster_status status = backend_look_at(NULL);
    if (status == MUSTER_OK)
        status = backend_list(&list, &count);
    if (status != MUSTER_OK)
        return status;
    muster_backend_report *made = calloc(count, sizeof(*made));
    if (made == NULL)
        return error_no_memory(count * sizeof(*made), "the report on backends");
    for (size_t i = 0; i < count; i++)
        made[i] = (muster_backend_report){list[i]->name, list[i]->available, list[i]->info.version,
                                          list[i]->file, list[i]->reason};
    *reports = made;
    *num_reports = count;
    return MUSTER_OK;
}

static muster_option_report backend_report_option(const muster_option *row, bool usable)
{
    const option_type *type = option_type_find(row->type);
    return (muster_option_report){
        .name = row->name,
        .type = type->name,
        .default_value = row->default_value == NULL ? "" : type->normal(row->default_value),
        .since = backend_report_text(row->since),
        .until = backend_report_text(row->until),
        .aliases = backend_report_text(row->aliases),
        .help = backend_report_text(row->help),
        .usable = usable,
    };
}

/* muster's own first. Fills reports, which may be NULL; returns how many there are. */
static size_t backend_report_options(const backend_entry *const *list, size_t count,
                                     muster_option_report *reports)
{
    size_t made = 0;
    for (const muster_option *row = core_options; row->name != NULL; row++, made++)
        if (reports != NULL)
            reports[made] = backend_report_option(row, true);
    for (size_t i = 0; i < count; i++) {
        const muster_option *row = list[i]->ops == NULL ? NULL : list[i]->ops->options;
        for (; row != NULL && row->name != NULL; row++, made++)
            if (reports != NULL)
                reports[made] = backend_report_option(
                    row, list[i]->available &&
                             option_table_era(row, list[i]->info.version) == OPTION_USABLE);
    }
    return made;
}

muster_status muster_list_options(muster_option_report **reports, size_t *num_reports)
{
    if (reports == NULL || num_reports == NULL)
        return error_set(MUSTER_ERR_ARGUMENT, "muster_list_options: %s is NULL",
                         reports == NULL ? "reports" : "num_reports");
    const backend_entry *const *list;
    size_t count;
    muster_status status = backend_look_at(NULL);
    if (status == MUSTER_OK)
        status = backend_list(&list, &count);
    if (status != MUSTER_OK)
        return status;
    size_t options = backend_report_options(list, count, NULL);
    muster_option_report *made = calloc(options, sizeof(*made)); /* never none: muster has some */
    if (made == NULL)
        return error_no_memory(options * sizeof(*made), "the report on options");
    *num_reports = backend_report_options(list, count, made);
    *reports = made;
    return MUSTER_OK;
}
