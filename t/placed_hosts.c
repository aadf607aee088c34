/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks of several hosts with several network interfaces, which are called as those of a real
 * machine's topology: a rank takes the one that is nearest to its cores of those that reach the
 * others. And one table of all hosts.
 *
 *   hsi0, hsi2 on each host    one network of two switches; near package 0 and package 1
 *   hsi3 on each host          near package 1 too, and no way from one host to another
 */
#include "config.h"

#include "hosts.h"
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 2 };

#define RUN_TOOL TOOLS "/muster-run"

static bool connect_hosts(void)
{
    bool good = hosts_switch("lan") && hosts_switch("lan2") &&
                hosts_switch_ip("link add join type veth peer name joined") &&
                hosts_switch_ip("link set join master lan up") &&
                hosts_switch_ip("link set joined master lan2 up");
    for (int i = 0; i < HOSTS && good; i++) {
        char alone[16], first[24], second[24], other[24];
        snprintf(alone, sizeof(alone), "alone%d", i);
        snprintf(first, sizeof(first), "10.77.0.%d/24", i + 1);
        snprintf(second, sizeof(second), "10.77.0.%d/24", i + 101);
        snprintf(other, sizeof(other), "172.20.0.%d/24", i + 1);
        good = hosts_switch(alone) && hosts_plug(i, "hsi3", alone, other, NULL) &&
               hosts_plug(i, "hsi0", "lan", first, NULL) &&
               hosts_plug(i, "hsi2", "lan2", second, NULL);
    }
    return good;
}

/* The words after muster-run's own, up to a NULL, as two ranks on each host. */
static void play(struct command nodes[HOSTS], const char *options, const char *const *words)
{
    char node[16], setting[160];
    snprintf(setting, sizeof(setting), "MUSTER_OPTIONS=%s", options);
    for (int i = 0; i < HOSTS; i++) {
        const char *line[40] = {RUN_TOOL,
                                "--nnodes",
                                "2",
                                "--node-rank",
                                node,
                                "--master-addr",
                                "10.77.0.1",
                                "--join-timeout",
                                "5",
                                "-n",
                                "4",
                                "-x",
                                setting,
                                "-x",
                                "MUSTER_TOPOLOGY_FILE=" TOPOLOGIES "/mpibind-coral-lassen.xml"};
        size_t used = 0;
        while (line[used] != NULL)
            used++;
        for (size_t w = 0; words[w] != NULL; w++)
            line[used++] = words[w];
        snprintf(node, sizeof(node), "%d", i);
        hosts_start(i, &nodes[i], line);
    }
    for (int i = 0; i < HOSTS; i++) {
        command_finish(&nodes[i]);
        if (nodes[i].status != 0)
            diag("node %d: status %d, %s", i, nodes[i].status, nodes[i].err);
    }
}

static void end(struct command nodes[HOSTS])
{
    for (int i = 0; i < HOSTS; i++)
        command_free(&nodes[i]);
}

static void one_table(void)
{
    struct command nodes[HOSTS];
    play(nodes, "", (const char *[]){TOOLS "/muster-info", "--timeout", "20", NULL});
    ok(nodes[0].status == 0 && nodes[1].status == 0, "muster-info as the ranks of two hosts");
    has_str(nodes[0].out, "4 ranks on 2 hosts\n", "prints one table");
    has_str(nodes[0].out, "  host host-a\n", "of one host");
    has_str(nodes[0].out, "  host host-b\n", "and the other");
    ok(tools_count(nodes[0].out, "  hsi0\n") == 2 && tools_count(nodes[0].out, "  hsi2\n") == 2,
       "each rank has the network interface that is near");
    ok(tools_count(nodes[0].out, "hsi3") == 0, "none has one that does not reach the others");
    is_str(nodes[1].out, "", "the other host prints nothing");
    ok(tools_width(nodes[0].out) <= 80, "it fits 80 columns");
    end(nodes);
}

/* Two hosts of one name are two, each by its first rank. */
static void namesakes(void)
{
    struct command nodes[HOSTS], renamed;
    hosts_start(1, &renamed, (const char *[]){"hostname", "host-a", NULL});
    command_finish(&renamed);
    if (renamed.status != 0) {
        skip(4, "hostname(1) is not here");
    } else {
        play(nodes, "", (const char *[]){TOOLS "/muster-info", "--timeout", "20", NULL});
        has_str(nodes[0].out, "4 ranks on 2 hosts\n", "two hosts of one name");
        has_str(nodes[0].out, "  host host-a, that of rank 0\n", "are told apart");
        has_str(nodes[0].out, "  host host-a, that of rank 2\n", "by their ranks");
        is_int(tools_count(nodes[0].out, "  rank  "), 2, "in tables of their own");
        end(nodes);
    }
    command_free(&renamed);
}

static void is_used(const char *options, const char *address, const char *words)
{
    struct command nodes[HOSTS];
    play(nodes, options,
         (const char *[]){TOOLS "/muster-gather", "--group-size", "2", "--timeout", "20", "-v",
                          PROMPTS, NULL});
    ok(nodes[0].status == 0 && nodes[1].status == 0, "the main job with '%s'", options);
    has_str(nodes[0].out, address, "by that address");
    has_str(nodes[0].out, words, "for that reason");
    end(nodes);
}

int main(void)
{
    needs_gloo();
#ifdef HAVE_SODIUM
    setenv("MUSTER_JOB_SECRET", "of all the hosts of this test", 1);
#endif
    const char *reason = hosts_make(HOSTS);
    if (reason == NULL && !connect_hosts())
        reason = "the hosts can't be connected";
    if (reason != NULL)
        plan_skip_all("%s", reason);
    plan(8 + 9 + 4);
    one_table();
    is_used("", "  address          10.77.0.1\n  interface        hsi0\n",
            "  address chosen   route to the store\n");
    is_used("placement_list=@96-99;@8-11",
            "  address          10.77.0.101\n  interface        hsi2\n",
            "  address chosen   on the same NUMA node\n");
    is_used("placement_list=@96-99;@8-11,gloo.iface=hsi0",
            "  address          10.77.0.1\n  interface        hsi0\n",
            "  address chosen   gloo.iface\n");
    namesakes();
    hosts_end();
    return done();
}
