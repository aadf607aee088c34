/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The main job on several hosts: which interface is chosen, whatever else a host has and whatever
 * its name resolves to. User cases 8, 14, 16.
 *
 *   host-a eth0, host-b ens3, host-c enp1s0    one network, 10.77.0.0/24 and fd77::/64
 *   stor0 on each of them, made first          no way from one host to another
 */
#include "config.h"

#include "hosts.h"
#include "tools.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HOSTS = 3 };

static const char *const interfaces[MOST_HOSTS] = {"eth0", "ens3", "enp1s0"};

#define RUN_TOOL TOOLS "/muster-run"
#define GATHER_TOOL TOOLS "/muster-gather"

static bool connect_hosts(void)
{
    bool good = hosts_switch("lan");
    for (int i = 0; i < MOST_HOSTS && good; i++) {
        char alone[16], stor[24], v4[24], v6[24], local[24];
        snprintf(alone, sizeof(alone), "alone%d", i);
        snprintf(stor, sizeof(stor), "172.20.0.%d/24", i + 1);
        snprintf(v4, sizeof(v4), "10.77.0.%d/24", i + 1);
        snprintf(v6, sizeof(v6), "fd77::%d/64", i + 1);
        snprintf(local, sizeof(local), "fe80::77:%d/64", i + 1);
        good = hosts_switch(alone) && hosts_plug(i, "stor0", alone, stor, NULL) &&
               hosts_plug(i, interfaces[i], "lan", v4, v6) &&
               hosts_ip(i, "addr add %s dev %s nodad", local, interfaces[i]);
    }
    return good;
}

/* A job: what each node is told, and where its ranks are expected to talk. */
typedef struct job {
    const char *what;
    int nodes;
    const char *masters[MOST_HOSTS]; /* NULL: as the first */
    const char *names[MOST_HOSTS];   /* in /etc/hosts beside localhost; NULL: none */
    const char *network;             /* what rank 0 says of its address */
    const char *option;              /* in MUSTER_OPTIONS, or NULL */
} job;

static void job_names(const job *what)
{
    for (int i = 0; i < what->nodes; i++) {
        char text[512];
        snprintf(text, sizeof(text), "127.0.0.1 localhost\n::1 localhost\n%s\n",
                 what->names[i] == NULL ? "" : what->names[i]);
        hosts_names(i, text);
    }
}

static void job_play(const job *what, struct command *nodes)
{
    char count[8], ranks[8], node[8], option[128];
    snprintf(count, sizeof(count), "%d", what->nodes);
    snprintf(ranks, sizeof(ranks), "%d", what->nodes * 2);
    snprintf(option, sizeof(option), "MUSTER_OPTIONS=%s", what->option ? what->option : "");
    job_names(what);
    for (int i = 0; i < what->nodes; i++) {
        const char *master = what->masters[i] != NULL ? what->masters[i] : what->masters[0];
        snprintf(node, sizeof(node), "%d", i);
        hosts_start(i, &nodes[i],
                    (const char *[]){RUN_TOOL, "--nnodes", count, "--node-rank", node,
                                     "--master-addr", master, "-n", ranks, "-x", option,
                                     GATHER_TOOL, "--group-size", "2", "-v", PROMPTS, NULL});
    }
    for (int i = 0; i < what->nodes; i++)
        command_finish(&nodes[i]);
}

static void job_clear(const job *what, struct command *nodes)
{
    for (int i = 0; i < what->nodes; i++)
        command_free(&nodes[i]);
}

static bool job_succeeded(const job *what, const struct command *nodes)
{
    bool good = true;
    for (int i = 0; i < what->nodes; i++) {
        good = good && nodes[i].status == 0;
        if (nodes[i].status != 0)
            diag("node %d: status %d, %s", i, nodes[i].status, nodes[i].err);
    }
    return good;
}

static void works(const job *what)
{
    struct command nodes[MOST_HOSTS];
    char ranks[64];
    job_play(what, nodes);
    ok(job_succeeded(what, nodes), "%s: the main job", what->what);
    snprintf(ranks, sizeof(ranks), "ranks       %d on %d hosts\n", what->nodes * 2, what->nodes);
    has_str(nodes[0].out, ranks, "on all hosts");
    has_str(nodes[0].out, "prompts     1319\n", "on the real prompts");
    has_str(nodes[0].out, what->network, "by the network that leads to the master");
    job_clear(what, nodes);
}

#define IPV4 "  address          10.77.0.1\n  interface        eth0\n"
#define IPV6 "  address          fd77::1\n  interface        eth0\n"

static const job good_jobs[] = {
    {"IPv4", 2, {"10.77.0.1"}, {NULL}, IPV4, NULL},
    {"IPv6", 2, {"fd77::1"}, {NULL}, IPV6, NULL},
    {"a link-local address",
     2,
     {"fe80::77:1%eth0", "fe80::77:1%ens3"},
     {NULL},
     "  address          fe80::77:1%eth0\n",
     NULL},
    {"a name of both families",
     3,
     {"head"},
     {"fd77::1 head\n10.77.0.1 head", "10.77.0.1 head", "10.77.0.1 head"},
     IPV6,
     NULL},
    {"a name of both families whose first is IPv4 to rank 0",
     2,
     {"head"},
     {"10.77.0.1 head", "fd77::1 head\n10.77.0.1 head"},
     IPV4,
     NULL},
    {"host names that lead nowhere",
     3,
     {"10.77.0.1"},
     {"127.0.1.1 host-a", "10.99.99.99 host-b", NULL},
     IPV4,
     NULL},
    {"the master's name is 127.0.1.1 too on its own host",
     2,
     {"host-a"},
     {"127.0.1.1 host-a\n10.77.0.1 host-a", "10.77.0.1 host-a"},
     IPV4,
     NULL},
};

int main(void)
{
    needs_gloo();
#ifdef HAVE_SODIUM
    setenv("MUSTER_JOB_SECRET", "of all the hosts of this test", 1);
#endif
    const char *reason = hosts_make(MOST_HOSTS);
    if (reason == NULL && !connect_hosts())
        reason = "the hosts can't be connected";
    if (reason != NULL)
        plan_skip_all("%s", reason);
    enum { NUM_GOOD = sizeof(good_jobs) / sizeof(good_jobs[0]) };
    plan(4 * NUM_GOOD);
    for (int i = 0; i < NUM_GOOD; i++)
        works(&good_jobs[i]);
    hosts_end();
    return done();
}
