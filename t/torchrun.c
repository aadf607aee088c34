/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster's programs started by the real torchrun: it starts this test again as the ranks, and the
 * tools.
 */
#include "config.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command.h"
#include "ranks_port.h"
#include "tap.h"
#include "torch.h"
#include "torchrun_rank.h"

enum { NUM_JOBS = 8, TOOL_POINTS = 8, POINTS = 12, MOST_WORDS = 40 };

/* How torchrun is told to let ranks meet. STATIC: its agent hosts the store. C10D, which is what
 * --standalone is, but for a fixed port in 1.13: there rank 0 hosts it, in 2.x the agent. */
enum meeting { STATIC, C10D };

struct job {
    struct command command;
    struct port agent, second; /* ports that are reserved, for torchrun's store and another */
};

static char self[4096], folder[512];

/* torchrun of that Python, as a user calls it; words are those behind --no_python. */
static void start(struct job *job, const torch_python *python, enum meeting meeting,
                  const char *const *options, const char *const *words)
{
    const char *all[MOST_WORDS] = {python->path, "-m", "torch.distributed.run", "-r", "2",
                                   "-t",         "2",  "--monitor_interval",    "0.1"};
    char port[32];
    int count = 9;
    if (job->agent.number == 0)
        job->agent = port_reserve();
    snprintf(port, sizeof(port), "%s%d", meeting == C10D ? "localhost:" : "", job->agent.number);
    if (meeting == C10D)
        all[count++] = "--rdzv_backend", all[count++] = "c10d";
    all[count++] = meeting == C10D ? "--rdzv_endpoint" : "--master_port";
    all[count++] = port;
    while (*options != NULL)
        all[count++] = *options++;
    all[count++] = "--no_python";
    while (*words != NULL && count < MOST_WORDS - 1)
        all[count++] = *words++;
    all[count] = NULL;
    command_start(&job->command, NULL, all);
}

#define WORDS(...) ((const char *[]){__VA_ARGS__, NULL})

static void start_groups(struct job *job, const torch_python *python, enum meeting meeting)
{
    char port[16];
    job->second = port_reserve();
    snprintf(port, sizeof(port), "%d", job->second.number);
    start(job, python, meeting, WORDS("--nproc_per_node", "4"), WORDS(self, "groups", port));
}

/* Waits until somebody listens there: of two agents that try at once, 1.13 may let both fail. */
static void wait_for_server(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    bool there = false;
    for (long long left = patient(30000); !there && left > 0; left -= 20) {
        int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        there = connect(probe, (struct sockaddr *)&address, sizeof(address)) == 0;
        close(probe);
        if (!there)
            poll(NULL, 0, 20);
    }
}

/* Two agents, as if on two hosts. Only that of the rank that dies counts a try; the other one just
 * follows. */
static void start_nodes(struct job *first, struct job *second, const torch_python *python)
{
    char died[600];
    snprintf(died, sizeof(died), "%s/died-%s", folder, python->version);
    const char *const *options = WORDS("--nnodes", "2", "--nproc_per_node", "2", "--max_restarts",
                                       "1", "--rdzv_id", "nodes");
    start(first, python, C10D, options, WORDS(self, "node", died));
    wait_for_server(first->agent.number);
    second->agent = (struct port){first->agent.number, -1, NULL};
    start(second, python, C10D, options, WORDS(self, "node", died));
}

static void finish(struct job *job)
{
    command_finish(&job->command);
    port_free(&job->agent);
    if (job->second.number > 0)
        port_free(&job->second);
}

static bool all_say(const struct job *job, int ranks, const char *what)
{
    char line[128];
    bool all = true;
    for (int rank = 0; rank < ranks; rank++) {
        snprintf(line, sizeof(line), "rank %d %s\n", rank, what);
        all = all && strstr(job->command.out, line) != NULL;
    }
    return all;
}

static void ends_well(struct job *job, const char *name)
{
    finish(job);
    if (!is_int(job->command.status, 0, "%s", name))
        diag("%s%s", job->command.out, job->command.err);
}

static void look_at_ranks(struct job *jobs)
{
    ends_well(&jobs[0], "ranks meet at the store of torchrun's agent");
    ok(all_say(&jobs[0], 4, "has made all groups"), "and a second world at one of rank 0");
    ends_well(&jobs[1], "ranks meet where c10d says");
    ok(all_say(&jobs[1], 4, "has made all groups"), "and a second world too");
    ends_well(&jobs[2], "ranks that are started again meet");
    ok(all_say(&jobs[2], 3, "is well in life 2"), "in their third life");
    ends_well(&jobs[3], "the same with c10d");
    ok(all_say(&jobs[3], 3, "is well in life 2"), "in their third life");
}

static void look_at_tools(struct job *jobs)
{
    ends_well(&jobs[4], "muster-gather does the main job");
    has_str(jobs[4].command.out, "every rank received what the file says", "as it should");
    has_str(jobs[4].command.out, "ranks       4 on 1 host", "on all ranks");
    has_str(jobs[4].command.out, "backend     local", "over shared memory");
    finish(&jobs[5]);
    is_int(jobs[5].command.status, 1, "a job of muster-run in each rank, that fails");
    has_str(jobs[5].command.err, "--group-size 3 does not divide the 2 ranks", "says why");
    has_str(jobs[5].command.err, "traceback : rank ", "and torchrun's table");
    has_str(jobs[5].command.err, " of muster-run exited with status 1", "shows what failed first");
}

static void look_at_nodes(struct job *jobs)
{
    ends_well(&jobs[6], "ranks of two agents meet again");
    ends_well(&jobs[7], "on both of them");
    const char *all[] = {jobs[6].command.out, jobs[7].command.out};
    int lives = 0;
    for (int i = 0; i < 2; i++)
        lives += strstr(all[i], "is well in life 0")   ? 1
                 : strstr(all[i], "is well in life 1") ? 10
                                                       : 0;
    is_int(lives, 11, "though one agent calls it the first try and the other the second");
}

static void start_tools(struct job *jobs, const torch_python *python)
{
    start(&jobs[4], python, STATIC, WORDS("--nproc_per_node", "4"),
          WORDS(TOOLS "/muster-gather", "--timeout", "60", "--group-size", "2", PROMPTS));
    start(&jobs[5], python, STATIC, WORDS("--nproc_per_node", "2"),
          WORDS(TOOLS "/muster-run", "-n", "2", TOOLS "/muster-gather", "--group-size", "3",
                PROMPTS));
}

/* The tools with the first torch alone: each rank of torchrun costs the seconds that torch takes.
 */
static void under(const torch_python *python, bool tools)
{
    struct job jobs[NUM_JOBS] = {0};
    diag("torch %s", python->version);
    start_groups(&jobs[0], python, STATIC);
    start_groups(&jobs[1], python, C10D);
    for (int i = 0; i < 2; i++)
        start(&jobs[2 + i], python, i == 0 ? STATIC : C10D,
              WORDS("--nproc_per_node", "3", "--max_restarts", "2"), WORDS(self, "lives"));
    if (tools)
        start_tools(jobs, python);
    /* Later agents keep one store for all tries, which then only the count can tell apart. */
    bool new_store = python->major == 1 || python->minor < 2;
    if (new_store)
        start_nodes(&jobs[6], &jobs[7], python);
    look_at_ranks(jobs);
    if (tools)
        look_at_tools(jobs);
    if (new_store)
        look_at_nodes(jobs);
    else
        skip(3, "agents of torch %s keep one server for all tries", python->version);
    is_int(command_left(), 0, "nothing is left behind");
    for (int i = 0; i < NUM_JOBS; i++)
        command_free(&jobs[i].command);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return torchrun_rank(argc - 1, argv + 1);
    int pythons = 0;
    needs_gloo();
    needs_torch();
    while (torch_python_at(pythons) != NULL)
        pythons++;
    plan(pythons * POINTS + TOOL_POINTS + 1);
    /* torchrun leaves its logs behind. */
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/muster-torchrun-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(folder) == NULL)
        bail_out("no folder %s", folder);
    setenv("TMPDIR", folder, 1);
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    for (int i = 0; i < pythons; i++)
        under(torch_python_at(i), i == 0);
    struct command rm = {0};
    setenv("TMPDIR", parent == NULL ? "/tmp" : parent, 1);
    command_run(&rm, NULL, WORDS("rm", "-rf", folder));
    is_int(rm.status, 0, "what torchrun leaves is removed");
    command_free(&rm);
    return done();
}
