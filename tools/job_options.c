/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that the tools whose ranks form a world have in common.
 */
#include "config.h"

#include "job_options.h"

bool job_options_take(job_options *options, int option)
{
    switch (option) {
    case JOB_OPTIONS_BACKEND:
        options->backend = optarg;
        return true;
    case JOB_OPTIONS_TIMEOUT:
        return command_line_seconds(&options->timeout_ms, "--timeout", optarg);
    case JOB_OPTIONS_INIT_METHOD:
        options->init_method = optarg;
        return true;
    case JOB_OPTIONS_SETTINGS:
        options->settings = optarg;
        return true;
    default:
        options->json = true;
        return true;
    }
}

muster_status job_options_open(const job_options *options, const char *name, muster_group **world)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.backend = options->backend;
    args.init_method = options->init_method;
    args.timeout_ms = options->timeout_ms;
    args.options = options->settings;
    if (name != NULL)
        args.group_name = name;
    return muster_init_process_group(world, &args);
}
