/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of muster-perf.
 */
#include "config.h"

#include "perf.h"
#include "sweep.h"
#include "command_line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 256, RAGGED, CLIENTS, OPERATIONS, VALUE, TORCH, ROUNDS };

static const struct option long_options[] = {
    {"rounds", required_argument, NULL, ROUNDS},
    {"group-size", required_argument, NULL, 'g'},
    {"group_size", required_argument, NULL, 'g'},
    {"tokens", required_argument, NULL, TOKENS},
    {"ragged", required_argument, NULL, RAGGED},
    {"clients", required_argument, NULL, CLIENTS},
    {"operations", required_argument, NULL, OPERATIONS},
    {"value-size", required_argument, NULL, VALUE},
    {"torch", required_argument, NULL, TORCH},
    SWEEP_OPTIONS_ROWS,
    JOB_OPTIONS_ROWS,
    COMMAND_LINE_END,
};

static const char help[] =
    "Usage: muster-run -n RANKS muster-perf groups [OPTION]...\n"
    "       muster-run -n RANKS muster-perf gather_tokens [OPTION]...\n"
    "       muster-run -n RANKS muster-perf overlap [OPTION]...\n"
    "       muster-perf store [OPTION]...\n"
    "       muster-run -n RANKS muster-perf OPERATION [OPTION]...\n"
    "Measures muster, on the ranks of a job or by itself, and prints a table.\n"
    "\n"
    "groups: how long it takes to make the world, and then both kinds of sub-groups,\n"
    "and how many operations on the store that costs a rank. A world that was made\n"
    "before holds the ranks together: each round begins with its barrier, and makes\n"
    "and frees groups under new names. A round takes as long as its slowest rank.\n"
    "The first world is that one: what a process does once is in it.\n"
    "  -g, --group-size N     ranks in a regular sub-group (the divisor of RANKS next\n"
    "                         to its square root)\n"
    "      --peer torch       the same in the same rounds with torch's Gloo and\n"
    "                         TCPStore, in the Python of --torch\n"
    "\n"
    "gather_tokens: muster_all_gather_tokens over all ranks, after a barrier. The\n"
    "payload is what must reach the ranks: each token id once at each rank that has\n"
    "not given it, in the narrowest signed integer of 1, 2, 4 or 8 bytes that holds\n"
    "all ids. The wire is what all ranks received, lengths and headers included.\n"
    "Memory is that of the first round on the worst rank: by how much the resident\n"
    "memory grew at its highest, against the size of the result: 8 bytes for each id\n"
    "and offset.\n"
    "      --tokens FILE      token ids from a file of JSON lines, as muster-gather's\n"
    "      --ragged SHAPES    made-up ids: LISTSxLENGTH, and more behind commas\n"
    "                         (1000x20,1x100000); shared among ranks in that order\n"
    "      --peer torch       the same lists in the same rounds through torch's Gloo,\n"
    "                         padded to the longest; both must receive the same\n"
    "\n"
    "overlap: an all_reduce alone, and while the rank computes for as long: on the\n"
    "CPU, which the all_reduce needs too, and on a device, for which it just sleeps.\n"
    "What was hidden is said where the two took about as long as each other.\n"
    "  -e, -d, -o             size (64M), type and reduction, as of an OPERATION\n"
    "\n"
    "store: operations a second on a store by many clients at once: in this process,\n"
    "where threads share a hash store, and over loopback, where each client is a\n"
    "process with a connection of its own. Each sets its own key, gets that of\n"
    "another, adds to one counter, checks and waits in turn for a key that is there;\n"
    "and the time until each has set a new key and all have the values of all.\n"
    "The second line is what a second of the server's CPU time is worth: it leaves\n"
    "out the clients, who share the CPUs with it. On stderr it says what it measures.\n"
    "      --clients N[,N]... numbers of clients (1,10,100,1000)\n"
    "      --operations N     of each kind in a round, shared by the clients (20000)\n"
    "      --value-size N     bytes of a value (64)\n"
    "      --torch PYTHON     in the same rounds, torch's TCPStore in processes of\n"
    "                         PYTHON, with its own clients and with muster's\n"
    "\n" SWEEP_OPTIONS_HELP "\n"
    "For all of them:\n"
    "      --rounds N         each figure is the median of N rounds (5; 1 of an\n"
    "                         OPERATION without --peer)\n"
    "  -n N                   --rounds; for an OPERATION, whose letters are those of\n"
    "                         nccl-tests, --iters\n"
    "      --backend NAME     the backend: auto (the default), gloo, nccl, local, or\n"
    "                         cpu:gloo,cuda:nccl\n"
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

/* Numbers between commas. */
static bool options_counts(perf_options *options, const char *text)
{
    options->num_counts = 0;
    for (const char *at = text;; at++) {
        char *end;
        long count = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        bool good = count >= 1 && count <= PERF_MOST_CLIENTS && (*end == ',' || *end == '\0');
        if (!good || options->num_counts == PERF_MOST_COUNTS)
            return command_line_refuse("--clients takes up to %d numbers from 1 to %d, with commas "
                                       "between them, not '%s'",
                                       PERF_MOST_COUNTS, PERF_MOST_CLIENTS, text);
        options->counts[options->num_counts++] = count;
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
        return command_line_number(&options->number, "-n", optarg, 1, PERF_MOST_ROUNDS);
    case ROUNDS:
        return command_line_number(&options->rounds, "--rounds", optarg, 1, PERF_MOST_ROUNDS);
    case 'g':
        return command_line_number(&options->group_size, "--group-size", optarg, 1, INT_MAX);
    case RAGGED:
        return options_shapes(options, optarg);
    case CLIENTS:
        return options_counts(options, optarg);
    case OPERATIONS:
        return command_line_number(&options->operations, "--operations", optarg, 1, INT_MAX);
    case VALUE:
        return command_line_number(&options->value_size, "--value-size", optarg, 0, 8 << 20);
    case TORCH:
        options->python = optarg;
        return *optarg != '\0' || command_line_refuse("--torch takes a Python that has torch");
    case TOKENS:
        options->file = optarg;
        return true;
    default:
        return sweep_options_know(option) ? sweep_options_take(&options->sweep, option)
                                          : job_options_take(&options->job, option);
    }
}

static bool options_has_store(const perf_options *options)
{
    return options->num_counts > 0 || options->operations > 0 || options->value_size >= 0;
}

/* What was not given for store. */
static void options_fill(perf_options *options)
{
    if (options->num_counts == 0)
        options_counts(options, "1,10,100,1000");
    if (options->operations == 0)
        options->operations = 20000;
    if (options->value_size < 0)
        options->value_size = 64;
}

static bool options_unknown(const char *what)
{
    char names[400] = "";
    for (size_t i = 0; i < sweep_num_operations; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, ", %s", sweep_operations[i].name);
    }
    return command_line_refuse("it measures one of groups, gather_tokens, overlap, store%s, not "
                               "'%s'",
                               names, what);
}

/* Which options belong to what is measured. */
static bool options_belong(const perf_options *options)
{
    bool gather = strcmp(options->what, "gather_tokens") == 0;
    bool groups = strcmp(options->what, "groups") == 0;
    bool store = strcmp(options->what, "store") == 0;
    bool overlap = strcmp(options->what, "overlap") == 0;
    if (!gather && !groups && !store && !overlap && sweep_find(options->what) == NULL)
        return options_unknown(options->what);
    bool torch = options->sweep.torch && !overlap;
    if (!store && (options_has_store(options) || (options->python != NULL && !torch)))
        return command_line_refuse("--clients, --operations, --value-size and --torch are for "
                                   "store, --torch for --peer torch too");
    if (!gather && (options->file != NULL || options->num_shapes > 0))
        return command_line_refuse("--tokens and --ragged are for gather_tokens");
    if (!groups && options->group_size > 0)
        return command_line_refuse("--group-size is for groups");
    if ((groups || gather || store) && options->sweep.given)
        return command_line_refuse("-b, -e, -f, -i, -w, -c, -o, -d, -r and --iters are for "
                                   "operations");
    if (((store || overlap) && options->sweep.torch) ||
        (sweep_find(options->what) == NULL && options->sweep.mpi))
        return command_line_refuse("--peer mpi is for operations, --peer torch for operations, "
                                   "groups and gather_tokens");
    return true;
}

/* What was not given. Token lists make a gather one of tokens. */
static void options_settle(perf_options *options)
{
    bool lists = options->file != NULL || options->num_shapes > 0;
    if (lists && strcmp(options->what, "gather") == 0)
        options->what = "gather_tokens";
    if (sweep_find(options->what) == NULL) {
        if (options->rounds == 0)
            options->rounds = options->number;
    } else if (options->number > 0) {
        options->sweep.iterations = options->number;
    }
    bool alone = sweep_find(options->what) != NULL && !options->sweep.mpi && !options->sweep.torch;
    if (options->rounds == 0)
        options->rounds = alone ? 1 : 5;
}

static bool options_check(perf_options *options, int rest, char **argv)
{
    if (rest != 1)
        return command_line_refuse(rest == 0
                                       ? "there is nothing to measure: give groups, gather_tokens, "
                                         "store, overlap or an operation"
                                       : "it measures one thing");
    options->what = argv[optind];
    options_settle(options);
    if (!options_belong(options))
        return false;
    if (options->file != NULL && options->num_shapes > 0)
        return command_line_refuse("give --tokens or --ragged, not both");
    options_fill(options);
    return sweep_options_check(&options->sweep) &&
           (options->file != NULL || options->num_shapes > 0 ||
            options_shapes(options, "1000x20,1x100000"));
}

bool perf_options_read(perf_options *options, int argc, char **argv, int *status)
{
    const command_line line = {"muster-perf", help,         "n:g:" SWEEP_OPTIONS_LETTERS,
                               long_options,  options_take, options};
    *options = (perf_options){
        .value_size = -1, .sweep = SWEEP_OPTIONS_INIT, .job.timeout_ms = MUSTER_TIMEOUT_DEFAULT};
    if (!command_line_read(&line, argc, argv, status))
        return false;
    return options_check(options, argc - optind, argv);
}
