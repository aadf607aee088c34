/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Settings by name, such as "gloo.iface", for groups that are to be made.
 *
 * muster has a few of its own, which have no backend in front: "placement", "placement_list" and
 * "bind", see muster/placement.h. Each backend declares its own with a type, a default, the first
 * and last version that know it, and older names that are still understood. They are checked
 * against the backend as found at run time when a group is made: unknown names are
 * MUSTER_ERR_ARGUMENT with the nearest known one suggested, and so are ill-typed values; one that
 * the version found does not know is MUSTER_ERR_UNSUPPORTED with the version that does, or dropped
 * with a warning where it was marked optional. An optional one of a backend that is not there at
 * all is dropped in the same way. Those of a backend that is there, but not the group's, are
 * without effect; a warning in the log says so where they were not optional, and
 * muster_group_describe() does.
 *
 * The same option may come from three places; the stronger wins: a muster_options object, the text
 * in muster_init_args.options, the environment variable MUSTER_OPTIONS.
 */
#ifndef MUSTER_OPTIONS_H
#define MUSTER_OPTIONS_H

#include <muster/blob.h>
#include <muster/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names with their values. A group that is made copies what it needs. Threads that share an object
 * which one of them changes take turns. */
typedef struct muster_options muster_options;

/* An object without settings. */
MUSTER_API muster_status muster_options_new(muster_options **options);
MUSTER_API void muster_options_free(muster_options *options);

/* Sets name to value, both copied; a later call for the same name replaces the earlier. The name
 * with a '?' behind it ("nccl.max_ctas?") marks the option optional. Names and values are checked
 * when a group is made, since only then is it known which backend they meet; here only NULL and an
 * empty name are MUSTER_ERR_ARGUMENT. */
MUSTER_API muster_status muster_options_set(muster_options *options, const char *name,
                                            const char *value);

/*
 * Sets several from text: "gloo.iface=eth0,gloo.hostname=10.0.0.1". A part between commas that
 * holds no '=', or begins with one, continues the value before it, so that "gloo.iface=^lo,docker"
 * is one option. Spaces around names, values and commas do not count; a value in double quotes is
 * taken as it stands. On an error nothing is set.
 */
MUSTER_API muster_status muster_options_parse(muster_options *options, const char *text);

/* *value is the value set for name, which belongs to options and is valid until their next change;
 * MUSTER_ERR_NOT_FOUND if it is not set. */
MUSTER_API muster_status muster_options_get(const muster_options *options, const char *name,
                                            const char **value);

/* One option that muster or a backend knows. Strings live until the process ends. */
typedef struct muster_option_report {
    const char *name;          /* "gloo.iface" */
    const char *type;          /* "string", "integer", "boolean" */
    const char *default_value; /* "" where there is none */
    const char *since;         /* first version of the backend that knows it; "" is any */
    const char *until;         /* last one; "" is any */
    const char *aliases;       /* older names, separated by spaces */
    const char *help;          /* one line */
    bool usable;               /* with the backend as found here */
} muster_option_report;

/* *reports lists the *num_reports options known here, as muster-info --options prints them; the one
 * muster_free(*reports) frees it. Opens plugins where that has not been done yet. */
MUSTER_API muster_status muster_list_options(muster_option_report **reports, size_t *num_reports);

#ifdef __cplusplus
}
#endif
#endif
