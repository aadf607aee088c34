/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks end: the first that fails stops the others, unless the job is to go on, and nothing is
 * left behind.
 */
#include "config.h"

#include "job.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rank *ending_find(struct job *job, pid_t pid)
{
    for (int i = 0; i < job->count; i++)
        if (job->ranks[i].pid == pid && !job->ranks[i].ended)
            return &job->ranks[i];
    return NULL;
}

/* Our children that are no ranks: the kernel gives us what has lost its parent. Signals them and
 * the groups that they are in, and returns how many there are. */
static int ending_orphans(struct job *job, int signal)
{
    char *line = NULL;
    size_t size = 0;
    int count = 0;
    FILE *children = fopen("/proc/thread-self/children", "re");
    if (children != NULL && getline(&line, &size, children) > 0) {
        char *next = line;
        for (pid_t pid; (pid = (pid_t)strtol(next, &next, 10)) > 0;) {
            if (pid == job->guard.pid || ending_find(job, pid) != NULL)
                continue;
            pid_t group = getpgid(pid);
            kill(group > 0 && group != getpgrp() ? -group : pid, signal);
            count++;
        }
    }
    free(line);
    if (children != NULL)
        fclose(children);
    return count;
}

void job_stop(struct job *job, int signal)
{
    if (!job->stopping)
        job->kill_at = job_clock() + job->options->kill_after;
    job->stopping = true;
    job_signal(job, signal);
    ending_orphans(job, signal);
    /* A stopped process takes the signal when it goes on. */
    job_signal(job, SIGCONT);
}

static void ending_describe(const struct rank *rank, char *words, size_t size)
{
    if (WIFSIGNALED(rank->status))
        snprintf(words, size, "was killed by signal %d (SIG%s)", WTERMSIG(rank->status),
                 sigabbrev_np(WTERMSIG(rank->status)));
    else
        snprintf(words, size, "exited with status %d", WEXITSTATUS(rank->status));
}

static int ending_status(const struct rank *rank)
{
    return WIFSIGNALED(rank->status) ? 128 + WTERMSIG(rank->status) : WEXITSTATUS(rank->status);
}

/* To the launcher that started this one, and to the other nodes. */
static void ending_report(struct job *job, struct rank *rank)
{
    static const char advice[] = "; see the output there for the reason";
    char how[64], words[128], cause[128];
    job->first = rank;
    ending_describe(rank, how, sizeof(how));
    snprintf(cause, sizeof(cause), "rank %d of muster-run %s", rank->number, how);
    muster_report_failure(cause);
    snprintf(words, sizeof(words), "rank %d (pid %ld) %s", rank->number, (long)rank->pid, how);
    if (job->options->keep_going)
        nodes_lose(job, ending_status(rank), words, advice);
    else
        nodes_fail(job, ending_status(rank), words, advice);
}

static void ending_say(struct job *job, const struct rank *rank)
{
    char how[64], others[64] = "";
    const char *ending = job->living == 1 ? "" : "s";
    ending_describe(rank, how, sizeof(how));
    if (job->living > 0 && job->options->keep_going)
        snprintf(others, sizeof(others), "; going on with %d other%s", job->living, ending);
    else if (job->living > 0)
        snprintf(others, sizeof(others), "; stopping %d other%s", job->living, ending);
    if (job->options->verbosity >= 0)
        job_say(job, "rank %d (pid %ld) %s%s", rank->number, (long)rank->pid, how, others);
}

static void ending_fail(struct job *job, struct rank *rank)
{
    ending_report(job, rank);
    ending_say(job, rank);
    job_stop(job, SIGTERM);
}

/* The others go on; but what a rank has started goes with it, as when it ends the job. */
static void ending_lose(struct job *job, struct rank *failed)
{
    if (job->first == NULL)
        ending_report(job, failed);
    for (int i = 0; i < job->count; i++) {
        struct rank *rank = &job->ranks[i];
        if (!rank->ended || rank->told || rank->status == 0)
            continue;
        rank->told = true;
        ending_say(job, rank);
        kill(-rank->pid, SIGTERM);
    }
}

/* Says how ranks have ended, but for the first to fail, of which that is said already. */
static void ending_tell(struct job *job)
{
    char how[64];
    for (int i = 0; i < job->count; i++) {
        struct rank *rank = &job->ranks[i];
        if (!rank->ended || rank->told)
            continue;
        rank->told = true;
        ending_describe(rank, how, sizeof(how));
        if (rank != job->first)
            job_say(job, "rank %d (pid %ld) %s", rank->number, (long)rank->pid, how);
    }
}

/* Of several found at once, one that was killed is the cause: those that lost it just exit. */
void job_reap(struct job *job)
{
    struct rank *failed = NULL;
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct rank *rank = ending_find(job, pid);
        if (rank == NULL) {
            job->guard.pid = pid == job->guard.pid ? 0 : job->guard.pid;
            continue;
        }
        rank->ended = true;
        rank->status = status;
        if (kill(-pid, 0) != 0)
            guard_remove(&job->guard, pid);
        job->living--;
        if (status != 0 &&
            (failed == NULL || (WIFSIGNALED(status) && !WIFSIGNALED(failed->status))))
            failed = rank;
    }
    if (failed != NULL && !job->stopping && job->options->keep_going)
        ending_lose(job, failed);
    else if (failed != NULL && !job->stopping && job->first == NULL)
        ending_fail(job, failed);
    if (job->options->verbosity > 0)
        ending_tell(job);
}

/* Those who were asked to end with the ranks have had their time. */
void job_sweep(struct job *job)
{
    double kill_at = job->stopping ? job->kill_at : job_clock() + job->options->kill_after;
    int signal = job->stopping ? 0 : SIGTERM;
    while (ending_orphans(job, signal) > 0) {
        poll(NULL, 0, 10);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        signal = job_clock() >= kill_at ? SIGKILL : 0;
        if (signal == SIGKILL && job_clock() > kill_at + 30)
            return;
    }
}

int job_conclude(struct job *job)
{
    if (job->interrupted != 0) {
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, job->interrupted);
        prctl(PR_SET_DUMPABLE, 0);
        sigaction(job->interrupted, &usual, NULL);
        raise(job->interrupted);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
    if (job->timed_out)
        return EXIT_TIMEOUT;
    if (job->first != NULL)
        return ending_status(job->first);
    if (job->stopped_by != 0)
        return job->stopped_by;
    if (job->lost_elsewhere != 0)
        return job->lost_elsewhere;
    return job->unwritten ? EXIT_FAILURE : EXIT_SUCCESS;
}
