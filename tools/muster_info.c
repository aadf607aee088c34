/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-info: what muster is and has on this machine.
 */
#include "config.h"

#include "command_line.h"
#include "info/info.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 256, JSON, LAUNCHER, ALONE, TIMEOUT, TOPOLOGY, RANKS, POLICY, LIST };

enum { MOST_RANKS = 4096 };

static const struct option long_options[] = {
    {"options", no_argument, NULL, OPTIONS},
    {"json", no_argument, NULL, JSON},
    {"launcher", no_argument, NULL, LAUNCHER},
    {"alone", no_argument, NULL, ALONE},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"topology", required_argument, NULL, TOPOLOGY},
    {"ranks", required_argument, NULL, RANKS},
    {"policy", required_argument, NULL, POLICY},
    {"list", required_argument, NULL, LIST},
    {"verbose", no_argument, NULL, 'v'},
    COMMAND_LINE_END,
};

static const char help[] =
    "Usage: muster-info [OPTION]...\n"
    "Says what muster is, which backends it finds on this machine and why not the\n"
    "others, which rank this process would be where a launcher has started it, and\n"
    "where the ranks are placed. As the ranks of a job it prints one table of all\n"
    "hosts, on rank 0.\n"
    "\n"
    "      --launcher         and what each launcher's variables say, and why others\n"
    "                         were passed over; each rank for itself\n"
    "      --options          and the options that muster and its backends know\n"
    "      --json             all of it as JSON\n"
    "      --alone            does not meet the other ranks of the job\n"
    "      --timeout SECONDS  waits so long for them (10)\n"
    "  -v, --verbose          also what the options are for, and the files of\n"
    "                         backends that are not available\n"
    "      --help, --version\n"
    "\n"
    "A plan instead, for a machine and a number of ranks without being there:\n"
    "      --topology FILE    of that machine, from lstopo FILE.xml (this one)\n"
    "      --ranks N          on that machine (1)\n"
    "      --policy P         auto, compact, scatter, explicit or none (auto)\n"
    "      --list LIST        for explicit: DEVICE@CPUS for each rank, semicolons\n"
    "                         between them\n"
    "\n"
    "The status is 0 whatever is found, 1 where it can't be said or the ranks of the\n"
    "job were given something wrong, 2 for a wrong command line.\n";

typedef struct info_options {
    bool options, json, launcher, verbose, alone, plans;
    int64_t timeout_ms;
    muster_plan_args plan;
} info_options;

/* What a plan is for. */
static bool options_take_plan(info_options *options, int option)
{
    long long ranks;
    options->plans = true;
    if (option == RANKS) {
        if (!command_line_number(&ranks, "--ranks", optarg, 1, MOST_RANKS))
            return false;
        options->plan.num_ranks = (int)ranks;
        return true;
    }
    const char **text = option == TOPOLOGY ? &options->plan.topology
                        : option == POLICY ? &options->plan.policy
                                           : &options->plan.list;
    *text = optarg;
    return true;
}

static bool options_take(void *into, int option)
{
    info_options *options = into;
    if (option == TIMEOUT)
        return command_line_seconds(&options->timeout_ms, "--timeout", optarg);
    if (option >= TOPOLOGY && option <= LIST)
        return options_take_plan(options, option);
    bool *chosen = option == OPTIONS    ? &options->options
                   : option == JSON     ? &options->json
                   : option == LAUNCHER ? &options->launcher
                   : option == ALONE    ? &options->alone
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

static bool print_plan(const info_options *options)
{
    muster_plan *plan = NULL;
    if (muster_plan_placement(&options->plan, &plan) != MUSTER_OK) {
        command_line_say("%s", muster_last_error());
        return false;
    }
    bool said = true;
    if (options->json)
        said = info_print_plan_json(plan);
    else
        info_print_plan(plan);
    muster_free(plan);
    if (!said)
        command_line_say("there is not enough memory for the plan");
    return said;
}

static bool print_found(const info_options *options)
{
    info found;
    if (!info_collect(&found)) {
        command_line_say("%s", muster_last_error());
        return false;
    }
    if (!options->alone && !options->launcher)
        info_meet(&found.job, found.launcher, options->timeout_ms);
    bool said = true;
    if (found.job.world != NULL && found.job.rank != 0)
        said = true; /* rank 0 says it */
    else if (options->json)
        said = info_print_json(&found);
    else
        info_print(&found, options->options || options->verbose,
                   options->launcher || options->verbose, options->verbose);
    if (!said)
        command_line_say("there is not enough memory for what was found");
    if (found.job.refused)
        command_line_say("%s", found.job.problem);
    said = said && !found.job.refused;
    info_free(&found);
    return said;
}

int main(int argc, char **argv)
{
    info_options options = {.timeout_ms = 10000, .plan = MUSTER_PLAN_ARGS_INIT};
    int status;
    if (!options_read(&options, argc, argv, &status))
        return status;
    bool said = options.plans ? print_plan(&options) : print_found(&options);
    return command_line_end(said ? EXIT_SUCCESS : EXIT_FAILURE);
}
