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

/* A job: what each node is told, and what is expected to come of it. */
typedef struct job {
    const char *what;
    int nodes;
    const char *masters[MOST_HOSTS]; /* NULL: as the first */
    const char *names[MOST_HOSTS];   /* in /etc/hosts beside localhost; NULL: none */
    const char *network;             /* what rank 0 says of its address */
    const char *option;              /* in MUSTER_OPTIONS, or NULL */
    const char *says[MOST_HOSTS];    /* each node of a job that fails; NULL: not looked at */
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
    char count[16], ranks[16], node[16], option[128];
    snprintf(count, sizeof(count), "%d", what->nodes);
    snprintf(ranks, sizeof(ranks), "%d", what->nodes * 2);
    snprintf(option, sizeof(option), "MUSTER_OPTIONS=%s", what->option ? what->option : "");
    job_names(what);
    for (int i = 0; i < what->nodes; i++) {
        const char *master = what->masters[i] != NULL ? what->masters[i] : what->masters[0];
        snprintf(node, sizeof(node), "%d", i);
        hosts_start(i, &nodes[i], (const char *[]){RUN_TOOL,
                                                   "--nnodes",
                                                   count,
                                                   "--node-rank",
                                                   node,
                                                   "--master-addr",
                                                   master,
                                                   "--join-timeout",
                                                   "2",
                                                   "-n",
                                                   ranks,
                                                   "-x",
                                                   option,
                                                   GATHER_TOOL,
                                                   "--group-size",
                                                   "2",
                                                   "--timeout",
                                                   "10",
                                                   "-v",
                                                   PROMPTS,
                                                   NULL});
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

static void fails(const job *what)
{
    struct command nodes[MOST_HOSTS];
    job_play(what, nodes);
    bool all = true;
    for (int i = 0; i < what->nodes; i++)
        all = all && nodes[i].status != 0;
    ok(all, "%s: the job fails on all nodes", what->what);
    for (int i = 0; i < MOST_HOSTS; i++) {
        if (i < what->nodes && what->says[i] != NULL)
            has_str(nodes[i].err, what->says[i], "host %d says why", i);
        else
            ok(true, "nothing to say for host %d", i);
    }
    job_clear(what, nodes);
}

#define IPV4 "  address          10.77.0.1\n  interface        eth0\n"
#define IPV6 "  address          fd77::1\n  interface        eth0\n"

static const job good_jobs[] = {
    {"IPv4", 2, {"10.77.0.1"}, {NULL}, IPV4, NULL, {NULL}},
    {"IPv6", 2, {"fd77::1"}, {NULL}, IPV6, NULL, {NULL}},
    {"a link-local address",
     2,
     {"fe80::77:1%eth0", "fe80::77:1%ens3"},
     {NULL},
     "  address          fe80::77:1%eth0\n",
     NULL,
     {NULL}},
    {"a name of both families",
     3,
     {"head"},
     {"fd77::1 head\n10.77.0.1 head", "10.77.0.1 head", "10.77.0.1 head"},
     IPV6,
     NULL,
     {NULL}},
    {"a name of both families whose first is IPv4 to rank 0",
     2,
     {"head"},
     {"10.77.0.1 head", "fd77::1 head\n10.77.0.1 head"},
     IPV4,
     NULL,
     {NULL}},
    {"host names that lead nowhere",
     3,
     {"10.77.0.1"},
     {"127.0.1.1 host-a", "10.99.99.99 host-b", NULL},
     IPV4,
     NULL,
     {NULL}},
    {"the master's name is 127.0.1.1 too on its own host",
     2,
     {"host-a"},
     {"127.0.1.1 host-a\n10.77.0.1 host-a", "10.77.0.1 host-a"},
     IPV4,
     NULL,
     {NULL}},
    {"a network that was asked for",
     2,
     {"10.77.0.1"},
     {NULL},
     IPV4 "  address chosen   gloo.iface\n",
     "gloo.iface=10.77.0.0/24",
     {NULL}},
    {"all interfaces but one", 2, {"fd77::1"}, {NULL}, IPV4, "gloo.iface=^lo,stor", {NULL}},
};

static const job bad_jobs[] = {
    {"an interface that one host lacks",
     2,
     {"10.77.0.1"},
     {NULL},
     NULL,
     "gloo.iface==eth0",
     {"host-b, pid", "ens3 10.77.0.2"}},
    {"an interface with no way to the others",
     2,
     {"10.77.0.1"},
     {NULL},
     NULL,
     "gloo.iface=stor0",
     {NULL, "at 172.20.0.1 could not be reached from 172.20.0.2"}},
    {"a master on the wrong network",
     2,
     {"172.20.0.1"},
     {NULL},
     NULL,
     NULL,
     {"node 1 of 2 did not come within 2 s", "tcp store 172.20.0.1:29500: no connection in"}},
    {"a master that does not answer",
     2,
     {"10.77.0.1", "10.77.0.9"},
     {NULL},
     NULL,
     NULL,
     {"node 1 of 2 did not come", "tcp store 10.77.0.9:29500: no connection in the time given"}},
    {"a master's address that node 1 has",
     2,
     {"10.77.0.2"},
     {NULL},
     NULL,
     NULL,
     {"can't listen on 10.77.0.2:29500: this host has no such address; it has 127.0.0.1, "
      "172.20.0.1, 10.77.0.1",
      "tcp store 10.77.0.2:29500: no connection"}},
    {"a master's name that is the loopback to itself",
     2,
     {"host-a"},
     {"127.0.1.1 host-a", "10.77.0.1 host-a"},
     NULL,
     NULL,
     {"host-a is 127.0.1.1 on this host: other nodes can't reach the store there",
      "tcp store host-a:29500: no connection in the time given (10.77.0.1 Connection refused)"}},
    {"a master's name that only node 0 knows",
     2,
     {"head"},
     {"10.77.0.1 head"},
     NULL,
     NULL,
     {"node 1 of 2 did not come", "finding the address of host 'head'"}},
};

/* Each host has other numbers of ranks; the last one is behind a link of small packets. */
static void uneven(void)
{
    static const job three = {.what = "uneven", .nodes = 3};
    struct command nodes[MOST_HOSTS];
    ok(hosts_ip(2, "link set enp1s0 mtu 1280") && hosts_switch_ip("link set lan-2 mtu 1280"),
       "one network interface takes small packets");
    job_names(&three);
    for (int i = 0; i < 3; i++) {
        char node[16], ranks[16];
        snprintf(node, sizeof(node), "%d", i);
        snprintf(ranks, sizeof(ranks), "%d", i + 1);
        hosts_start(i, &nodes[i],
                    (const char *[]){RUN_TOOL, "--nnodes", "3", "--node-rank", node,
                                     "--master-addr", "10.77.0.1", "--ppn", ranks, GATHER_TOOL,
                                     "-g", "3", "-v", PROMPTS, NULL});
    }
    for (int i = 0; i < 3; i++)
        command_finish(&nodes[i]);
    ok(job_succeeded(&three, nodes), "three hosts of one, two and three ranks");
    has_str(nodes[0].out, "ranks       6 on 3 hosts\n", "make a world of six");
    has_str(nodes[0].out, "2 regular of 3, 3 orthogonal of 2\n", "with sub-groups across hosts");
    job_clear(&three, nodes);
    hosts_ip(2, "link set enp1s0 mtu 1500");
    hosts_switch_ip("link set lan-2 mtu 1500");
}

/* No launcher: one rank a host, and the variables by hand. */
static void by_hand(void)
{
    static const job two = {.what = "by hand", .nodes = 2};
    struct command nodes[MOST_HOSTS];
    job_names(&two);
    for (int i = 0; i < 2; i++)
        hosts_start(i, &nodes[i],
                    (const char *[]){"env", i == 0 ? "RANK=0" : "RANK=1", "WORLD_SIZE=2",
                                     "MASTER_ADDR=10.77.0.1", "MASTER_PORT=29600", GATHER_TOOL,
                                     "-g", "1", "--timeout", "10", "-v", PROMPTS, NULL});
    for (int i = 0; i < 2; i++)
        command_finish(&nodes[i]);
    ok(job_succeeded(&two, nodes), "env:// by hand");
    has_str(nodes[0].out, "ranks       2 on 2 hosts\n", "on two hosts");
    is_int(tools_count(nodes[0].out, "  address          10.77.0.1\n"), 2,
           "the groups across hosts use the network, the group of one none");
    job_clear(&two, nodes);
    hosts_start(1, &nodes[0],
                (const char *[]){"env", "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=10.77.0.9",
                                 "MASTER_PORT=29600", GATHER_TOOL, "--timeout", "1", PROMPTS,
                                 NULL});
    command_finish(&nodes[0]);
    is_int(nodes[0].status, 1, "a master that does not answer");
    has_str(nodes[0].err, "tcp store 10.77.0.9:29600 of rank 0: no connection in the time given",
            "is said with its address");
    command_free(&nodes[0]);
}

/* Regular sub-groups within hosts use loopback, orthogonal ones the network. */
static void by_host(void)
{
    static const job two = {"by host", 2, {"10.77.0.1"}, {NULL}, NULL, NULL, {NULL}};
    struct command nodes[MOST_HOSTS];
    job_play(&two, nodes);
    ok(job_succeeded(&two, nodes), "sub-groups by host");
    const char *regular = strstr(nodes[0].out, "world/regular 0-1\n");
    const char *orthogonal = strstr(nodes[0].out, "world/orthogonal 0,2\n");
    ok(regular != NULL && orthogonal != NULL && regular < orthogonal, "are described");
    if (regular == NULL || orthogonal == NULL)
        return skip(4, "no sub-groups");
    const char *backend = strstr(regular, "  backend          ");
    ok(backend != NULL && strstr(backend, "local") == backend + 19,
       "a regular one needs no network");
    has_str(regular, "auto: all 2 ranks are on one host and share its memory;", "for that reason");
    has_str(orthogonal, IPV4, "an orthogonal one is on the network");
    has_str(orthogonal, "  address chosen   route to the store\n", "that leads to the store");
    job_clear(&two, nodes);
}

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
    enum {
        NUM_GOOD = sizeof(good_jobs) / sizeof(good_jobs[0]),
        NUM_BAD = sizeof(bad_jobs) / sizeof(bad_jobs[0])
    };
    plan(4 * NUM_GOOD + 4 * NUM_BAD + 4 + 5 + 6);
    for (int i = 0; i < NUM_GOOD; i++)
        works(&good_jobs[i]);
    /* Frames for this address go nowhere, so that nothing answers. */
    hosts_ip(1, "neigh add 10.77.0.9 lladdr 02:00:00:00:00:99 dev ens3 nud permanent");
    for (int i = 0; i < NUM_BAD; i++)
        fails(&bad_jobs[i]);
    uneven();
    by_hand();
    by_host();
    hosts_end();
    return done();
}
