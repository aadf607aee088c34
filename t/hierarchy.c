/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives of several hosts, which are network namespaces: as many ranks on each host, more on
 * one than on another, and with memory that is not shared. muster-perf checks what every rank gets.
 *
 *   host-a eth0, host-b eth0, host-c eth0    one network, 10.77.0.0/24
 */
#include "config.h"

#include "hosts.h"
#include "tools.h"

#include <stdio.h>
#include <string.h>

enum { MOST_HOSTS = 3 };

#define RUN_TOOL TOOLS "/muster-run"
#define PERF_TOOL TOOLS "/muster-perf"

static const struct {
    const char *what;
    int nodes;
    const char *ranks[MOST_HOSTS];
    const char *options;
} jobs[] = {
    {"two ranks on each of two hosts", 2, {"2", "2"}, ""},
    {"three ranks on one host, one on another, two on the last", 3, {"3", "1", "2"}, ""},
    {"memory that is not shared", 2, {"2", "2"}, "gloo.shared_memory=off"},
};
enum { NUM_JOBS = sizeof(jobs) / sizeof(*jobs) };

/* Types and reductions that are done host by host, and some that are not. */
static const struct {
    const char *operation;
    const char *type;
    const char *redop;
    const char *most;
} calls[] = {
    {"all_reduce", "float32", "sum", "256K"}, {"all_reduce", "float32", "avg", "32K"},
    {"all_reduce", "int64", "max", "32K"},    {"all_reduce", "float16", "sum", "1K"},
    {"reduce", "float64", "sum", "32K"},      {"broadcast", "float32", "sum", "256K"},
    {"all_gather", "float32", "sum", "64K"},  {"reduce_scatter", "float32", "sum", "32K"},
    {"all_to_all", "float32", "sum", "32K"},  {"gather_v", "float32", "sum", "32K"},
    {"barrier", "float32", "sum", "8"},       {"send_recv", "float32", "sum", "64K"},
};
enum { NUM_CALLS = sizeof(calls) / sizeof(*calls) };

static bool connect_hosts(void)
{
    bool good = hosts_switch("lan");
    for (int i = 0; i < MOST_HOSTS && good; i++) {
        char address[24];
        snprintf(address, sizeof(address), "10.77.0.%d/24", i + 1);
        good = hosts_plug(i, "eth0", "lan", address, NULL);
    }
    return good;
}

static void start(size_t job, int node, const char *const *program, struct command *started)
{
    char count[16], number[16], option[128];
    snprintf(count, sizeof(count), "%d", jobs[job].nodes);
    snprintf(number, sizeof(number), "%d", node);
    snprintf(option, sizeof(option), "MUSTER_OPTIONS=%s", jobs[job].options);
    const char *words[40] = {RUN_TOOL,        "--nnodes",  count,   "--node-rank",         number,
                             "--master-addr", "10.77.0.1", "--ppn", jobs[job].ranks[node], "-x",
                             option};
    int used = 11;
    while (*program != NULL && used < 39)
        words[used++] = *program++;
    words[used] = NULL;
    hosts_start(node, started, words);
}

/* Whether the program ended well on all nodes; what node 0 said is in first. */
static bool run(size_t job, const char *const *program, struct command *nodes)
{
    bool good = true;
    for (int i = 0; i < jobs[job].nodes; i++)
        start(job, i, program, &nodes[i]);
    for (int i = 0; i < jobs[job].nodes; i++) {
        command_finish(&nodes[i]);
        good = good && nodes[i].status == 0;
        if (nodes[i].status != 0)
            diag("node %d: status %d, %s", i, nodes[i].status, nodes[i].err);
    }
    return good;
}

static void clear(size_t job, struct command *nodes)
{
    for (int i = 0; i < jobs[job].nodes; i++)
        command_free(&nodes[i]);
}

static void call(size_t job, size_t i)
{
    struct command nodes[MOST_HOSTS];
    const char *const program[] = {PERF_TOOL, calls[i].operation,
                                   "-b",      "8",
                                   "-e",      calls[i].most,
                                   "-f",      "32",
                                   "-n",      "2",
                                   "-w",      "1",
                                   "-d",      calls[i].type,
                                   "-o",      calls[i].redop,
                                   NULL};
    ok(run(job, program, nodes), "%s: %s of %s, %s", jobs[job].what, calls[i].operation,
       calls[i].type, calls[i].redop);
    has_str(nodes[0].out, "# Out of bounds values : 0 OK", "every rank gets what it should");
    clear(job, nodes);
}

/* Several pieces of each slice, and some of the last are shorter than others. */
static void pieces(size_t job)
{
    struct command nodes[MOST_HOSTS];
    const char *const program[] = {PERF_TOOL, "all_reduce", "-b", "18000012", "-e", "18000012",
                                   "-n",      "1",          "-w", "1",        NULL};
    ok(run(job, program, nodes), "%s: all_reduce of several pieces", jobs[job].what);
    has_str(nodes[0].out, "# Out of bounds values : 0 OK", "every rank gets what it should");
    clear(job, nodes);
}

static void describes(size_t job)
{
    struct command nodes[MOST_HOSTS];
    const char *const program[] = {TOOLS "/muster-gather", "-g", "1", "-v", PROMPTS, NULL};
    bool shares = *jobs[job].options == '\0';
    ok(run(job, program, nodes), "%s: a job", jobs[job].what);
    has_str(nodes[0].out, shares ? "  within this host local" : "gloo.shared_memory is off there",
            "says whether memory is shared");
    clear(job, nodes);
}

int main(void)
{
    needs_gloo();
    const char *missing = hosts_make(MOST_HOSTS);
    if (missing == NULL && !connect_hosts())
        missing = "the hosts can't be connected";
    if (missing != NULL) {
        hosts_end();
        plan_skip_all("%s", missing);
    }
    plan(NUM_JOBS * (2 * NUM_CALLS + 4));
    for (size_t job = 0; job < NUM_JOBS; job++) {
        describes(job);
        for (size_t i = 0; i < NUM_CALLS; i++)
            call(job, i);
        pieces(job);
    }
    hosts_end();
    return done();
}
