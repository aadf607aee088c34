/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Node 0 judges whether the nodes that have come are those of its job.
 */
#include "config.h"

#include "job.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 100, SAY_AFTER = 10, MOST_NAMED = 16 };

/* What a node was told. */
struct arrival {
    int num_nodes, node_rank;
    int asked_ranks; /* with -n; 0: without */
    int per_node;
    int keep_going;
    long long first_rank; /* once all are known */
    long pid;
    char host[256];
};

struct court {
    struct job *job;
    muster_store *store;
    struct arrival self;      /* node 0 itself, with which all must agree */
    struct arrival *arrivals; /* in the order in which they came */
    int count;
    struct arrival **by_rank;
    char no[NODES_SENTENCE]; /* why not; "" so far */
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
judge_refuse(struct court *court, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(court->no, sizeof(court->no), format, arguments);
    va_end(arguments);
    return false;
}

static const char *judge_name(const struct arrival *node, char *text, size_t size)
{
    snprintf(text, size, "node %d (host %.100s, pid %ld)", node->node_rank, node->host, node->pid);
    return text;
}

static bool judge_read(const char *text, struct arrival *node)
{
    int version;
    return sscanf(text, "%d %d %d %d %d %d %ld %255s", &version, &node->num_nodes, &node->node_rank,
                  &node->asked_ranks, &node->per_node, &node->keep_going, &node->pid,
                  node->host) == 8 &&
           version == 2 && node->per_node > 0 && node->node_rank >= 0 &&
           node->node_rank < node->num_nodes;
}

static const char *judge_asked(const struct arrival *node, char text[32])
{
    if (node->asked_ranks == 0)
        return "without -n";
    snprintf(text, 32, "with -n %d", node->asked_ranks);
    return text;
}

static bool judge_fits(struct court *court, const struct arrival *node)
{
    char who[256], whom[256], asked[2][32];
    const struct arrival *first = &court->self;
    judge_name(first, whom, sizeof(whom));
    judge_name(node, who, sizeof(who));
    if (node->num_nodes != first->num_nodes)
        return judge_refuse(court,
                            "%s was started with --nnodes %d and %s with --nnodes %d; give all "
                            "nodes the same",
                            whom, first->num_nodes, who, node->num_nodes);
    if (node->asked_ranks != first->asked_ranks)
        return judge_refuse(court, "%s was started %s and %s %s; give all nodes the same", whom,
                            judge_asked(first, asked[0]), who, judge_asked(node, asked[1]));
    if (node->keep_going != first->keep_going)
        return judge_refuse(
            court, "%s was started %s --keep-going and %s %s; give it to all or none", whom,
            first->keep_going ? "with" : "without", who, node->keep_going ? "with" : "without");
    first = court->by_rank[node->node_rank];
    if (first == NULL)
        return true;
    return judge_refuse(court,
                        "two nodes claim --node-rank %d: %s and %s; give each a number of its own",
                        node->node_rank, judge_name(first, whom, sizeof(whom)), who);
}

static bool judge_take(struct court *court, muster_blob key)
{
    void *text = NULL;
    size_t size;
    struct arrival *node = &court->arrivals[court->count];
    if (muster_store_get(court->store, key, 0, &text, &size) != MUSTER_OK)
        return judge_refuse(court, "the nodes can't meet: %s", muster_last_error());
    char *copy = strndup(text, size);
    muster_free(text);
    bool read = copy != NULL && judge_read(copy, node);
    free(copy);
    if (!read)
        return judge_refuse(court, "what a node says of itself is not understood; all nodes need "
                                   "the same version of muster");
    if (!judge_fits(court, node))
        return false;
    court->by_rank[node->node_rank] = node;
    court->count++;
    return true;
}

/* "1, 3 and 2 more" of those that have not come. */
static const char *judge_missing(const struct court *court, char *text, size_t size)
{
    int named = 0, missing = court->job->options->num_nodes - court->count;
    size_t used = (size_t)snprintf(text, size, missing > 1 ? "nodes " : "node ");
    for (int rank = 0; named < missing && named < MOST_NAMED && used < size; rank++)
        if (court->by_rank[rank] == NULL)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%d", named++ > 0 ? ", " : "", rank);
    if (missing > named && used < size)
        snprintf(text + used, size - used, " and %d more", missing - named);
    return text;
}

static bool judge_all(struct court *court, double end)
{
    const struct options *options = court->job->options;
    char room[64], who[256];
    double say_at = job_clock() + SAY_AFTER;
    while (court->count < options->num_nodes) {
        bool there = false;
        muster_blob key = nodes_key(room, sizeof(room), "arrival/%d", court->count + 1);
        if (muster_store_check(court->store, &key, 1, &there) != MUSTER_OK)
            return judge_refuse(court, "the nodes can't meet: %s", muster_last_error());
        if (there && !judge_take(court, key))
            return false;
        if (there)
            continue;
        judge_missing(court, who, sizeof(who));
        if (nodes_interrupted(court->job))
            return judge_refuse(court, "node 0 was stopped while it waited for %s of %d", who,
                                options->num_nodes);
        if (job_clock() >= end)
            return judge_refuse(court, "%s of %d did not come within %g s (--join-timeout)", who,
                                options->num_nodes, options->join_timeout);
        if (say_at > 0 && job_clock() >= say_at && options->verbosity >= 0) {
            job_say(court->job, "waiting for %s of %d", who, options->num_nodes);
            say_at = 0;
        }
        poll(NULL, 0, LOOK_MS);
    }
    return true;
}

/* Each node's first rank is as many as all nodes of lower numbers have. */
static bool judge_world(struct court *court, long long *world)
{
    const struct options *options = court->job->options;
    *world = 0;
    for (int rank = 0; rank < options->num_nodes; rank++) {
        court->by_rank[rank]->first_rank = *world;
        *world += court->by_rank[rank]->per_node;
    }
    if (options->asked_ranks != 0 && options->asked_ranks != *world)
        return judge_refuse(court, "the nodes bring %lld ranks, and -n says %d", *world,
                            options->asked_ranks);
    if (*world > OPTIONS_MOST_RANKS)
        return judge_refuse(court, "the nodes bring %lld ranks, over %d", *world,
                            OPTIONS_MOST_RANKS);
    return true;
}

static char *judge_verdict(struct court *court, double end)
{
    char *text = NULL;
    size_t size = 0;
    long long world;
    bool good = judge_all(court, end) && judge_world(court, &world);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    if (good) {
        fprintf(out, "yes %lld %s\n", world, court->job->id);
        for (int i = 0; i < court->count; i++)
            fprintf(out, "%lld\n", court->arrivals[i].first_rank);
    } else {
        fprintf(out, "no\n%s", court->no);
    }
    return fclose(out) == 0 ? text : NULL;
}

/* Each node is there at first, so that the watch has something to look at. */
static muster_status judge_begin(const struct court *court)
{
    muster_status status = MUSTER_OK;
    char room[64];
    for (int i = 0; i < court->count && status == MUSTER_OK; i++)
        status = muster_store_set(
            court->store, nodes_key(room, sizeof(room), "node/%d", court->arrivals[i].node_rank),
            muster_str("0 runs"));
    return status;
}

void nodes_judge(struct job *job, muster_store *store, double end)
{
    char room[64];
    const struct options *options = job->options;
    struct court court = {.job = job, .store = store};
    court.self = (struct arrival){.num_nodes = options->num_nodes,
                                  .asked_ranks = options->asked_ranks,
                                  .keep_going = options->keep_going,
                                  .pid = (long)getpid()};
    gethostname(court.self.host, sizeof(court.self.host) - 1);
    court.arrivals = calloc((size_t)options->num_nodes, sizeof(*court.arrivals));
    court.by_rank = calloc((size_t)options->num_nodes, sizeof(struct arrival *));
    char *verdict =
        court.arrivals == NULL || court.by_rank == NULL ? NULL : judge_verdict(&court, end);
    if (verdict == NULL || judge_begin(&court) != MUSTER_OK ||
        muster_store_set(store, nodes_key(room, sizeof(room), "verdict"), muster_str(verdict)) !=
            MUSTER_OK)
        job_say(job, "the nodes can't meet: %s",
                verdict == NULL ? "no memory" : muster_last_error());
    free(verdict);
    free(court.by_rank);
    free(court.arrivals);
}
