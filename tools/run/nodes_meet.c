/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the nodes of a job meet.
 */
#include "config.h"

#include "job.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One try to connect; how long to look for a key before signals are looked at; when to say that
 * others are waited for; and how long one who is turned away as node 0 looks for the real one. */
enum { TRY_MS = 2000, LOOK_MS = 100, SAY_AFTER = 10, STRAY_MS = 1000 };

/* How long node 0 stays when the job is not to be. */
enum { PART_S = 3 };

muster_blob nodes_key(char *room, size_t size, const char *format, ...)
{
    static const char prefix[] = "muster-run/";
    size_t length = sizeof(prefix) - 1;
    va_list arguments;
    va_start(arguments, format);
    memcpy(room, prefix, length);
    vsnprintf(room + length, size - length, format, arguments);
    va_end(arguments);
    return muster_str(room);
}

bool nodes_interrupted(struct job *job)
{
    job_take_signals(job);
    while (output_waits(&job->streams[1]) && !job->streams[1].broken)
        output_write(&job->streams[1]);
    if (job->time_out_at > 0 && job_clock() >= job->time_out_at && !job->timed_out) {
        job->timed_out = true;
        job_say(job, "timed out after %g s, before all nodes had come", job->options->timeout);
    }
    return job->interrupted != 0 || job->timed_out;
}

static muster_status meet_open(const struct job *job, int64_t timeout_ms, muster_store **store)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    args.host = job->options->master_addr;
    args.port = job->port;
    args.timeout_ms = timeout_ms;
    return muster_store_tcp(store, &args);
}

/* A job secret that is missing, wrong or can't be proved stays so. */
static bool meet_in_vain(muster_status status)
{
    return status == MUSTER_ERR_MISMATCH || status == MUSTER_ERR_ARGUMENT ||
           status == MUSTER_ERR_UNSUPPORTED;
}

/* Connects by short tries, between which signals are looked at; what is kept has the time-out by
 * which a node is taken for lost. */
static muster_status meet_connect(struct job *job, double end, muster_store **store)
{
    const struct options *options = job->options;
    double say_at = job_clock() + SAY_AFTER;
    muster_store *first = NULL;
    muster_status status = MUSTER_ERR_TIMEOUT;
    while (!nodes_interrupted(job)) {
        status = meet_open(job, TRY_MS, &first);
        if (status == MUSTER_OK || meet_in_vain(status) || job_clock() >= end)
            break;
        if (say_at > 0 && job_clock() >= say_at && options->verbosity >= 0) {
            job_say(job, "waiting for node 0: %s", muster_last_error());
            say_at = 0;
        }
        poll(NULL, 0, LOOK_MS);
    }
    if (status == MUSTER_OK)
        status = meet_open(job, (int64_t)(options->node_timeout * 1000), store);
    muster_store_free(first);
    return status;
}

static bool meet_arrive(struct job *job, muster_store *store, int64_t *number)
{
    const struct options *options = job->options;
    char room[64], host[256] = "unknown", text[512];
    gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "2 %d %d %d %d %d %ld %s", options->num_nodes, options->node_rank,
             options->asked_ranks, options->per_node, options->keep_going, (long)getpid(), host);
    if (muster_store_add(store, nodes_key(room, sizeof(room), "arrivals"), 1, number) ==
            MUSTER_OK &&
        muster_store_set(store, nodes_key(room, sizeof(room), "arrival/%" PRId64, *number),
                         muster_str(text)) == MUSTER_OK)
        return true;
    job_say(job, "the nodes can't meet: %s", muster_last_error());
    return false;
}

/* Waits for the verdict; NULL where there is none in time, which has been said. */
static char *meet_verdict(struct job *job, muster_store *store, double end)
{
    char room[64];
    void *text = NULL;
    size_t size = 0;
    bool there = false;
    muster_blob key = nodes_key(room, sizeof(room), "verdict");
    while (!there && !nodes_interrupted(job)) {
        muster_status status = muster_store_check(store, &key, 1, &there);
        if (status == MUSTER_OK && !there && job_clock() >= end)
            status = muster_store_wait(store, &key, 1, 0);
        if (status != MUSTER_OK) {
            job_say(job, "node 0 does not say whether all nodes have come: %s",
                    muster_last_error());
            return NULL;
        }
        if (!there)
            poll(NULL, 0, LOOK_MS);
    }
    if (!there || muster_store_get(store, key, 0, &text, &size) != MUSTER_OK)
        return NULL;
    char *copy = strndup(text, size);
    muster_free(text);
    return copy;
}

/* Takes what concerns the node with that number of arrival. */
static bool meet_obey(struct job *job, char *verdict, int64_t number)
{
    char *rest = verdict, *line = strsep(&rest, "\n");
    if (strcmp(line, "no") == 0) {
        job_say(job, "%s", rest == NULL ? "the nodes can't meet" : rest);
        return false;
    }
    if (sscanf(line, "yes %d %32s", &job->world_size, job->id) != 2)
        job->id[0] = '\0';
    for (int64_t i = 1; rest != NULL && i <= number; i++)
        line = strsep(&rest, "\n");
    if (number <= job->options->num_nodes && sscanf(line, "%d", &job->first_rank) == 1)
        return true;
    job_say(job, "the job at %s port %d has all of its %d nodes already; a further one can't join",
            job->options->master_addr, job->port, job->options->num_nodes);
    return false;
}

/* Who has heard that the job is not to be says so, and node 0 waits a moment for all who have come:
 * the store goes with it. */
static void meet_part(struct job *job, muster_store *store)
{
    char room[64], other[64];
    int64_t heard = 0, arrived = 0;
    muster_blob count = nodes_key(room, sizeof(room), "heard");
    double end = job_clock() + PART_S;
    if (muster_store_add(store, count, 1, &heard) != MUSTER_OK || job->store == NULL)
        return;
    while (job_clock() < end && muster_store_add(store, count, 0, &heard) == MUSTER_OK &&
           muster_store_add(store, nodes_key(other, sizeof(other), "arrivals"), 0, &arrived) ==
               MUSTER_OK &&
           heard < arrived)
        poll(NULL, 0, LOOK_MS);
}

static bool meet_others(struct job *job, muster_store *store)
{
    const struct options *options = job->options;
    char room[64];
    int64_t number;
    double end = job_clock() + options->join_timeout;
    bool judge = job->store != NULL;
    if (judge && muster_store_set(store, nodes_key(room, sizeof(room), "meeting"),
                                  muster_str("1")) != MUSTER_OK) {
        job_say(job, "the nodes can't meet: %s", muster_last_error());
        return false;
    }
    if (!meet_arrive(job, store, &number))
        return false;
    if (judge)
        nodes_judge(job, store, end);
    /* Node 0 may have started later, and then waits longer. */
    char *verdict = meet_verdict(job, store, judge ? end : end + options->join_timeout);
    bool good = verdict != NULL && meet_obey(job, verdict, number);
    free(verdict);
    if (!good)
        meet_part(job, store);
    return good;
}

/* This node can't have the store. Where the real node 0 is there already, all are told that two
 * were started as node 0. */
static void meet_as_stray(struct job *job)
{
    char room[64];
    bool there = false;
    muster_store *store = NULL;
    muster_blob key = nodes_key(room, sizeof(room), "meeting");
    if (meet_open(job, STRAY_MS, &store) == MUSTER_OK &&
        muster_store_check(store, &key, 1, &there) == MUSTER_OK && there)
        meet_others(job, store);
    muster_store_free(store);
}

bool nodes_meet(struct job *job)
{
    const struct options *options = job->options;
    bool stray = options->node_rank == 0 && job->store == NULL;
    job->world_size = options->num_ranks;
    job->first_rank = 0;
    if (options->num_nodes == 1)
        return !stray;
    if (stray) {
        meet_as_stray(job);
        return false;
    }
    muster_status status =
        meet_connect(job, job_clock() + options->join_timeout, &job->nodes.store);
    if (status != MUSTER_OK) {
        if (meet_in_vain(status))
            job_say(job, "node %d can't join the job: %s", options->node_rank, muster_last_error());
        else if (!nodes_interrupted(job))
            job_say(job,
                    "node %d can't reach the store of node 0 within %g s: %s; see whether "
                    "muster-run --node-rank 0 runs and this is its address",
                    options->node_rank, options->join_timeout, muster_last_error());
        return false;
    }
    return meet_others(job, job->nodes.store);
}
