/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of muster-perf.
 */
#include "config.h"

#include "perf.h"
#include "command_line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 256, RAGGED };

static const struct option long_options[] = {
    {"rounds", required_argument, NULL, 'n'},
    {"group-size", required_argument, NULL, 'g'},
    {"group_size", required_argument, NULL, 'g'},
    {"tokens", required_argument, NULL, TOKENS},
    {"ragged", required_argument, NULL, RAGGED},
    JOB_OPTIONS_ROWS,
    COMMAND_LINE_END,
};

static const char help[] =
    "Usage: muster-run -n RANKS muster-perf groups [OPTION]...\n"
    "       muster-run -n RANKS muster-perf gather [OPTION]...\n"
    "Measures muster on the ranks of a job; rank 0 prints a table.\n"
    "\n"
    "groups: how long it takes to make the world, and then both kinds of sub-groups,\n"
    "and how many operations on the store that costs a rank. A world that was made\n"
    "before holds the ranks together: each round begins with its barrier, and makes\n"
    "and frees groups under new names. A round takes as long as its slowest rank.\n"
    "  -g, --group-size N     ranks in a regular sub-group (the divisor of RANKS next\n"
    "                         to its square root)\n"
    "\n"
    "gather: muster_all_gather_tokens over all ranks, after a barrier. The payload is\n"
    "what must reach the ranks: each token id once at each rank that has not given\n"
    "it, in the narrowest signed integer of 1, 2, 4 or 8 bytes that holds all ids.\n"
    "The wire is what all ranks sent, lengths and headers included. Memory is that\n"
    "of the first round on the worst rank: by how much the resident memory grew at\n"
    "its highest, against the size of the result: 8 bytes for each id and offset.\n"
    "      --tokens FILE      token ids from a file of JSON lines, as muster-gather's\n"
    "      --ragged SHAPES    made-up ids: LISTSxLENGTH, and more behind commas\n"
    "                         (1000x20,1x100000); shared among ranks in that order\n"
    "\n"
    "  -n, --rounds N         the result is the median of N rounds (5)\n"
    "      --backend NAME     the backend: auto (the default), gloo, local\n"
    "      --timeout SECONDS  the most that any step may take (1800)\n"
    "      --init-method URL  how the ranks meet (env://)\n"
    "      --options TEXT     muster's options, as in gloo.iface=eth0\n"
    "      --json             the table as JSON, with the time of each round\n"
    "      --help, --version\n"
    "\n"
    "Times are of the monotonic clock. Other load on the machine shows in them.\n";

/* LISTSxLENGTH, and more of them behind commas. */
static bool options_shapes(perf_options *options, const char *text)
{
    for (const char *at = text;; at++) {
        char *end;
        unsigned long lists = strtoul(at, &end, 10);
        bool good = *at >= '0' && *at <= '9' && *end == 'x' && end[1] >= '0' && end[1] <= '9';
        unsigned long length = good ? strtoul(end + 1, &end, 10) : 0;
        good = good && (*end == ',' || *end == '\0') && lists <= INT_MAX && length <= INT_MAX;
        if (!good || options->num_shapes == PERF_MOST_SHAPES)
            return command_line_refuse("--ragged takes up to %d of LISTSxLENGTH, not '%s'",
                                       PERF_MOST_SHAPES, text);
        options->shapes[options->num_shapes++] = (perf_shape){lists, length};
        at = end;
        if (*at == '\0')
            return true;
    }
}

static bool options_take(void *into, int option)
{
    perf_options *options = into;
    switch (option) {
    case 'n':
        return command_line_number(&options->rounds, "--rounds", optarg, 1, PERF_MOST_ROUNDS);
    case 'g':
        return command_line_number(&options->group_size, "--group-size", optarg, 1, INT_MAX);
    case RAGGED:
        return options_shapes(options, optarg);
    case TOKENS:
        options->file = optarg;
        return true;
    default:
        return job_options_take(&options->job, option);
    }
}

static bool options_check(perf_options *options, int rest, char **argv)
{
    if (rest != 1)
        return command_line_refuse(rest == 0 ? "there is nothing to measure: give groups or gather"
                                             : "it measures one thing");
    options->what = argv[optind];
    bool gather = strcmp(options->what, "gather") == 0;
    if (!gather && strcmp(options->what, "groups") != 0)
        return command_line_refuse("it measures groups or gather, not '%s'", options->what);
    if (!gather && (options->file != NULL || options->num_shapes > 0))
        return command_line_refuse("--tokens and --ragged are for gather");
    if (gather && options->group_size > 0)
        return command_line_refuse("--group-size is for groups");
    if (options->file != NULL && options->num_shapes > 0)
        return command_line_refuse("give --tokens or --ragged, not both");
    return options->file != NULL || options->num_shapes > 0 ||
           options_shapes(options, "1000x20,1x100000");
}

bool perf_options_read(perf_options *options, int argc, char **argv, int *status)
{
    const command_line line = {"muster-perf", help, "n:g:", long_options, options_take, options};
    *options = (perf_options){.rounds = 5, .job.timeout_ms = MUSTER_TIMEOUT_DEFAULT};
    if (!command_line_read(&line, argc, argv, status))
        return false;
    return options_check(options, argc - optind, argv);
}
