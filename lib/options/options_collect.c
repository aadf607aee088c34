/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brings together what was set in several places, weakest first, so that stronger ones replace it.
 */
#include <stdlib.h>

#include "options/options.h"

static muster_status options_put_all(muster_options *options, const muster_options *from,
                                     options_strength strength, const char *source)
{
    muster_status status = MUSTER_OK;
    for (size_t i = 0; status == MUSTER_OK && i < options_count(from); i++) {
        options_setting setting = *options_at(from, i);
        setting.strength = strength;
        setting.source = source;
        status = options_put(options, &setting);
    }
    return status;
}

/* Text that is NULL sets nothing. */
static muster_status options_put_optional_text(muster_options *options, const char *text,
                                               options_strength strength, const char *source,
                                               const char *what)
{
    return text == NULL ? MUSTER_OK : options_put_text(options, text, strength, source, what);
}

muster_status options_collect(const muster_options *base, const muster_options *object,
                              const char *text, muster_options **collected)
{
    muster_options *merged;
    muster_status status = muster_options_new(&merged);
    if (status != MUSTER_OK)
        return status;
    status = options_put_all(merged, base, OPTIONS_FROM_PARENT, "parent");
    if (status == MUSTER_OK)
        status =
            options_put_optional_text(merged, getenv("MUSTER_OPTIONS"), OPTIONS_FROM_ENVIRONMENT,
                                      "MUSTER_OPTIONS", "MUSTER_OPTIONS: ");
    if (status == MUSTER_OK)
        status = options_put_optional_text(merged, text, OPTIONS_FROM_TEXT, "options text",
                                           "options text: ");
    if (status == MUSTER_OK)
        status = options_put_all(merged, object, OPTIONS_FROM_ARGUMENT, "argument");
    if (status == MUSTER_OK)
        *collected = merged;
    else
        muster_options_free(merged);
    return status;
}
