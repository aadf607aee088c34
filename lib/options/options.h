/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Settings by name: what a user asked for, from where, and whether the backends found know it.
 */
#ifndef MUSTER_LIB_OPTIONS_H
#define MUSTER_LIB_OPTIONS_H

#include "base/error.h"
#include "muster/backend.h"

/* Where a setting came from, weakest first. */
typedef enum options_strength {
    OPTIONS_FROM_VARIABLE, /* the option's own variable, such as GLOO_SOCKET_IFNAME */
    OPTIONS_FROM_PARENT,
    OPTIONS_FROM_ENVIRONMENT, /* MUSTER_OPTIONS */
    OPTIONS_FROM_TEXT,
    OPTIONS_FROM_ARGUMENT
} options_strength;

typedef struct options_setting {
    char *name; /* one block of memory with value */
    char *value;
    bool optional;
    options_strength strength;
    const char *source; /* in words; lives until the process ends */
} options_setting;

struct muster_options {
    options_setting *settings;
    size_t count;
    size_t capacity;
};

/* The options of one backend and what was found of it. */
typedef struct options_table {
    const char *backend;          /* "gloo" */
    const muster_option *options; /* ended by one without a name; NULL: none */
    const char *version;          /* found; "" where unknown */
    bool available;
    bool readable; /* its table could be read; if not, settings for it are let through */
} options_table;

/*
 * Merges, in rising strength: base (a parent group's settings, or NULL), MUSTER_OPTIONS, text (as
 * for muster_options_parse, or NULL) and object (or NULL). A setting of the same name from a
 * stronger source replaces that of a weaker one.
 */
muster_status options_collect(const muster_options *base, const muster_options *object,
                              const char *text, muster_options **collected);

/*
 * Checks every setting against the tables of all backends found. Afterwards names are canonical,
 * values are in the form that backends get, what was dropped is gone, and the variables that stand
 * in for options that nobody set have become settings. After an error collected is only good for
 * muster_options_free().
 */
muster_status options_check(muster_options *collected, const options_table *tables,
                            size_t num_tables);

/* The value for name in checked settings, or its default from table, or NULL; *source, where not
 * NULL, says which. Lives as long as both. */
const char *options_value(const muster_options *checked, const muster_option *table,
                          const char *name, const char **source);

/* For those who list settings one by one, i < options_count(). */
size_t options_count(const muster_options *options);
const options_setting *options_at(const muster_options *options, size_t i);

/* Inside the room: a setting by name or NULL; sets one, replacing that of the same name; moves all
 * of from, or none; takes the one at i away; sets what text says, all or nothing, with what in
 * front of errors ("MUSTER_OPTIONS: "). */
options_setting *options_find(const muster_options *options, const char *name);
muster_status options_put(muster_options *options, const options_setting *setting);
muster_status options_move(muster_options *options, muster_options *from);
void options_remove(muster_options *options, size_t i);
muster_status options_put_text(muster_options *options, const char *text, options_strength strength,
                               const char *source, const char *what);

#endif
