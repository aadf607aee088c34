/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What muster-info found, and the two ways to say it.
 */
#ifndef MUSTER_INFO_INFO_H
#define MUSTER_INFO_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "muster.h"

/* A variable that tells a process who it is, as launchers set it. */
typedef struct info_variable {
    const char *name;
    const char *value; /* NULL: not set */
} info_variable;

enum { INFO_RANK, INFO_WORLD_SIZE, INFO_MASTER_ADDR, INFO_MASTER_PORT, INFO_NUM_VARIABLES };

typedef struct info {
    muster_backend_report *backends;
    size_t num_backends;
    muster_option_report *options;
    size_t num_options;
    char *machine;            /* muster_describe_host's facts, in words */
    char *machine_json;       /* and in JSON */
    const char *backend_path; /* MUSTER_BACKEND_PATH, or NULL */
    info_variable variables[INFO_NUM_VARIABLES];
    muster_launcher_report *launcher;
    char *started; /* muster_describe_launcher's facts, in words */
    char *started_json;
} info;

/* Opens the backends; false with muster's last error. */
bool info_collect(info *found);
void info_free(info *found);

void info_print(const info *found, bool options, bool launcher, bool verbose);

/* False where memory ran out. */
bool info_print_json(const info *found);

#endif
