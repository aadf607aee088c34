/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that are no backend's.
 */
#include "config.h"

#include "options/core_options.h"

const muster_option core_options[] = {
    {.name = "placement",
     .type = MUSTER_OPTION_STRING,
     .default_value = "auto",
     .since = "0.1.0",
     .help =
         "which rank of a host gets which GPU and cores: auto, compact, scatter, explicit, none"},
    {.name = "placement_list",
     .type = MUSTER_OPTION_STRING,
     .since = "0.1.0",
     .help =
         "for explicit: DEVICE@CPUS for each local rank, semicolons between them: 0@0-7;1@8-15"},
    {.name = "bind",
     .type = MUSTER_OPTION_STRING,
     .default_value = "none",
     .since = "0.1.0",
     .help = "CPUs to bind the thread that makes the world to: none, core, numa, device"},
    {.name = NULL},
};

options_table core_options_table(void)
{
    return (options_table){.backend = "",
                           .options = core_options,
                           .version = PACKAGE_VERSION,
                           .available = true,
                           .readable = true};
}

const char *core_options_owner(const options_table *table)
{
    return *table->backend == '\0' ? "muster" : table->backend;
}
