/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-info: what muster is and has on this machine.
 */
#include "config.h"

#include "info/info.h"
#include "command_line.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 256, JSON, HELP, VERSION_ };

static const struct option long_options[] = {
    {"options", no_argument, NULL, OPTIONS},  {"json", no_argument, NULL, JSON},
    {"verbose", no_argument, NULL, 'v'},      {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION_}, {NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: muster-info [OPTION]...\n"
    "Says what muster is, which backends it finds on this machine and why not the\n"
    "others, and, where a launcher has set it, which rank this process would be.\n"
    "\n"
    "      --options   and the options that muster and its backends know\n"
    "      --json      all of it as JSON\n"
    "  -v, --verbose   also what the options are for, and the files of backends that\n"
    "                  are not available\n"
    "      --help, --version\n"
    "\n"
    "The status is 0 whatever is found, 1 where it can't be said, 2 for a wrong\n"
    "command line.\n";

int main(int argc, char **argv)
{
    bool options = false, json = false, verbose = false;
    int option;
    command_line_begin("muster-info", argv);
    while ((option = getopt_long(argc, argv, "v", long_options, NULL)) != -1) {
        switch (option) {
        case OPTIONS:
            options = true;
            break;
        case JSON:
            json = true;
            break;
        case 'v':
            verbose = true;
            break;
        case HELP:
            return command_line_print(help);
        case VERSION_:
            return command_line_print("muster-info (muster) " PACKAGE_VERSION "\n");
        default:
            fputs("Try 'muster-info --help'.\n", stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        command_line_refuse("it takes no argument, not '%s'", argv[optind]);
        return EXIT_USAGE;
    }
    info found;
    if (!info_collect(&found)) {
        command_line_say("%s", muster_last_error());
        return EXIT_FAILURE;
    }
    bool said = true;
    if (json)
        said = info_print_json(&found);
    else
        info_print(&found, options || verbose, verbose);
    if (!said)
        command_line_say("there is not enough memory for what was found");
    info_free(&found);
    return command_line_end(said ? EXIT_SUCCESS : EXIT_FAILURE);
}
