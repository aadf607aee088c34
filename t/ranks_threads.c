/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that are threads of one process.
 */
#include "config.h"

#include "ranks_report.h"
#include "ranks_self.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct crew;

struct member {
    struct crew *crew;
    struct self self;
    struct report report;
    pthread_t thread;
};

struct crew {
    void (*body)(int rank, int size);
    struct meeting meeting;
    struct member members[RANKS_MOST];
};

static void *threads_run(void *argument)
{
    struct member *member = argument;
    self_set(&member->self);
    tap_set_thread_sink(report_add, &member->report);
    member->crew->body(member->self.rank, member->self.size);
    return NULL;
}

/* A thread that hangs can't be ended, so the process is, by the signal that leaves a core. */
static void threads_join(struct member *member, const char *name, const struct timespec *end)
{
    if (pthread_timedjoin_np(member->thread, NULL, end) == 0)
        return;
    char words[1024];
    snprintf(words, sizeof(words), "%s: thread of rank %d timed out", name, member->self.rank);
    tap_make(TAP_FAILED, words, "");
    abort();
}

void ranks_threads(const char *name, int size, int points, void (*body)(int rank, int size))
{
    struct crew *crew = calloc(1, sizeof(*crew));
    if (crew == NULL || size < 1 || size > RANKS_MOST)
        bail_out("%s: %d threads can't be had", name, size);
    crew->body = body;
    for (int rank = 0; rank < size; rank++) {
        struct member *member = &crew->members[rank];
        member->crew = crew;
        member->self = (struct self){rank, size, &crew->meeting};
        member->report.counts = true;
        if (pthread_create(&member->thread, NULL, threads_run, member) != 0)
            bail_out("%s: a thread can't be started", name);
    }
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(60 * ranks_time_factor());
    struct report reports[RANKS_MOST];
    for (int rank = 0; rank < size; rank++) {
        threads_join(&crew->members[rank], name, &end);
        reports[rank] = crew->members[rank].report;
    }
    report_merge(name, points, reports, size);
    for (int rank = 0; rank < size; rank++)
        report_free(&reports[rank]);
    free(crew);
}
