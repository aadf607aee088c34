/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-info: what muster is and has on this machine.
 */
#include "config.h"

#include "info/info.h"
#include "command_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 256, JSON, LAUNCHER };

static const struct option long_options[] = {
    {"options", no_argument, NULL, OPTIONS},
    {"json", no_argument, NULL, JSON},
    {"launcher", no_argument, NULL, LAUNCHER},
    {"verbose", no_argument, NULL, 'v'},
    COMMAND_LINE_END,
};

static const char help[] =
    "Usage: muster-info [OPTION]...\n"
    "Says what muster is, which backends it finds on this machine and why not the\n"
    "others, and, where a launcher has set it, which rank this process would be.\n"
    "\n"
    "      --launcher  and what each launcher's variables say, and why others were\n"
    "                  passed over\n"
    "      --options   and the options that muster and its backends know\n"
    "      --json      all of it as JSON\n"
    "  -v, --verbose   also what the options are for, and the files of backends that\n"
    "                  are not available\n"
    "      --help, --version\n"
    "\n"
    "The status is 0 whatever is found, 1 where it can't be said, 2 for a wrong\n"
    "command line.\n";

typedef struct info_options {
    bool options, json, launcher, verbose;
} info_options;

static bool options_take(void *into, int option)
{
    info_options *options = into;
    bool *chosen = option == OPTIONS    ? &options->options
                   : option == JSON     ? &options->json
                   : option == LAUNCHER ? &options->launcher
                                        : &options->verbose;
    *chosen = true;
    return true;
}

static bool options_read(info_options *options, int argc, char **argv, int *status)
{
    const command_line line = {"muster-info", help, "v", long_options, options_take, options};
    if (!command_line_read(&line, argc, argv, status))
        return false;
    return optind == argc || command_line_refuse("it takes no argument, not '%s'", argv[optind]);
}

int main(int argc, char **argv)
{
    info_options options = {false, false, false, false};
    int status;
    if (!options_read(&options, argc, argv, &status))
        return status;
    info found;
    if (!info_collect(&found)) {
        command_line_say("%s", muster_last_error());
        return EXIT_FAILURE;
    }
    bool said = true;
    if (options.json)
        said = info_print_json(&found);
    else
        info_print(&found, options.options || options.verbose, options.launcher || options.verbose,
                   options.verbose);
    if (!said)
        command_line_say("there is not enough memory for what was found");
    info_free(&found);
    return command_line_end(said ? EXIT_SUCCESS : EXIT_FAILURE);
}
