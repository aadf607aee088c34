/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks on two hosts whose launcher gives no address for rank 0: a step of Slurm and an Indexed Job
 * of Kubernetes. The hosts are real to the ranks, see hosts.h; the launchers' variables and names
 * are made, for neither runs here on several hosts.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "hosts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define GATHER TOOLS "/muster-gather"

enum { RANKS = 3, LATE_MS = 500 };

static const int host_of[RANKS] = {0, 0, 1};

typedef struct job {
    const char *what;
    const char *names[2];     /* the hosts' own; NULL: host-a and host-b */
    const char *entries[2];   /* in /etc/hosts */
    const char *late;         /* the second host's, after a while; or NULL */
    const char *variables;    /* of all ranks */
    const char *ranks[RANKS]; /* and of each */
    const char *timeout;
    const char *how;  /* rank 1 found rank 0; NULL: the job fails */
    const char *says; /* the last rank, of a job that fails */
} job;

#define STEP                                                                                       \
    "SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NUM_NODES=2 SLURM_JOB_ID=9 SLURM_STEP_ID=1 "                \
    "SLURM_STEP_NODELIST=host-a,host-b SLURM_STEP_TASKS_PER_NODE=2,1"
#define TASKS                                                                                      \
    {                                                                                              \
        "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0",                                           \
            "SLURM_PROCID=1 SLURM_LOCALID=1 SLURM_NODEID=0",                                       \
            "SLURM_PROCID=2 SLURM_LOCALID=0 SLURM_NODEID=1"                                        \
    }

static const job jobs[] = {
    {.what = "a Slurm step whose hosts know each other",
     .entries = {"10.77.0.1 host-a\n10.77.0.2 host-b", "10.77.0.1 host-a\n10.77.0.2 host-b"},
     .variables = STEP,
     .ranks = TASKS,
     .timeout = "20",
     .how = "rank 0 is found at host-a port 20625, by the first host of SLURM_STEP_NODELIST"},
    {.what = "one whose first host has its own name for loopback",
     .entries = {"127.0.1.1 host-a", "10.77.0.1 host-a"},
     .variables = STEP,
     .ranks = TASKS,
     .timeout = "20",
     .how = "rank 0 is found at 10.77.0.1 port 20625"},
    {.what = "one in which the name comes late",
     .entries = {"10.77.0.1 host-a", "10.77.0.2 host-b"},
     .late = "10.77.0.1 host-a",
     .variables = STEP,
     .ranks = TASKS,
     .timeout = "20",
     .how = "rank 0 is found at host-a port 20625"},
    {.what = "one in which it never comes",
     .entries = {"10.77.0.1 host-a", "10.77.0.2 host-b"},
     .variables = STEP,
     .ranks = TASKS,
     .timeout = "2",
     .says = "; it is the first host of SLURM_STEP_NODELIST"},
    {.what = "one in which it is another host's",
     .entries = {"10.77.0.2 host-a", "10.77.0.2 host-a"},
     .variables = STEP,
     .ranks = TASKS,
     .timeout = "2",
     .says = "10.77.0.2"},
};

/* Pods have one process each. */
static const job pods = {
    .what = "an Indexed Job whose first pod's name comes late",
    .names = {"train-0", "train-1"},
    .entries = {"10.77.0.1 train-0.sub.ns.svc train-0", "10.77.0.2 train-1.sub.ns.svc train-1"},
    .late = "10.77.0.2 train-1.sub.ns.svc train-1\n10.77.0.1 train-0.sub.ns.svc train-0",
    .variables = "WORLD_SIZE=2",
    .ranks = {"JOB_COMPLETION_INDEX=0", NULL, "JOB_COMPLETION_INDEX=1"},
    .timeout = "20",
    .how = "rank 0 is found at train-0.sub.ns.svc port 29500, by the name of the Indexed Job's "
           "first pod"};

/* Without a default route, so that no name is asked of a DNS that does not answer. */
static bool connect_hosts(void)
{
    return hosts_switch("lan") && hosts_plug(0, "eth0", "lan", "10.77.0.1/24", NULL) &&
           hosts_plug(1, "eth0", "lan", "10.77.0.2/24", NULL);
}

static void name_host(int host, const char *name, const char *entries)
{
    char text[512];
    struct command rename = {.out = NULL};
    snprintf(text, sizeof(text), "127.0.0.1 localhost\n%s\n", entries);
    hosts_names(host, text);
    hosts_start(host, &rename, (const char *[]){"hostname", name, NULL});
    command_finish(&rename);
    command_free(&rename);
}

static void start_rank(const job *what, int rank, struct command *command)
{
    char variables[1024];
    snprintf(variables, sizeof(variables), "%s %s", what->variables, what->ranks[rank]);
    environment_only(variables);
    setenv("MUSTER_LOG", "info", 1);
    hosts_start(host_of[rank], command,
                (const char *[]){GATHER, "--timeout", what->timeout, PROMPTS, NULL});
}

static void run_job(const job *what, struct command *commands)
{
    static const char *const usual[] = {"host-a", "host-b"};
    for (int i = 0; i < 2; i++)
        name_host(i, what->names[i] != NULL ? what->names[i] : usual[i], what->entries[i]);
    for (int r = 0; r < RANKS; r++)
        if (what->ranks[r] != NULL)
            start_rank(what, r, &commands[r]);
    if (what->late != NULL) {
        char text[512];
        usleep(LATE_MS * 1000);
        snprintf(text, sizeof(text), "127.0.0.1 localhost\n%s\n", what->late);
        hosts_names(1, text);
    }
    for (int r = 0; r < RANKS; r++)
        if (what->ranks[r] != NULL)
            command_finish(&commands[r]);
}

static void show(const struct command *commands)
{
    for (int r = 0; r < RANKS; r++)
        if (commands[r].out != NULL)
            diag("rank %d: %d\n%.1500s%.1500s", r, commands[r].status, commands[r].out,
                 commands[r].err);
}

/* Two points. */
static void try_job(const job *what)
{
    struct command commands[RANKS] = {{.out = NULL}};
    run_job(what, commands);
    const struct command *last = &commands[RANKS - 1];
    bool good;
    if (what->how != NULL) {
        good = ok(strstr(commands[0].out, "every rank received what the file says") != NULL &&
                      strstr(commands[0].out, "on 2 hosts") != NULL,
                  "%s succeeds", what->what);
        good &= has_str(commands[what->ranks[1] != NULL ? 1 : 2].err, what->how,
                        "and how rank 0 was found");
    } else {
        good = ok(commands[0].status != 0 || last->status != 0, "%s fails", what->what);
        good &=
            has_str(last->status != 0 && strstr(last->err, what->says) != NULL ? last->err
                                                                               : commands[0].err,
                    what->says, "and says why");
    }
    if (!good)
        show(commands);
    for (int r = 0; r < RANKS; r++)
        command_free(&commands[r]);
}

int main(void)
{
    needs_gloo();
    const char *reason = hosts_make(2);
    if (reason != NULL)
        plan_skip_all("%s", reason);
    plan((int)(2 * COUNT(jobs) + 2));
    if (!connect_hosts())
        bail_out("the hosts can't be connected");
    for (size_t i = 0; i < COUNT(jobs); i++)
        try_job(&jobs[i]);
    try_job(&pods);
    hosts_end();
    return done();
}
