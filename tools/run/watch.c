/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher while its ranks run: one loop for signals, output, input and the clock.
 */
#include "config.h"

#include "job.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is polled beside the ranks' pipes; and how long after the ranks here have been killed other
 * nodes may still end theirs. */
enum { OWN_ENTRIES = 5, NODES_GRACE_S = 2 };

void job_say(struct job *job, const char *format, ...)
{
    char words[2048];
    struct output_bytes line = {NULL, 0, 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    output_take(&job->streams[1], &line, "", "muster-run: ", strlen("muster-run: "));
    output_take(&job->streams[1], &line, "", words, strlen(words));
    output_take(&job->streams[1], &line, "", "\n", 1);
    output_free(&line);
}

/* A stream that nobody reads is closed for the ranks too: they see what we saw. */
static void watch_close(struct job *job, struct rank *rank, int which)
{
    output_finish(&job->streams[which], &rank->lines[which], rank->tag);
    close(rank->pipes[which]);
    rank->pipes[which] = -1;
}

/* At most one buffer full at a time, so that every rank has its turn. */
static void watch_take(struct job *job, struct rank *rank, int which)
{
    char bytes[65536];
    ssize_t size = read(rank->pipes[which], bytes, sizeof(bytes));
    if (size > 0)
        output_take(&job->streams[which], &rank->lines[which], rank->tag, bytes, (size_t)size);
    if (job->streams[which].broken || size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        watch_close(job, rank, which);
}

/* What ranks have printed must not be lost without a word; who stops reading knows it. */
static void watch_write(struct job *job, int which)
{
    struct output_stream *stream = &job->streams[which];
    output_write(stream);
    if (!stream->broken || stream->error == EPIPE)
        return;
    job->unwritten = true;
    job_say(job, "the standard %s can't be written: %s", which == 0 ? "output" : "error",
            strerror(stream->error));
}

/* Milliseconds to the next thing that the clock asks for. */
static int watch_patience(const struct job *job)
{
    double now = job_clock(), next = now + 60;
    if (job->stopping && !job->killed && job->kill_at < next)
        next = job->kill_at;
    if (job->time_out_at > 0 && job->time_out_at < next && !job->stopping)
        next = job->time_out_at;
    if (job->nodes.started && job->stopping && job->kill_at + NODES_GRACE_S < next)
        next = job->kill_at + NODES_GRACE_S;
    return next <= now ? 0 : (int)((next - now) * 1000) + 1;
}

static void watch_clock(struct job *job)
{
    double now = job_clock();
    if (job->time_out_at > 0 && now >= job->time_out_at && !job->stopping) {
        char how[64];
        job->timed_out = true;
        snprintf(how, sizeof(how), "the job timed out after %g s", job->options->timeout);
        nodes_fail(job, EXIT_TIMEOUT, how, "");
        if (job->options->verbosity >= 0)
            job_say(job, "timed out after %g s; stopping %d ranks", job->options->timeout,
                    job->living);
        job_stop(job, SIGTERM);
    }
    if (job->stopping && !job->killed && now >= job->kill_at) {
        job_signal(job, SIGKILL);
        job->killed = true;
    }
}

/* Fills all with what to wait for, in the order in which watch_serve looks at it. */
static nfds_t watch_list(struct job *job, struct pollfd *all)
{
    nfds_t count = 0;
    all[count++] = (struct pollfd){job->signals, POLLIN, 0};
    short events;
    int input = input_awaits(&job->input, &events);
    all[count++] = (struct pollfd){input, events, 0};
    all[count++] = (struct pollfd){job->nodes.wake, POLLIN, 0};
    for (int which = 0; which < 2; which++)
        all[count++] = (struct pollfd){
            output_waits(&job->streams[which]) ? job->streams[which].descriptor : -1, POLLOUT, 0};
    for (int i = 0; i < job->count; i++)
        for (int which = 0; which < 2; which++)
            all[count++] = (struct pollfd){
                output_full(&job->streams[which]) ? -1 : job->ranks[i].pipes[which], POLLIN, 0};
    return count;
}

static void watch_serve(struct job *job, const struct pollfd *all)
{
    if (all[0].revents != 0)
        job_take_signals(job);
    if (all[1].revents != 0)
        input_pass(&job->input);
    if (all[2].revents != 0)
        nodes_take(job);
    for (int which = 0; which < 2; which++)
        if (all[3 + which].revents != 0)
            watch_write(job, which);
    for (int i = 0; i < 2 * job->count; i++)
        if (all[OWN_ENTRIES + i].revents != 0)
            watch_take(job, &job->ranks[i / 2], i % 2);
}

static bool watch_output_left(const struct job *job)
{
    bool left = output_waits(&job->streams[0]) || output_waits(&job->streams[1]);
    for (int i = 0; i < job->count; i++)
        left = left || job->ranks[i].pipes[0] >= 0 || job->ranks[i].pipes[1] >= 0;
    return left;
}

/* The others are waited for, but not for long once the job is being stopped. */
static bool watch_nodes_left(struct job *job)
{
    bool left = nodes_wait(job);
    return left && !(job->stopping && job_clock() >= job->kill_at + NODES_GRACE_S);
}

void job_watch(struct job *job)
{
    struct pollfd *all = calloc((size_t)(OWN_ENTRIES + 2 * job->count), sizeof(*all));
    bool swept = false;
    while (all != NULL && (job->living > 0 || watch_output_left(job) || watch_nodes_left(job))) {
        nfds_t count = watch_list(job, all);
        if (poll(all, count, watch_patience(job)) > 0)
            watch_serve(job, all);
        watch_clock(job);
        job_reap(job);
        if (job->living == 0 && !swept) {
            job_sweep(job);
            swept = true;
        }
        /* Whoever asks twice does not want to wait for a reader that does not read. */
        if (job->living == 0 && job->interrupted != 0 && job->killed)
            break;
    }
    free(all);
}
