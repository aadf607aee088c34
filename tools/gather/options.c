/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of muster-gather.
 */
#include "config.h"

#include "job.h"
#include "command_line.h"

#include <limits.h>
#include <stdio.h>

static const struct option long_options[] = {
    {"group-size", required_argument, NULL, 'g'},
    {"group_size", required_argument, NULL, 'g'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    JOB_OPTIONS_ROWS,
    COMMAND_LINE_END,
};

static const char help[] =
    "Usage: muster-run -n RANKS muster-gather [OPTION]... FILE\n"
    "Shares the prompts of FILE among the ranks of a job, gathers their token ids in\n"
    "the regular sub-groups and the prompts themselves in the orthogonal ones, and\n"
    "checks on every rank what it received against FILE.\n"
    "\n"
    "FILE has one JSON object a line, with a text \"prompt\" and a list of integers\n"
    "\"token_ids\"; whatever else is in it is carried along. Every rank reads it.\n"
    "\n"
    "  -g, --group-size N     ranks in a regular sub-group (all of them); it must\n"
    "                         divide the number of ranks\n"
    "  -o, --output FILE      writes all prompts, as gathered, to FILE; - is stdout\n"
    "      --backend NAME     the backend: auto (the default), gloo, nccl, local, or\n"
    "                         cpu:gloo,cuda:nccl\n"
    "      --timeout SECONDS  the most that any step may take (1800)\n"
    "      --init-method URL  how the ranks meet (env://)\n"
    "      --options TEXT     muster's options, as in gloo.iface=eth0\n"
    "      --json             prints the summary as JSON\n"
    "  -q, --quiet            prints no summary\n"
    "  -v, --verbose          and what muster says of the three groups of rank 0\n"
    "      --help, --version\n"
    "\n"
    "Without muster-run it is a job of one rank. The status is 0 when every rank\n"
    "found what it received to be right, 1 after an error on any rank, 2 for a wrong\n"
    "command line.\n";

static bool options_take(void *into, int option)
{
    gather_options *options = into;
    switch (option) {
    case 'g':
        return command_line_number(&options->group_size, "--group-size", optarg, 1, INT_MAX);
    case 'o':
        options->output = optarg;
        return *optarg != '\0' || command_line_refuse("--output takes the name of a file");
    case 'q':
        options->quiet = true;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    default:
        return job_options_take(&options->job, option);
    }
}

bool options_read(gather_options *options, int argc, char **argv, int *status)
{
    const command_line line = {"muster-gather", help,         "g:o:qv",
                               long_options,    options_take, options};
    *options = (gather_options){.job.timeout_ms = MUSTER_TIMEOUT_DEFAULT};
    if (!command_line_read(&line, argc, argv, status))
        return false;
    if (optind + 1 != argc)
        return command_line_refuse(optind == argc ? "there is no file to read"
                                                  : "it takes one file");
    options->file = argv[optind];
    return true;
}
