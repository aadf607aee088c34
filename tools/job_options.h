/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that the tools whose ranks form a world have in common.
 */
#ifndef MUSTER_TOOLS_JOB_OPTIONS_H
#define MUSTER_TOOLS_JOB_OPTIONS_H

#include "command_line.h"
#include "muster.h"

typedef struct job_options {
    const char *backend;
    const char *init_method;
    const char *settings; /* muster's options, as text */
    int64_t timeout_ms;
    bool json;
} job_options;

enum {
    JOB_OPTIONS_BACKEND = COMMAND_LINE_VERSION + 1,
    JOB_OPTIONS_TIMEOUT,
    JOB_OPTIONS_INIT_METHOD,
    JOB_OPTIONS_SETTINGS,
    JOB_OPTIONS_JSON
};

/* Their rows in a table of long options. */
#define JOB_OPTIONS_ROWS                                                                           \
    {"backend", required_argument, NULL, JOB_OPTIONS_BACKEND},                                     \
        {"timeout", required_argument, NULL, JOB_OPTIONS_TIMEOUT},                                 \
        {"init-method", required_argument, NULL, JOB_OPTIONS_INIT_METHOD},                         \
        {"init_method", required_argument, NULL, JOB_OPTIONS_INIT_METHOD},                         \
        {"options", required_argument, NULL, JOB_OPTIONS_SETTINGS},                                \
    {                                                                                              \
        "json", no_argument, NULL, JOB_OPTIONS_JSON                                                \
    }

/* Takes one of them, whose argument is optarg; false after a complaint. */
bool job_options_take(job_options *options, int option);

/* The world of all ranks, under a name of its own or, for NULL, the usual one. */
muster_status job_options_open(const job_options *options, const char *name, muster_group **world);

#endif
