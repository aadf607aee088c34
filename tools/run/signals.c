/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signals that come to the launcher and go on to the ranks.
 */
#include "config.h"

#include "job.h"

#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

bool job_open_signals(struct job *job)
{
    static const int handled[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                  SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
        sigaddset(&set, handled[i]);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &job->inherited_pipe);
    /* Ignored by our parent, our children could not be waited for. */
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &usual, NULL);
    sigprocmask(SIG_BLOCK, &set, &job->inherited_mask);
    job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return job->signals >= 0;
}

void job_signal(struct job *job, int signal)
{
    for (int i = 0; i < job->count; i++)
        if (!job->ranks[i].ended)
            kill(-job->ranks[i].pid, signal);
}

/* These may mean something to a rank and would end what it has started. */
static void signals_to_ranks(struct job *job, int signal)
{
    for (int i = 0; i < job->count; i++)
        if (!job->ranks[i].ended)
            kill(job->ranks[i].pid, signal);
}

/* The second SIGINT within a second means it. */
static void signals_interrupt(struct job *job, int signal)
{
    double now = job_clock();
    bool again = signal == SIGINT && job->interrupted == SIGINT && now - job->interrupted_at < 1;
    char how[64];
    snprintf(how, sizeof(how), "muster-run was stopped by SIG%s", sigabbrev_np(signal));
    nodes_fail(job, 128 + signal, how, "");
    job->interrupted = signal;
    job->interrupted_at = now;
    job_stop(job, signal);
    if (again)
        job->kill_at = now;
}

static void signals_suspend(struct job *job)
{
    job_signal(job, SIGSTOP);
    kill(getpid(), SIGSTOP);
}

void job_take_signals(struct job *job)
{
    struct signalfd_siginfo info;
    while (read(job->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int signal = (int)info.ssi_signo;
        if (signal == SIGUSR1 || signal == SIGUSR2)
            signals_to_ranks(job, signal);
        else if (signal == SIGCONT)
            job_signal(job, SIGCONT);
        else if (signal == SIGTSTP)
            signals_suspend(job);
        else if (signal != SIGCHLD)
            signals_interrupt(job, signal);
    }
}
