/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the nodes of a job watch each other while their ranks run: a thread, since the store may take
 * its time to answer when its host is in trouble.
 */
#include "config.h"

#include "job.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Between two looks at the store, between two signs of life, and for how long the end may be told
 * to a store that does not answer. */
enum { LOOK_MS = 200, BEATS = 5, FAREWELL_S = 5 };

/* What the thread alone knows. */
struct watch {
    struct job *job;
    struct nodes *nodes;
    long count;   /* of looks */
    bool told;    /* that this node has failed */
    bool goodbye; /* that it has ended */
    /* Node 0: what was last seen of each node, and when that was new. */
    muster_blob *keys;
    char (*rooms)[32];
    struct {
        long count;
        double since;
        bool ended;
    } * seen;
};

static void watch_wake(struct nodes *nodes)
{
    uint64_t once = 1;
    ssize_t written = write(nodes->wake, &once, sizeof(once));
    (void)written; /* a counter that is full wakes as well */
}

/* Another node is the reason to stop: the first that is told counts. */
static void watch_stop(struct watch *watch, int status, const char *words)
{
    struct nodes *nodes = watch->nodes;
    pthread_mutex_lock(&nodes->lock);
    if (!nodes->stopped && !nodes->failed) {
        nodes->stopped = true;
        nodes->stop_status = status;
        snprintf(nodes->stop, sizeof(nodes->stop), "%s", words);
    }
    pthread_mutex_unlock(&nodes->lock);
    watch_wake(nodes);
}

/* Another node has failed, as this one has, or with this one going on; one such is enough. */
static void watch_note(struct watch *watch, const char *when, int status, const char *words)
{
    struct nodes *nodes = watch->nodes;
    pthread_mutex_lock(&nodes->lock);
    if (nodes->also[0] == '\0') {
        snprintf(nodes->also, sizeof(nodes->also), "%s%.1000s", when, words);
        nodes->also_status = status;
    }
    pthread_mutex_unlock(&nodes->lock);
    watch_wake(nodes);
}

/* What "<status> <words>" says of another node. */
static int watch_read_stop(muster_blob value, char words[NODES_SENTENCE])
{
    char text[NODES_SENTENCE + 16], *rest = text;
    snprintf(text, sizeof(text), "%.*s", (int)value.size, (const char *)value.data);
    int status = (int)strtol(text, &rest, 10);
    snprintf(words, NODES_SENTENCE, "%.1000s", rest + (*rest == ' '));
    return status == 0 ? EXIT_FAILURE : status;
}

/* Publishes a failure unless there is an earlier one, and takes over what is there then. */
static muster_status watch_publish(struct watch *watch, int status, const char *words, bool own)
{
    char room[64], text[NODES_SENTENCE + 16];
    void *now = NULL;
    size_t size = 0;
    snprintf(text, sizeof(text), "%d %s", status, words);
    muster_status got =
        muster_store_compare_set(watch->nodes->store, nodes_key(room, sizeof(room), "stop"),
                                 muster_str(""), muster_str(text), &now, &size);
    if (got != MUSTER_OK)
        return got;
    if (!own) {
        watch_stop(watch, status, words);
    } else if (size != strlen(text) || memcmp(now, text, size) != 0) {
        char first[NODES_SENTENCE];
        int first_status = watch_read_stop((muster_blob){now, size}, first);
        watch_note(watch, "before that: ", first_status, first);
    }
    muster_free(now);
    return got;
}

static muster_status watch_look_for_stop(struct watch *watch)
{
    char room[64], words[NODES_SENTENCE];
    void *value = NULL;
    size_t size = 0;
    bool there = false;
    muster_blob key = nodes_key(room, sizeof(room), "stop");
    muster_status status = muster_store_check(watch->nodes->store, &key, 1, &there);
    if (status != MUSTER_OK || !there)
        return status;
    status = muster_store_get(watch->nodes->store, key, 0, &value, &size);
    if (status != MUSTER_OK)
        return status;
    int exit_status = watch_read_stop((muster_blob){value, size}, words);
    muster_free(value);
    watch_stop(watch, exit_status, words);
    return MUSTER_OK;
}

static muster_status watch_beat(struct watch *watch, const struct nodes *now, bool ended)
{
    char room[64], text[NODES_SENTENCE + 48];
    int used = snprintf(text, sizeof(text), "%ld %s", watch->count + 1, ended ? "ended" : "runs");
    if (now->how[0] != '\0')
        snprintf(text + used, sizeof(text) - (size_t)used, " %d %s", now->status, now->how);
    return muster_store_set(
        watch->nodes->store,
        nodes_key(room, sizeof(room), "node/%d", watch->job->options->node_rank), muster_str(text));
}

/* What a node says of its failure, behind its state. Node 0 that was first with one of its own says
 * so at the end. */
static void watch_hear(struct watch *watch, int node, const char *failure)
{
    char words[NODES_SENTENCE];
    if (*failure == '\0' ||
        !(watch->job->options->keep_going || (watch->told && watch->seen[node].ended)))
        return;
    int status = watch_read_stop(muster_str(failure), words);
    watch_note(watch, watch->told ? "also: " : "", status, words);
}

static void watch_miss(struct watch *watch, int node)
{
    char words[NODES_SENTENCE];
    snprintf(words, sizeof(words),
             "node %d has given no sign of life for %g s (--node-timeout): its muster-run was "
             "killed, or the network to it is cut",
             node, watch->job->options->node_timeout);
    if (watch->job->options->keep_going)
        watch_note(watch, "", EXIT_FAILURE, words);
    else
        watch_publish(watch, EXIT_FAILURE, words, false);
    watch->seen[node].ended = true; /* nobody waits for it */
}

/* Node 0 looks at one of the others; whether it has ended. */
static bool watch_one(struct watch *watch, int node, muster_blob value)
{
    static const char end[] = "ended";
    char text[NODES_SENTENCE + 48];
    double now = job_clock();
    snprintf(text, sizeof(text), "%.*s", (int)value.size, (const char *)value.data);
    char *state;
    long count = strtol(text, &state, 10);
    if (count != watch->seen[node].count) {
        watch->seen[node].count = count;
        watch->seen[node].since = now;
    }
    state += *state == ' ';
    watch->seen[node].ended = strncmp(state, end, strlen(end)) == 0;
    state += strcspn(state, " ");
    watch_hear(watch, node, state + (*state == ' '));
    if (!watch->seen[node].ended &&
        now - watch->seen[node].since > watch->job->options->node_timeout)
        watch_miss(watch, node);
    return watch->seen[node].ended;
}

static muster_status watch_others(struct watch *watch)
{
    struct nodes *nodes = watch->nodes;
    int num = watch->job->options->num_nodes;
    muster_blob *values = NULL;
    bool all = true;
    muster_status status =
        muster_store_multi_get(nodes->store, watch->keys, (size_t)num, 1000, &values);
    if (status != MUSTER_OK)
        return status;
    for (int node = 1; node < num; node++)
        all = watch_one(watch, node, values[node]) && all;
    muster_free(values);
    if (all) {
        pthread_mutex_lock(&nodes->lock);
        nodes->all_ended = true;
        pthread_mutex_unlock(&nodes->lock);
        watch_wake(nodes);
    }
    return MUSTER_OK;
}

/* Waits for the time to look again, or for the loop to say something. */
static struct nodes watch_pause(struct watch *watch)
{
    struct nodes *nodes = watch->nodes;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += LOOK_MS * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&nodes->lock);
    while (!nodes->leave && !(nodes->failed && !watch->told) &&
           !(nodes->ended && !watch->goodbye) &&
           pthread_cond_timedwait(&nodes->changed, &nodes->lock, &end) != ETIMEDOUT)
        continue;
    struct nodes now = *nodes;
    pthread_mutex_unlock(&nodes->lock);
    return now;
}

/* One look. */
static muster_status watch_look(struct watch *watch, const struct nodes *now)
{
    bool ended = now->ended || now->leave;
    muster_status status = MUSTER_OK;
    if (now->failed && !watch->told) {
        watch->told = true;
        status = watch_publish(watch, now->status, now->how, true);
        pthread_mutex_lock(&watch->nodes->lock);
        watch->nodes->published = true;
        pthread_mutex_unlock(&watch->nodes->lock);
        watch_wake(watch->nodes);
    }
    if (status == MUSTER_OK && ((ended && !watch->goodbye) || watch->count % BEATS == 0)) {
        watch->goodbye = ended;
        status = watch_beat(watch, now, ended);
    }
    watch->count++;
    if (status == MUSTER_OK && !now->stopped && !now->failed)
        status = watch_look_for_stop(watch);
    if (status == MUSTER_OK && watch->keys != NULL)
        status = watch_others(watch);
    return status;
}

/* Without the store nothing more is learned; when its host has ended, so have we. */
static void watch_lost(struct watch *watch)
{
    char words[NODES_SENTENCE];
    snprintf(words, sizeof(words), "node 0 is lost: %.900s", muster_last_error());
    watch_stop(watch, EXIT_FAILURE, words);
}

static void *watch_thread(void *argument)
{
    struct watch *watch = argument;
    struct nodes now = {.store = NULL};
    muster_status status = MUSTER_OK;
    do {
        now = watch_pause(watch);
        status = watch_look(watch, &now);
    } while (status == MUSTER_OK && !now.leave);
    if (status != MUSTER_OK && !watch->goodbye)
        watch_lost(watch);
    pthread_mutex_lock(&watch->nodes->lock);
    watch->nodes->done = true;
    pthread_mutex_unlock(&watch->nodes->lock);
    watch_wake(watch->nodes);
    free(watch->seen);
    free(watch->rooms);
    free(watch->keys);
    free(watch);
    return NULL;
}

static bool watch_prepare(struct watch *watch)
{
    const struct options *options = watch->job->options;
    size_t num = (size_t)options->num_nodes;
    if (options->node_rank != 0)
        return true;
    watch->keys = calloc(num, sizeof(*watch->keys));
    watch->rooms = calloc(num, sizeof(*watch->rooms));
    watch->seen = calloc(num, sizeof(*watch->seen));
    if (watch->keys == NULL || watch->rooms == NULL || watch->seen == NULL)
        return false;
    for (size_t i = 0; i < num; i++) {
        watch->keys[i] = nodes_key(watch->rooms[i], sizeof(watch->rooms[i]), "node/%zu", i);
        watch->seen[i].since = job_clock();
    }
    return true;
}

bool nodes_watch(struct job *job)
{
    struct nodes *nodes = &job->nodes;
    pthread_condattr_t monotonic;
    if (nodes->store == NULL)
        return true;
    struct watch *watch = calloc(1, sizeof(*watch));
    if (watch == NULL)
        return false;
    *watch = (struct watch){.job = job, .nodes = nodes};
    pthread_mutex_init(&nodes->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&nodes->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    nodes->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ready = nodes->wake >= 0 && watch_prepare(watch);
    pthread_mutex_lock(&nodes->lock); /* the thread copies all of it */
    nodes->started = ready && pthread_create(&nodes->thread, NULL, watch_thread, watch) == 0;
    pthread_mutex_unlock(&nodes->lock);
    if (nodes->started)
        return true;
    free(watch->seen);
    free(watch->rooms);
    free(watch->keys);
    free(watch);
    return false;
}

/* ---- the loop ---- */

static void nodes_tell(struct job *job, bool stop, int status, const char *how, const char *advice)
{
    struct nodes *nodes = &job->nodes;
    char host[128] = "unknown";
    if (!nodes->started)
        return;
    gethostname(host, sizeof(host) - 1);
    pthread_mutex_lock(&nodes->lock);
    if (!nodes->failed && !nodes->stopped && (stop || nodes->how[0] == '\0')) {
        nodes->failed = stop;
        nodes->status = status;
        snprintf(nodes->how, sizeof(nodes->how), "%.700s on node %d (host %s)%.100s", how,
                 job->options->node_rank, host, advice);
    }
    pthread_cond_signal(&nodes->changed);
    pthread_mutex_unlock(&nodes->lock);
}

void nodes_fail(struct job *job, int status, const char *how, const char *advice)
{
    nodes_tell(job, true, status, how, advice);
}

void nodes_lose(struct job *job, int status, const char *how, const char *advice)
{
    nodes_tell(job, false, status, how, advice);
}

bool nodes_wait(struct job *job)
{
    struct nodes *nodes = &job->nodes;
    if (!nodes->started)
        return false;
    pthread_mutex_lock(&nodes->lock);
    if (!nodes->ended)
        pthread_cond_signal(&nodes->changed);
    nodes->ended = true;
    bool wait =
        (job->options->node_rank == 0 && !nodes->all_ended) || (nodes->failed && !nodes->published);
    wait = (wait && !nodes->done) || (nodes->also[0] != '\0' && !nodes->also_said);
    pthread_mutex_unlock(&nodes->lock);
    return wait;
}

static void nodes_say_also(struct job *job)
{
    struct nodes *nodes = &job->nodes;
    pthread_mutex_lock(&nodes->lock);
    bool say = nodes->also[0] != '\0' && !nodes->also_said;
    nodes->also_said = nodes->also_said || say;
    job->lost_elsewhere = say ? nodes->also_status : job->lost_elsewhere;
    pthread_mutex_unlock(&nodes->lock);
    if (say && job->options->verbosity >= 0)
        job_say(job, "%s", nodes->also);
}

void nodes_take(struct job *job)
{
    struct nodes *nodes = &job->nodes;
    uint64_t times;
    ssize_t got = read(nodes->wake, &times, sizeof(times));
    pthread_mutex_lock(&nodes->lock);
    bool stop = got > 0 && nodes->stopped && !job->stopping && job->stopped_by == 0;
    pthread_mutex_unlock(&nodes->lock);
    nodes_say_also(job);
    if (!stop)
        return;
    job->stopped_by = nodes->stop_status;
    if (job->options->verbosity >= 0 && job->living > 0)
        job_say(job, "%s; stopping %d rank%s here", nodes->stop, job->living,
                job->living == 1 ? "" : "s");
    else if (job->options->verbosity >= 0)
        job_say(job, "%s", nodes->stop);
    job_stop(job, SIGTERM);
}

void nodes_leave(struct job *job)
{
    struct nodes *nodes = &job->nodes;
    struct timespec end;
    if (!nodes->started)
        return;
    pthread_mutex_lock(&nodes->lock);
    nodes->leave = true;
    pthread_cond_signal(&nodes->changed);
    pthread_mutex_unlock(&nodes->lock);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += FAREWELL_S;
    /* A thread that still waits for an answer ends with the process. */
    nodes->started = pthread_timedjoin_np(nodes->thread, NULL, &end) != 0;
}
