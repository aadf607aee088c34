/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ranks of one run of muster-run on this node, and how it stands with them.
 */
#ifndef MUSTER_RUN_JOB_H
#define MUSTER_RUN_JOB_H

#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include "environment.h"
#include "guard.h"
#include "input.h"
#include "nodes.h"
#include "options.h"
#include "output.h"

#include "muster.h"

struct rank {
    int number; /* in the world */
    pid_t pid;  /* and its process group */
    bool ended;
    bool told;    /* how it ended, with -v */
    int status;   /* of waitpid */
    int pipes[2]; /* the reading ends of its stdout and stderr, or -1 */
    char tag[24]; /* before its lines, or "" */
    struct output_bytes lines[2];
};

struct job {
    const struct options *options;
    struct rank *ranks;
    int count; /* started */
    int living;
    muster_store *store;
    int port;
    char id[256]; /* without blanks, or "" */
    int world_size;
    int first_rank; /* of this node's */
    struct nodes nodes;
    struct guard guard;
    muster_plan *plan; /* where ranks are bound to; NULL: nowhere */
    struct input input;
    struct output_stream streams[2];
    int signals; /* a signalfd */
    sigset_t inherited_mask;
    struct sigaction inherited_pipe; /* what SIGPIPE did before we ignored it */

    bool stopping;
    double kill_at; /* when stopping */
    bool killed;
    double time_out_at;
    bool timed_out;
    int interrupted; /* the signal that ends us too, or 0 */
    double interrupted_at;
    bool unwritten;     /* some output of a rank */
    struct rank *first; /* to fail, or NULL */
    int stopped_by;     /* the status of another node's failure, or 0 */
    int lost_elsewhere; /* the same of one with which the job goes on */
};

/* CLOCK_MONOTONIC in seconds. */
static inline double job_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Queues a line of our own for stderr. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void job_say(struct job *job, const char *format, ...);

/* Puts a job secret into our environment, which the store and the ranks take it from, or takes it
 * out of there; false, with errno, if that fails. */
bool job_choose_secret(struct job *job);

/* Hosts the store where this node is to; false if that fails, which has been said. */
bool job_host_store(struct job *job);

/* Starts the ranks. False when the program can't be executed, which has been said: *status is then
 * what to exit with. */
bool job_spawn(struct job *job, int *status);

/* Blocks the signals that are handled here. */
bool job_open_signals(struct job *job);

/* Takes the signals that have come and passes them on. */
void job_take_signals(struct job *job);

/* Sends a signal to the process group of every rank that has not ended. */
void job_signal(struct job *job, int signal);

/* Asks all ranks to end, and kills them after a while. */
void job_stop(struct job *job, int signal);

/* Collects ranks that have ended; the first that failed stops the others, if the job is not to go
 * on. */
void job_reap(struct job *job);

/* Ends what ranks started and left behind. */
void job_sweep(struct job *job);

/* Until all ranks have ended and their output is written. */
void job_watch(struct job *job);

/* What to exit with; or does not return, when a signal is to end this process. */
int job_conclude(struct job *job);

#endif
