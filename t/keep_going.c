/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is left of a job goes on under muster-run --keep-going: a rank is killed, rank 0 among
 * others, and those that are left make a group of their own. By itself, with a rank's number and
 * perhaps where to meet, it is a rank of such a job under any launcher.
 */
#include "config.h"

#include "muster.h"
#include "command.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const char *where)
{
    char line[1200];
    int length = snprintf(line, sizeof(line), "%s: %.1000s\n", where, muster_last_error());
    return write(STDERR_FILENO, line, (size_t)length) == length ? 1 : 2;
}

static muster_status add_up(muster_group *group, int64_t *sum)
{
    *sum = 1 + muster_group_rank(group);
    return muster_all_reduce(group, sum, sum, 1, MUSTER_INT64, MUSTER_SUM, NULL);
}

/* A launcher that ends the others has done so after that. */
enum { PAUSE_MS = 1500 };

/* The ranks that are left shrink the world, and are still there after a while. */
static int go_on(muster_group *world, int lost)
{
    char line[120];
    int64_t sum;
    muster_group *rest;
    if (muster_group_shrink(world, &lost, 1, NULL, &rest) != MUSTER_OK)
        return failed("shrink");
    poll(NULL, 0, PAUSE_MS);
    if (add_up(rest, &sum) != MUSTER_OK)
        return failed("the rest");
    int length = snprintf(line, sizeof(line), "%d of %d have %lld\n", muster_group_rank(rest),
                          muster_group_size(rest), (long long)sum);
    bool written = write(STDOUT_FILENO, line, (size_t)length) == length;
    muster_group_free(rest);
    muster_group_free(world);
    return !written;
}

/* Rank lost is killed once all are there. */
static int as_rank(int lost, const char *meeting)
{
    int64_t sum;
    muster_group *world;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.init_method = meeting;
    args.timeout_ms = 20000;
    if (muster_init_process_group(&world, &args) != MUSTER_OK)
        return failed("init");
    muster_status status = add_up(world, &sum);
    if (muster_group_rank(world) == lost)
        raise(SIGKILL);
    while (status == MUSTER_OK)
        status = add_up(world, &sum);
    return status == MUSTER_ERR_PEER_LOST ? go_on(world, lost) : failed("after the death");
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        found++;
    return found;
}

static void without(const char *self, const char *lost)
{
    struct command run = {.out = NULL};
    char words[80];
    command_run(&run, NULL,
                (const char *const[]){MUSTER_RUN, "--keep-going", "-n", "4", self, lost, NULL});
    is_int(run.status, 128 + SIGKILL, "rank %s is killed, and the job says so at its end", lost);
    snprintf(words, sizeof(words), "muster-run: rank %s (pid ", lost);
    has_str(run.err, words, "and at once");
    is_int(count(run.err, "; going on with 3 others\n"), 1, "the others go on");
    is_int(count(run.err, "\n"), 1, "without an error");
    ok(count(run.out, "of 3 have 6\n") == 3, "as a group of three");
    command_free(&run);
}

int main(int argc, char **argv)
{
    char self[4096];
    if (argc > 1)
        return as_rank(atoi(argv[1]), argv[2]);
    needs_gloo();
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        bail_out("/proc/self/exe can't be read");
    self[length] = '\0';
    plan(2 * 5 + 1);
    without(self, "2");
    without(self, "0");
    is_int(command_left(), 0, "nothing is left running");
    return done();
}
