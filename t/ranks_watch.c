/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parent while its ranks run: it takes what comes down their pipes, so that no rank ever blocks
 * for good, notices how they end, and ends those that do not.
 */
#include "config.h"

#include "ranks_crew.h"
#include "base/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* More output of one rank than this is cut. */
enum { MOST_SAID = 4 << 20 };

/* Milliseconds: for others to notice a rank's unexpected end; for a core after SIGABRT. */
enum { GRACE_OTHERS = 5000, GRACE_ABORT = 3000, GRACE_KILL = 10000 };

const struct ranks_death *crew_death(const struct ranks_case *test, int rank)
{
    for (int i = 0; i < RANKS_DEATHS; i++)
        if (test->deaths[i].rank == rank && (test->deaths[i].signal || test->deaths[i].status))
            return &test->deaths[i];
    return NULL;
}

static void watch_keep(struct rank_process *process, const char *bytes, size_t size)
{
    if (process->num_said + size > MOST_SAID)
        return;
    char *longer = realloc(process->said, process->num_said + size + 1);
    if (longer == NULL)
        return;
    memcpy(longer + process->num_said, bytes, size);
    process->said = longer;
    process->num_said += size;
    longer[process->num_said] = '\0';
}

/* Reads what is there; closes at the end. */
static void watch_drain(struct rank_process *process, int *descriptor)
{
    char bytes[65536];
    ssize_t size = 1;
    while (*descriptor >= 0 && size > 0) {
        size = read(*descriptor, bytes, sizeof(bytes));
        if (size > 0 && descriptor == &process->output)
            watch_keep(process, bytes, (size_t)size);
        else if (size > 0 && !report_decode(&process->report, bytes, (size_t)size))
            size = 0;
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
            close(*descriptor);
            *descriptor = -1;
        }
    }
}

/* Whether this way to end was not foreseen, and the others may wait for a rank in vain. */
static bool watch_unexpected(const struct ranks_crew *crew, int rank)
{
    const struct rank_process *process = &crew->ranks[rank];
    return process->report.skipped != NULL ||
           (crew_death(crew->test, rank) == NULL && process->status != 0);
}

/* Notes which ranks have ended; returns how many have not. */
static int watch_reap(struct ranks_crew *crew, bool *alarm)
{
    int left = 0;
    for (int rank = 0; rank < crew->test->size; rank++) {
        struct rank_process *process = &crew->ranks[rank];
        if (!process->ended && waitpid(process->pid, &process->status, WNOHANG) == process->pid) {
            process->ended = true;
            watch_drain(process, &process->points);
            watch_drain(process, &process->output);
            kill(-process->pid, SIGKILL);
            *alarm |= watch_unexpected(crew, rank);
        }
        left += !process->ended;
    }
    return left;
}

/* How long a case may go on after one rank has ended in a way that was not foreseen. */
static int64_t watch_grace(const struct ranks_crew *crew)
{
    for (int rank = 0; rank < crew->test->size; rank++)
        if (crew->ranks[rank].report.skipped != NULL)
            return 0;
    return (int64_t)(GRACE_OTHERS * ranks_time_factor());
}

static void watch_poll(struct ranks_crew *crew, deadline end)
{
    struct pollfd all[2 * RANKS_MOST + 1] = {{crew->signals, POLLIN, 0}};
    int count = crew->test->size;
    for (int rank = 0; rank < count; rank++) {
        all[1 + 2 * rank] = (struct pollfd){crew->ranks[rank].points, POLLIN, 0};
        all[2 + 2 * rank] = (struct pollfd){crew->ranks[rank].output, POLLIN, 0};
    }
    if (poll(all, (nfds_t)(1 + 2 * count), deadline_poll_ms(end)) <= 0)
        return;
    char infos[4096];
    while (all[0].revents && read(crew->signals, infos, sizeof(infos)) > 0)
        continue;
    for (int rank = 0; rank < count; rank++) {
        watch_drain(&crew->ranks[rank], &crew->ranks[rank].points);
        watch_drain(&crew->ranks[rank], &crew->ranks[rank].output);
    }
}

static void watch_signal(struct ranks_crew *crew, int signal)
{
    for (int rank = 0; rank < crew->test->size; rank++) {
        struct rank_process *process = &crew->ranks[rank];
        if (process->ended)
            continue;
        kill(process->pid, SIGCONT);
        kill(-process->pid, signal);
        if (process->report.ending[0] == '\0')
            snprintf(process->report.ending, sizeof(process->report.ending), "%s",
                     crew->timed_out ? "timed out and was ended" : "was ended with the case");
    }
}

/* What ranks started and left behind, which the kernel gives to us as subreaper. */
static void watch_sweep(void)
{
    for (int round = 0; round < 100; round++) {
        char path[64], *line = NULL;
        snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
        FILE *children = fopen(path, "re");
        size_t size = 0;
        if (children != NULL && getline(&line, &size, children) > 0)
            for (char *at = line, *next; strtol(at, &next, 10) > 0; at = next)
                kill((pid_t)strtol(at, NULL, 10), SIGKILL);
        free(line);
        if (children != NULL)
            fclose(children);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (waitpid(-1, NULL, WNOHANG) < 0)
            return;
        poll(NULL, 0, 10);
    }
}

void crew_watch(struct ranks_crew *crew)
{
    int seconds = crew->test->seconds > 0 ? crew->test->seconds : 60;
    deadline end = deadline_in((int64_t)(seconds * 1000 * ranks_time_factor()));
    bool alarm = false, alarmed = false;
    int stage = 0;
    while (watch_reap(crew, &alarm) > 0 && stage < 3) {
        if (alarm && !alarmed) {
            deadline sooner = deadline_in(watch_grace(crew));
            end = sooner.at_ns < end.at_ns ? sooner : end;
            alarmed = true;
        }
        watch_poll(crew, end);
        if (deadline_left_ms(end) > 0)
            continue;
        crew->timed_out |= !alarmed;
        alarmed = true;
        watch_signal(crew, stage == 0 ? SIGABRT : SIGKILL);
        end = deadline_in(stage++ == 0 ? GRACE_ABORT : GRACE_KILL);
    }
    watch_sweep();
}
