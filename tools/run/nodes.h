/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The nodes of one job, each with a muster-run of its own. They meet in the store of node 0 before
 * any rank is started, and node 0 judges whether they are of one job: the verdict, with its
 * sentence, is the same on all. While their ranks run each shows every second that it is there; the
 * first failure on one ends the others; and node 0 stays, with the store, until all have ended.
 *
 * Keys, below "muster-run/":
 *   meeting           node 0 is here
 *   arrivals          how many have come, which gives each its number from 1
 *   arrival/<number>  what that node was told
 *   verdict           "yes <world size> <job id>" and the first rank of each arrival, or "no" and
 *                     why not, in lines
 *   heard             how many have read a "no"
 *   node/<node rank>  "<count> runs", then "<count> ended"; behind that the exit status and what
 *                     has failed on it, at the end or, with --keep-going, as soon as it has
 *   stop              the exit status, and what has failed on which node
 */
#ifndef MUSTER_RUN_NODES_H
#define MUSTER_RUN_NODES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "muster.h"

struct job;

enum { NODES_SENTENCE = 1024 };

/* What the loop and the thread that watches know of each other. */
struct nodes {
    muster_store *store; /* a connection for the watch alone; NULL where there is one node */
    pthread_t thread;
    bool started;
    int wake; /* an eventfd for the loop, or -1 */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* by the loop */
    /* From the loop. */
    bool failed; /* which ends the job */
    int status;
    char how[NODES_SENTENCE]; /* "" for nothing that failed */
    bool ended;
    bool leave; /* do not wait for the others */
    /* From the thread. */
    bool stopped; /* by another node */
    int stop_status;
    char stop[NODES_SENTENCE];
    bool published;            /* this node's failure, or that another was first */
    char also[NODES_SENTENCE]; /* what failed on another node too, or first; "" for nothing */
    int also_status;
    bool also_said; /* by the loop */
    bool all_ended;
    bool done;
};

/* Meets the other nodes, and sets the job's world size, first rank and id; false if they are not of
 * one job or do not come, which has been said. */
bool nodes_meet(struct job *job);

/* Says so where the other nodes can't reach node 0, this one, by the name of the master. */
void nodes_warn_of_loopback(struct job *job);

/* Node 0's part: waits for the others until end, by job_clock(), and publishes the verdict. */
void nodes_judge(struct job *job, muster_store *store, double end);

/* Whether there was a signal, or the time of the job is over, since the last call. */
bool nodes_interrupted(struct job *job);

/* "muster-run/<name>" as a key; the text of name is copied to room. */
muster_blob nodes_key(char *room, size_t size, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Once the ranks have been started. False if there is no thread to be had. */
bool nodes_watch(struct job *job);

/* The loop tells that this node has failed; the first of a job counts. advice for the other nodes
 * goes behind that, or is "". */
void nodes_fail(struct job *job, int status, const char *how, const char *advice);

/* The same of a failure with which the job goes on: node 0 hears of the first on each node. */
void nodes_lose(struct job *job, int status, const char *how, const char *advice);

/* Whether the loop is to stay though its own ranks have ended; the first call says so to the
 * others. */
bool nodes_wait(struct job *job);

/* The watch has woken the loop. */
void nodes_take(struct job *job);

/* Ends the watch, having told the others what is to tell. */
void nodes_leave(struct job *job);

#endif
