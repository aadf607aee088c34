/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What becomes of a job on three hosts when a host is cut off from the network, or loses its
 * muster-run, while the ranks work. User cases 71, 74.
 *
 * The ranks are this program itself: each says "joined", and then has one barrier after another
 * until that fails, which it says.
 */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "muster.h"
#include "tools.h"

enum { HOSTS = 3, TIMEOUT_MS = 2000 };

static int run_as_rank(void)
{
    muster_group *world = NULL;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.timeout_ms = patient(TIMEOUT_MS);
    muster_status status = muster_init_process_group(&world, &args);
    if (status == MUSTER_OK)
        printf("joined\n");
    fflush(stdout);
    while (status == MUSTER_OK) {
        poll(NULL, 0, 20);
        status = muster_barrier(world, NULL);
    }
    printf("%s\n", muster_last_error());
    muster_group_free(world);
    return 1;
}

static bool connect_hosts(void)
{
    bool good = hosts_switch("lan");
    for (int i = 0; i < HOSTS && good; i++) {
        char address[24];
        snprintf(address, sizeof(address), "10.77.0.%d/24", i + 1);
        good = hosts_plug(i, "eth0", "lan", address, NULL);
    }
    return good;
}

static const char *self_path(void)
{
    static char path[4096];
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0)
        bail_out("/proc/self/exe can't be read");
    return path;
}

/* Starts two ranks on each host, and waits until all have joined. */
static void begin(struct command *nodes)
{
    for (int i = 0; i < HOSTS; i++) {
        char node[16];
        snprintf(node, sizeof(node), "%d", i);
        hosts_start(i, &nodes[i],
                    (const char *[]){TOOLS "/muster-run", "--nnodes", "3", "--node-rank", node,
                                     "--master-addr", "10.77.0.1", "-n", "6", "--node-timeout",
                                     "30", self_path(), "rank", NULL});
    }
    bool joined = true;
    for (int i = 0; i < HOSTS; i++)
        joined = command_has_said(&nodes[i], "joined") && joined;
    ok(joined, "all ranks have joined");
    poll(NULL, 0, 300);
}

/* Whether the text has one of the parts, which end with NULL. */
static bool has_one(const char *text, const char *const *parts)
{
    while (*parts != NULL && strstr(text, *parts) == NULL)
        parts++;
    return *parts != NULL;
}

/* What ranks of the living hosts are to say, and nothing else of ranks that are lost, unless their
 * muster-run was quicker to hear of it and ends them: then it says why. */
static void end(struct command *nodes, int dead, const char *const *parts)
{
    int said = 0;
    for (int i = 0; i < HOSTS; i++) {
        if (i == dead)
            continue;
        command_finish(&nodes[i]);
        ok(nodes[i].status != 0, "host %d: its part of the job ends", i);
        bool named = has_one(nodes[i].out, parts);
        said += named || has_one(nodes[i].err, parts);
        bool ended =
            strstr(nodes[i].err, "; stopping ") != NULL && strstr(nodes[i].out, " lost: ") == NULL;
        if (!ok(named || ended, "and says why"))
            diag("looked for %s in %s%s", parts[0], nodes[i].out, nodes[i].err);
    }
    if (!ok(said > 0, "the cause is named"))
        for (int i = 0; i < HOSTS; i++)
            diag("host %d: %s%s", i, i == dead ? "" : nodes[i].out, i == dead ? "" : nodes[i].err);
    kill(nodes[dead].pid, SIGKILL);
    command_finish(&nodes[dead]);
    for (int i = 0; i < HOSTS; i++)
        command_free(&nodes[i]);
}

static void cut(void)
{
    struct command nodes[HOSTS];
    begin(nodes);
    ok(hosts_switch_ip("link set lan-2 down"), "host-c is cut off");
    /* A barrier of several rounds has ranks that wait for one of them alone. */
    end(nodes, 2, (const char *const[]){"ranks 4-5", "rank 4", "rank 5", NULL});
    hosts_switch_ip("link set lan-2 up");
}

static void killed(int host, const char *const *parts)
{
    struct command nodes[HOSTS];
    begin(nodes);
    kill(nodes[host].pid, SIGKILL);
    end(nodes, host, parts);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "rank") == 0)
        return run_as_rank();
    needs_gloo();
    const char *reason = hosts_make(HOSTS);
    if (reason == NULL && !connect_hosts())
        reason = "the hosts can't be connected";
    if (reason != NULL)
        plan_skip_all("%s", reason);
#ifdef HAVE_SODIUM
    setenv("MUSTER_JOB_SECRET", "of all the hosts of this test", 1);
#endif
    plan(2 + 5 + 6 + 6);
    cut();
    killed(1, (const char *const[]){
                  ": ranks 2-3 were lost: ", ": rank 2 was lost: ", ": rank 3 was lost: ", NULL});
    /* The store goes with it. */
    killed(0, (const char *const[]){"the store, which would know why, does not answer",
                                    "node 0 is lost: ", NULL});
    hosts_end();
    return done();
}
