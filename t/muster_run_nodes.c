/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several nodes of muster-run, here all on one host: how they meet, what they say of each other
 * where they are not of one job, and how they end together.
 */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "muster_run.h"
#include "ranks_port.h"

enum { MOST_NODES = 3, MOST_WORDS = 40 };

#define SHOW "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $NODE_RANK $GROUP_RANK"

static struct command nodes[MOST_NODES];
static char port_text[16];

/* Starts muster-run --node-rank <words...>, as nodes[which]. */
static void start(int which, const char *const *words)
{
    const char *all[MOST_WORDS] = {MUSTER_RUN,      "--master-addr", "127.0.0.1",
                                   "--master-port", port_text,       "--node-rank"};
    int count = 6;
    while (*words != NULL && count < MOST_WORDS - 1)
        all[count++] = *words++;
    all[count] = NULL;
    command_free(&nodes[which]);
    command_start(&nodes[which], NULL, all);
}
#define START(which, ...) start(which, (const char *const[]){__VA_ARGS__, NULL})

static void finish(int count)
{
    for (int i = 0; i < count; i++)
        command_finish(&nodes[i]);
}

/* Both nodes have failed with the status, and said the same. */
static void both(const char *what, int status, const char *sentence)
{
    finish(2);
    for (int i = 0; i < 2; i++) {
        is_int(nodes[i].status, status, "%s: the status of process %d", what, i);
        has_str(nodes[i].err, sentence, "its sentence");
    }
}

static void meeting(void)
{
    START(0, "0", "--nnodes", "2", "-n", "4", SHELL(SHOW));
    START(1, "1", "--nnodes", "2", "-n", "4", SHELL(SHOW " $MASTER_ADDR:$MASTER_PORT"));
    finish(2);
    char words[64];
    ok(nodes[0].status == 0 && nodes[1].status == 0, "two nodes of two ranks");
    has_str(nodes[0].out, "1/4 1/2 0 0\n", "the last rank of the first");
    snprintf(words, sizeof(words), "2/4 0/2 1 1 127.0.0.1:%s\n", port_text);
    has_str(nodes[1].out, words, "the first rank of the second");
    START(0, "0", "--nnodes", "3", "--ppn", "1", SHELL(SHOW));
    START(1, "1", "--nnodes", "3", "--ppn", "3", SHELL(SHOW));
    START(2, "2", "--nnodes", "3", "--ppn", "2", SHELL(SHOW));
    finish(3);
    has_str(nodes[0].out, "0/6 0/1 0 0\n", "nodes may have different numbers of ranks");
    has_str(nodes[1].out, "3/6 2/3 1 1\n", "which the second starts with 1");
    has_str(nodes[2].out, "4/6 0/2 2 2\n", "and the third with 4");
}

static void job_ids(void)
{
    for (int i = 0; i < 2; i++) {
        START(0, "0", "--nnodes", "2", SHELL("echo $MUSTER_JOB_ID"));
        START(1, "1", "--nnodes", "2", SHELL("echo $MUSTER_JOB_ID"));
        finish(2);
        is_str(nodes[0].out, nodes[1].out, "both nodes have one job id");
        if (i == 0)
            is_int((long long)strlen(nodes[0].out), 33, "which node 0 made");
        else
            is_str(nodes[0].out, "outside\n", "or found");
        setenv("MUSTER_JOB_ID", "outside", 1);
    }
    unsetenv("MUSTER_JOB_ID");
}

static void secrets(void)
{
    START(0, "0", "--nnodes", "2", SHELL("echo [$MUSTER_JOB_SECRET]"));
    START(1, "1", "--nnodes", "2", "true");
    finish(2);
    is_str(nodes[0].out, "[]\n", "one node can't make a secret for two");
    has_str(nodes[0].err, "set the same MUSTER_JOB_SECRET on every node", "and says so");
    is_str(nodes[1].err, "", "once");
    START(0, "0", "--nnodes", "2", "--no-secret", "true");
    START(1, "1", "--nnodes", "2", "--no-secret", "true");
    finish(2);
    is_str(nodes[0].err, "", "unless that is wanted");
#ifdef HAVE_SODIUM
    setenv("MUSTER_JOB_SECRET", "the secret of a user", 1);
    START(0, "0", "--nnodes", "2", "true");
    START(1, "1", "--nnodes", "2", SHELL("echo $MUSTER_JOB_SECRET"));
    finish(2);
    is_str(nodes[1].out, "the secret of a user\n", "one that both know serves them");
    START(0, "0", "--nnodes", "2", "--join-timeout", "2", "true");
    setenv("MUSTER_JOB_SECRET", "the secret of another", 1);
    START(1, "1", "--nnodes", "2", "--join-timeout", "1", "true");
    finish(2);
    unsetenv("MUSTER_JOB_SECRET");
    ok(nodes[0].status == 1 && nodes[1].status == 1, "with two secrets they do not meet");
    has_str(nodes[1].err, "muster-run: node 1 can't join the job: tcp store 127.0.0.1",
            "which is said");
    ok(strstr(nodes[1].err, "within") == NULL, "as what it is, and no time-out");
#else
    skip(4, "built without libsodium");
#endif
}

/* Node 1 comes first and waits. */
static void late(void)
{
    START(1, "1", "--nnodes", "2", SHELL(SHOW));
    poll(NULL, 0, 700);
    START(0, "0", "--nnodes", "2", SHELL("sleep 1;" SHOW));
    finish(2);
    ok(nodes[0].status == 0 && nodes[1].status == 0, "node 0 may come later");
    is_str(nodes[1].out, "1/2 0/1 1 1\n", "which the other waits for");
    START(0, "0", "--nnodes", "2", SHELL(SHOW));
    START(1, "1", "--nnodes", "2", SHELL("sleep 1;" SHOW));
    finish(2);
    ok(nodes[0].status == 0 && nodes[0].seconds >= 1, "node 0 stays until the last has ended");
}

static void contradictions(void)
{
    START(0, "0", "--nnodes", "2", "true");
    START(1, "1", "--nnodes", "3", "true");
    both("different --nnodes", 1, " with --nnodes 3; give all nodes the same");
    START(0, "0", "--nnodes", "2", "-n", "2", "true");
    START(1, "1", "--nnodes", "2", "-n", "4", "true");
    both("different -n", 1, " with -n 4; give all nodes the same");
    START(0, "0", "--nnodes", "2", "-n", "2", "true");
    START(1, "1", "--nnodes", "2", "true");
    both("-n on one", 1, " without -n; give all nodes the same");
    START(0, "0", "--nnodes", "2", "-n", "4", "--ppn", "1", "true");
    START(1, "1", "--nnodes", "2", "-n", "4", "--ppn", "2", "true");
    both("too few ranks", 1, "the nodes bring 3 ranks, and -n says 4");
    START(0, "0", "--nnodes", "3", "true");
    START(1, "1", "--nnodes", "3", "true");
    START(2, "1", "--nnodes", "3", "true");
    command_finish(&nodes[2]);
    both("one number twice", 1, "two nodes claim --node-rank 1: node 1 (host ");
    has_str(nodes[2].err, "two nodes claim --node-rank 1: node 1 (host ", "the third says so too");
    START(0, "0", "--nnodes", "2", SHELL("sleep 60"));
    poll(NULL, 0, 300);
    START(1, "0", "--nnodes", "2", SHELL("sleep 60"));
    both("node 0 twice", 1, "two nodes claim --node-rank 0: node 0 (host ");
    has_str(nodes[1].err, "the port is in use", "the second says why it is none");
}

static void missing(void)
{
    START(0, "0", "--nnodes", "3", "--join-timeout", "1", "true");
    command_finish(&nodes[0]);
    is_int(nodes[0].status, 1, "nodes that do not come");
    has_str(nodes[0].err, "nodes 1, 2 of 3 did not come within 1 s (--join-timeout)", "are named");
    START(1, "1", "--nnodes", "2", "--join-timeout", "0.5", "true");
    command_finish(&nodes[1]);
    is_int(nodes[1].status, 1, "no node 0");
    has_str(nodes[1].err,
            "node 1 can't reach the store of node 0 within 0.5 s: tcp store 127.0.0.1",
            "is said with its address");
    START(0, "0", "--nnodes", "2", "--timeout", "0.5", "true");
    command_finish(&nodes[0]);
    is_int(nodes[0].status, 124, "the time of the job counts from the start");
    has_str(nodes[0].err, "before all nodes had come", "which is said");
    START(1, "1", "--nnodes", "2", "true");
    poll(NULL, 0, 300);
    kill(nodes[1].pid, SIGINT);
    command_finish(&nodes[1]);
    is_int(nodes[1].status, -SIGINT, "one that waits can be interrupted");
    START(0, "0", "--nnodes", "2", SHELL("sleep 2"));
    START(1, "1", "--nnodes", "2", SHELL("echo here; sleep 2"));
    command_has_said(&nodes[1], "here");
    START(2, "1", "--nnodes", "2", "true");
    command_finish(&nodes[2]);
    is_int(nodes[2].status, 1, "a further node is turned away");
    has_str(nodes[2].err, "has all of its 2 nodes already", "with a sentence");
    finish(2);
    ok(nodes[0].status == 0 && nodes[1].status == 0, "and disturbs nobody");
}

/* Node 1 does what words say; node 0 would go on for a minute. */
static void start_failing(const char *script)
{
    START(0, "0", "--nnodes", "2", "--node-timeout", "2", SHELL("echo here; sleep 60"));
    START(1, "1", "--nnodes", "2", "--node-timeout", "2", SHELL(script));
}

static void failing(void)
{
    start_failing("exit 3");
    finish(2);
    ok(nodes[0].status == 3 && nodes[1].status == 3, "the status of a rank is that of all nodes");
    has_str(nodes[0].err, "exited with status 3 on node 1 (host ", "its node is said");
    has_str(nodes[0].err, "); see the output there for the reason; stopping 1 rank here",
            "on the one that it ends");
    ok(strstr(nodes[1].err, "on node") == NULL, "its own says what it saw");
    START(0, "0", "--nnodes", "2", "true");
    START(1, "1", "--nnodes", "2", SHELL("sleep 0.5; exit 3"));
    finish(2);
    is_int(nodes[0].status, 3, "where the ranks of node 0 have ended already too");
    START(0, "0", "--nnodes", "2", SHELL("sleep 60"));
    START(1, "1", "--nnodes", "2", "/nowhere/program");
    finish(2);
    ok(nodes[0].status == 127 && nodes[1].status == 127, "a program that one node does not have");
    has_str(nodes[0].err, "/nowhere/program can't be started as rank 1", "is told to the others");
    START(0, "0", "--nnodes", "2", SHELL("exit 4"));
    START(1, "1", "--nnodes", "2", SHELL("sleep 60"));
    finish(2);
    ok(nodes[0].status == 4 && nodes[1].status == 4, "a rank of node 0");
    has_str(nodes[1].err, "rank 0 (pid ", "is told to the others");
}

/* Ranks of both nodes fail at once, as they do where one can't read its input and the others hear
 * of that: whichever node is first, node 0 points to the output of node 1. */
static void failing_together(void)
{
    const char *top = getenv("TMPDIR");
    char go[300], script[700];
    snprintf(go, sizeof(go), "%s/muster-nodes-%ld", top != NULL ? top : "/tmp", (long)getpid());
    snprintf(script, sizeof(script),
             "echo here; while ! test -e '%s'; do sleep 0.01; done; exit $((3 + RANK))", go);
    for (int i = 0; i < 2; i++) {
        START(0, "0", "--nnodes", "2", SHELL(script));
        START(1, "1", "--nnodes", "2", SHELL(script));
        command_has_said(&nodes[0], "here");
        command_has_said(&nodes[1], "here");
        close(open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        finish(2);
        unlink(go);
        has_str(nodes[0].err, ") exited with status 4 on node 1 (host ",
                "node 0 says that a rank of node 1 failed too, or first");
        has_str(nodes[0].err, "); see the output there for the reason", "and where to look");
    }
}

/* The job of two nodes, of which each does what its script says. */
static void start_going(const char *first, const char *second)
{
    START(0, "0", "--nnodes", "2", "-n", "4", "--node-timeout", "2", "--keep-going", SHELL(first));
    START(1, "1", "--nnodes", "2", "-n", "4", "--node-timeout", "2", "--keep-going", SHELL(second));
}

static void going_on(void)
{
    start_going("sleep 2; echo end", "test $RANK = 3 && exit 3; sleep 2.5; echo end");
    finish(2);
    is_str(nodes[0].out, "end\nend\n", "--keep-going: the other node goes on");
    is_str(nodes[1].out, "end\n", "and the other ranks of that one");
    ok(nodes[0].status == 3 && nodes[1].status == 3, "the status is that of the rank that failed");
    has_str(nodes[1].err, ") exited with status 3; going on with 1 other\n", "its node says so");
    has_str(nodes[0].err, ") exited with status 3 on node 1 (host ", "and node 0");
    start_going("test $RANK = 0 && exit 4; sleep 1", "sleep 1.5; echo end");
    finish(2);
    is_int(nodes[0].status, 4, "a rank of node 0");
    ok(nodes[1].status == 0 && nodes[1].err[0] == '\0', "is not the other's");
    is_str(nodes[1].out, "end\nend\n", "which goes on");
    start_going("true", "sleep 0.5; exit 6");
    finish(2);
    is_int(nodes[0].status, 6, "node 0 hears of what fails after its own end");
    start_going("echo here; sleep 60", "echo here; sleep 60");
    ok(command_has_said(&nodes[0], "here") && command_has_said(&nodes[1], "here"), "nodes run");
    kill(nodes[1].pid, SIGTERM);
    finish(2);
    is_int(nodes[1].status, -SIGTERM, "a signal to one muster-run");
    is_int(nodes[0].status, 128 + SIGTERM, "ends all nodes");
    ok(nodes[0].seconds < 40, "at once");
}

static void going_on_without_node(void)
{
    start_going("echo here; sleep 6; echo end", "echo here; sleep 60");
    ok(command_has_said(&nodes[0], "here") && command_has_said(&nodes[1], "here"), "nodes run");
    kill(nodes[1].pid, SIGKILL);
    finish(2);
    is_int(nodes[0].status, 1, "a node that is lost");
    has_str(nodes[0].out, "end\nend\n", "does not end the others");
    has_str(nodes[0].err, "node 1 has given no sign of life for 2 s", "and is named");
    START(0, "0", "--nnodes", "2", "--keep-going", "true");
    START(1, "1", "--nnodes", "2", "true");
    both("--keep-going on one", 1, " without; give it to all or none");
}

static void killed(int which, int signal, int status, const char *sentence)
{
    int other = 1 - which;
    start_failing("echo here; sleep 60");
    ok(command_has_said(&nodes[0], "here") && command_has_said(&nodes[1], "here"), "nodes run");
    kill(nodes[which].pid, signal);
    command_finish(&nodes[other]);
    is_int(nodes[other].status, status, "node %d gets signal %d: the other ends", which, signal);
    has_str(nodes[other].err, sentence, "and says why");
    kill(nodes[which].pid, SIGKILL);
    command_finish(&nodes[which]);
}

static void signals(void)
{
    killed(1, SIGTERM, 128 + SIGTERM, "muster-run was stopped by SIGTERM on node 1");
    killed(0, SIGINT, 128 + SIGINT, "muster-run was stopped by SIGINT on node 0");
    killed(1, SIGKILL, 1, "node 1 has given no sign of life for 2 s");
    killed(0, SIGKILL, 1, "node 0 is lost: tcp store 127.0.0.1");
    killed(1, SIGSTOP, 1, "node 1 has given no sign of life for 2 s");
    killed(0, SIGSTOP, 1, "node 0 is lost: tcp store 127.0.0.1");
    is_int(command_left(), 0, "nothing is left running");
}

int main(void)
{
    plan(6 + 4 + 8 + 3 + 26 + 10 + 9 + 4 + 13 + 8 + 19);
    struct port port = port_reserve();
    snprintf(port_text, sizeof(port_text), "%d", port.number);
    meeting();
    job_ids();
    secrets();
    late();
    contradictions();
    missing();
    failing();
    failing_together();
    going_on();
    going_on_without_node();
    signals();
    port_free(&port);
    for (int i = 0; i < MOST_NODES; i++)
        command_free(&nodes[i]);
    return done();
}
