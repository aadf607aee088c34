/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "options.h"

#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_PER_NODE = 4096, MOST_NODES = 65536 };

enum {
    PER_NODE = 256,
    NUM_NODES,
    NODE_RANK,
    MASTER_ADDR,
    MASTER_PORT,
    TIMEOUT,
    KILL_AFTER,
    JOIN_TIMEOUT,
    NODE_TIMEOUT,
    WDIR,
    BIND_TO,
    NO_SECRET,
    KEEP_GOING,
    HELP,
    VERSION_
};

static const struct option long_options[] = {
    {"np", required_argument, NULL, 'n'},
    {"nproc-per-node", required_argument, NULL, PER_NODE},
    {"nproc_per_node", required_argument, NULL, PER_NODE},
    {"ppn", required_argument, NULL, PER_NODE},
    {"nnodes", required_argument, NULL, NUM_NODES},
    {"node-rank", required_argument, NULL, NODE_RANK},
    {"node_rank", required_argument, NULL, NODE_RANK},
    {"master-addr", required_argument, NULL, MASTER_ADDR},
    {"master_addr", required_argument, NULL, MASTER_ADDR},
    {"master-port", required_argument, NULL, MASTER_PORT},
    {"master_port", required_argument, NULL, MASTER_PORT},
    {"tag-output", no_argument, NULL, 'l'},
    {"label", no_argument, NULL, 'l'},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"kill-after", required_argument, NULL, KILL_AFTER},
    {"join-timeout", required_argument, NULL, JOIN_TIMEOUT},
    {"node-timeout", required_argument, NULL, NODE_TIMEOUT},
    {"wdir", required_argument, NULL, WDIR},
    {"bind-to", required_argument, NULL, BIND_TO},
    {"bind_to", required_argument, NULL, BIND_TO},
    {"no-secret", no_argument, NULL, NO_SECRET},
    {"no_secret", no_argument, NULL, NO_SECRET},
    {"keep-going", no_argument, NULL, KEEP_GOING},
    {"keep_going", no_argument, NULL, KEEP_GOING},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION_},
    {NULL, 0, NULL, 0},
};

static const char help[] =
    "Usage: muster-run [OPTION]... PROGRAM [ARGUMENT]...\n"
    "Runs PROGRAM as the ranks of one job and ends with the status of the rank that\n"
    "failed first.\n"
    "\n"
    "  -n, -np, --np N          ranks in all (1)\n"
    "      --nproc-per-node N   ranks on this node, or 'auto': one for each usable\n"
    "                           CPU; also --ppn; nodes may have different numbers of\n"
    "                           them\n"
    "      --nnodes N           nodes; muster-run is to be started on each of them\n"
    "                           (1)\n"
    "      --node-rank N        the number of this node, from 0\n"
    "      --master-addr HOST   where the nodes meet: an address of node 0\n"
    "      --master-port PORT   and its port (29500; on one node any free one)\n"
    "      --join-timeout SECONDS\n"
    "                           how long nodes wait for each other at the start (600)\n"
    "      --node-timeout SECONDS\n"
    "                           after which a node that gives no sign of life is lost\n"
    "                           (60)\n"
    "  -x NAME[=VALUE]          sets or passes on an environment variable\n"
    "      --wdir DIR           where the ranks run\n"
    "      --bind-to WHAT       binds each rank to its 'core's, their 'numa' node, or\n"
    "                           the CPUs near its 'device', as muster-info --ranks\n"
    "                           plans; or to 'none' (none)\n"
    "      --no-secret          lets everybody into the store: needed where ranks of\n"
    "                           torch join\n"
    "      --keep-going         ranks go on when one has failed; for all nodes or\n"
    "                           none\n"
    "  -l, --tag-output         puts \"[RANK] \" before each line of output; also\n"
    "                           --label\n"
    "      --timeout SECONDS    stops the job after that time, with status 124\n"
    "      --kill-after SECONDS from asking ranks to stop to killing them (5)\n"
    "  -v, --verbose            says what is started and how it ends\n"
    "  -q, --quiet              does not say which rank failed\n"
    "      --help, --version\n"
    "\n"
    "Ranks find RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, NODE_RANK (also as\n"
    "GROUP_RANK), GROUP_WORLD_SIZE, MASTER_ADDR and MASTER_PORT in their environment,\n"
    "and in MUSTER_JOB_SECRET what the store asks of everybody who connects: that of\n"
    "our environment, else, on one node, a new one. Rank 0 has the standard input.\n"
    "The status is 128 + N for a rank that was killed by signal N, 127 for a program\n"
    "that is not found, 126 for one that can't be executed, 2 for a wrong command\n"
    "line. With --keep-going too it is that of the rank that failed first, here or,\n"
    "for node 0, else on another node; time-outs and signals still end the whole job.\n";

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static bool
options_refuse(const char *format, ...)
{
    char words[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    fprintf(stderr, "muster-run: %s; see muster-run --help\n", words);
    return false;
}

static bool options_integer(int *number, const char *name, const char *text, int least, int most)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > most)
        return options_refuse("%s takes a number from %d to %d, not '%s'", name, least, most, text);
    *number = (int)value;
    return true;
}

static bool options_seconds(double *number, const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1e9))
        return options_refuse("%s takes seconds, not '%s'", name, text);
    *number = value;
    return true;
}

static bool options_per_node(struct options *options, const char *text)
{
    cpu_set_t cpus;
    if (strcmp(text, "gpu") == 0)
        return options_refuse("--nproc-per-node can't count GPUs yet, give a number");
    if (strcmp(text, "auto") != 0 && strcmp(text, "cpu") != 0)
        return options_integer(&options->per_node, "--nproc-per-node", text, 1, MOST_PER_NODE);
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return options_refuse("the usable CPUs can't be counted, give --nproc-per-node a number");
    options->per_node = CPU_COUNT(&cpus);
    return true;
}

/* -n N; and -np N, which to getopt is an -n with the argument "p". */
static bool options_num_ranks(struct options *options, char **argv)
{
    const char *text = optarg;
    if (text[0] == 'p' && strncmp(argv[optind - 1], "-np", 3) == 0) {
        text = text[1] != '\0' ? text + 1 : argv[optind];
        optind += optarg[1] == '\0';
    }
    if (text == NULL)
        return options_refuse("-np takes a number");
    return options_integer(&options->num_ranks, "-n", text, 1, OPTIONS_MOST_RANKS);
}

static bool options_bind_to(struct options *options, const char *text)
{
    static const char *const known[] = {"none", "core", "numa", "device"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(text, known[i]) == 0) {
            options->bind_to = known[i];
            return true;
        }
    return options_refuse("--bind-to takes none, core, numa or device, not '%s'", text);
}

static bool options_take_more(struct options *options, int option)
{
    switch (option) {
    case NUM_NODES:
        return options_integer(&options->num_nodes, "--nnodes", optarg, 1, MOST_NODES);
    case NODE_RANK:
        return options_integer(&options->node_rank, "--node-rank", optarg, 0, MOST_NODES - 1);
    case MASTER_PORT:
        return options_integer(&options->master_port, "--master-port", optarg, 0, 65535);
    case TIMEOUT:
        return options_seconds(&options->timeout, "--timeout", optarg);
    case KILL_AFTER:
        return options_seconds(&options->kill_after, "--kill-after", optarg);
    case JOIN_TIMEOUT:
        return options_seconds(&options->join_timeout, "--join-timeout", optarg);
    case NODE_TIMEOUT:
        return options_seconds(&options->node_timeout, "--node-timeout", optarg) &&
               (options->node_timeout >= 1 ||
                options_refuse("--node-timeout takes at least 1 second, not '%s'", optarg));
    case MASTER_ADDR:
        options->master_addr = optarg;
        return true;
    case WDIR:
        options->folder = optarg;
        return true;
    case BIND_TO:
        return options_bind_to(options, optarg);
    case NO_SECRET:
        options->no_secret = true;
        return true;
    case KEEP_GOING:
        options->keep_going = true;
        return true;
    default:
        fprintf(stderr, "Try 'muster-run --help'.\n");
        return false;
    }
}

static bool options_export(struct options *options, const char *entry)
{
    static const char secret[] = "MUSTER_JOB_SECRET=";
    if (*entry == '\0' || *entry == '=')
        return options_refuse("-x takes NAME or NAME=VALUE");
    if (strncmp(entry, secret, sizeof(secret) - 1) == 0)
        return options_refuse("a job secret in a command line is seen by every user of this "
                              "machine: set MUSTER_JOB_SECRET in the environment");
    options->exports[options->num_exports++] = entry;
    return true;
}

static bool options_take(struct options *options, int option, char **argv)
{
    switch (option) {
    case 'n':
        return options_num_ranks(options, argv);
    case PER_NODE:
        return options_per_node(options, optarg);
    case 'l':
        options->tag = true;
        return true;
    case 'v':
        options->verbosity = 1;
        return true;
    case 'q':
        options->verbosity = -1;
        return true;
    case 'x':
        return options_export(options, optarg);
    default:
        return options_take_more(options, option);
    }
}

/* -n is for all nodes, --nproc-per-node for one. */
static bool options_count(struct options *options)
{
    int nodes = options->num_nodes;
    if (options->per_node == 0 && options->num_ranks % nodes != 0)
        return options_refuse("-n %d ranks can't be shared out evenly over --nnodes %d; give each "
                              "node its --nproc-per-node",
                              options->num_ranks, nodes);
    options->asked_ranks = options->num_ranks;
    if (options->per_node == 0)
        options->per_node = options->num_ranks == 0 ? 1 : options->num_ranks / nodes;
    if (options->per_node > MOST_PER_NODE)
        return options_refuse("%d ranks on one node are too many: at most %d", options->per_node,
                              MOST_PER_NODE);
    long long all = (long long)options->per_node * nodes;
    if (all > OPTIONS_MOST_RANKS)
        return options_refuse("%lld ranks are too many: at most %d", all, OPTIONS_MOST_RANKS);
    if (nodes == 1 && options->num_ranks != 0 && options->num_ranks != all)
        return options_refuse("-n %d is not --nproc-per-node %d", options->num_ranks,
                              options->per_node);
    options->num_ranks = (int)all;
    return true;
}

static bool options_meet(struct options *options)
{
    if (options->num_nodes == 1 && options->node_rank > 0)
        return options_refuse("--node-rank %d needs --nnodes", options->node_rank);
    if (options->num_nodes > 1 && (options->node_rank < 0 || options->master_addr == NULL))
        return options_refuse("--nnodes %d needs --node-rank and --master-addr",
                              options->num_nodes);
    if (options->node_rank >= options->num_nodes)
        return options_refuse("--node-rank %d is not below --nnodes %d", options->node_rank,
                              options->num_nodes);
    if (options->num_nodes > 1 && options->master_port == 0)
        return options_refuse("--master-port 0 is only for one node");
    if (options->master_port < 0)
        options->master_port = options->num_nodes > 1 ? 29500 : 0;
    if (options->master_addr == NULL)
        options->master_addr = "127.0.0.1";
    if (options->node_rank < 0)
        options->node_rank = 0;
    return true;
}

static bool options_folder(const struct options *options)
{
    struct stat status;
    if (options->folder != NULL &&
        (stat(options->folder, &status) != 0 || !S_ISDIR(status.st_mode)))
        return options_refuse("--wdir '%s' is no folder", options->folder);
    return true;
}

/* A name with a typing error would be missed only in the ranks. */
static void options_warn(const struct options *options)
{
    for (size_t i = 0; options->verbosity >= 0 && i < options->num_exports; i++)
        if (strchr(options->exports[i], '=') == NULL && getenv(options->exports[i]) == NULL)
            fprintf(stderr, "muster-run: -x %s: it is not set here, nor will it be in the ranks\n",
                    options->exports[i]);
}

bool options_read(struct options *options, int argc, char **argv, int *status)
{
    *options = (struct options){.num_nodes = 1,
                                .node_rank = -1,
                                .master_port = -1,
                                .kill_after = 5,
                                .join_timeout = 600,
                                .bind_to = "none",
                                .node_timeout = 60,
                                .exports = NULL};
    options->exports = calloc((size_t)argc, sizeof(*options->exports));
    *status = EXIT_USAGE;
    static char name[] = "muster-run";
    argv[0] = name;
    int option;
    while (options->exports != NULL &&
           (option = getopt_long(argc, argv, "+n:lx:vq", long_options, NULL)) != -1) {
        if (option == HELP || option == VERSION_) {
            fputs(option == HELP ? help : "muster-run (muster) " PACKAGE_VERSION "\n", stdout);
            *status = fflush(stdout) == 0 ? 0 : 1;
            return false;
        }
        if (!options_take(options, option, argv))
            return false;
    }
    options->program = argv + optind;
    if (*options->program == NULL)
        return options_refuse("there is no program to run");
    if (!options_count(options) || !options_meet(options) || !options_folder(options))
        return false;
    options_warn(options);
    return true;
}
