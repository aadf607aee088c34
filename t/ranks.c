/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parent of a test with several ranks: the plan, the cases one after the other, the verdicts.
 */
#include "config.h"

#include "ranks.h"
#include "ranks_crew.h"
#include "ranks_port.h"
#include "ranks_self.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int ranks_remove(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static void ranks_folder(struct ranks_crew *crew)
{
    const char *where = getenv("TMPDIR");
    snprintf(crew->folder, sizeof(crew->folder), "%s/muster-test-XXXXXX",
             where == NULL || *where == '\0' ? "/tmp" : where);
    if (mkdtemp(crew->folder) == NULL)
        bail_out("%s: %s", crew->folder, strerror(errno));
    ssize_t length = readlink("/proc/self/exe", crew->program, sizeof(crew->program) - 1);
    if (length <= 0)
        bail_out("/proc/self/exe: %s", strerror(errno));
    crew->program[length] = '\0';
}

static void ranks_describe(int status, char *words, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(words, size, "was killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(words, size, "exited with status %d", WEXITSTATUS(status));
}

static bool ranks_died_as(const struct ranks_death *death, int status)
{
    return death->signal != 0 ? WIFSIGNALED(status) && WTERMSIG(status) == death->signal
                              : WIFEXITED(status) && WEXITSTATUS(status) == death->status;
}

static void ranks_judge(struct ranks_crew *crew, int rank)
{
    struct rank_process *process = &crew->ranks[rank];
    struct report *report = &process->report;
    const struct ranks_death *death = crew_death(crew->test, rank);
    char how[64] = "did not end";
    if (process->ended)
        ranks_describe(process->status, how, sizeof(how));
    report->counts = death == NULL;
    if (report->ending[0] != '\0')
        return;
    if (death != NULL && !ranks_died_as(death, process->status))
        snprintf(report->ending, sizeof(report->ending), "%s, which is not the end foreseen", how);
    else if (death == NULL && process->status != 0)
        snprintf(report->ending, sizeof(report->ending), "%s", how);
    else if (death == NULL && !report->finished && report->skipped == NULL)
        snprintf(report->ending, sizeof(report->ending), "ended before its body had returned");
    else if (crew->test->silent && process->num_said > 0)
        snprintf(report->ending, sizeof(report->ending), "printed, and was to be silent");
}

static void ranks_replay(const struct rank_process *process, int rank)
{
    for (const char *at = process->said; at != NULL && *at != '\0';) {
        int length = (int)strcspn(at, "\n");
        diag("[%d] %.*s", rank, length, at);
        at += length + (at[length] == '\n');
    }
}

/* Skipped by one rank, the others were ended on purpose. */
static void ranks_excuse(struct ranks_crew *crew)
{
    bool skipped = false;
    for (int rank = 0; rank < crew->test->size; rank++)
        skipped |= crew->ranks[rank].report.skipped != NULL;
    for (int rank = 0; rank < crew->test->size && skipped; rank++)
        if (strcmp(crew->ranks[rank].report.ending, "was ended with the case") == 0)
            crew->ranks[rank].report.ending[0] = '\0';
}

static void ranks_conclude(struct ranks_crew *crew)
{
    struct report reports[RANKS_MOST];
    int size = crew->test->size;
    if (crew->timed_out)
        diag("%s: not ok - timed out", crew->test->name);
    for (int rank = 0; rank < size; rank++)
        ranks_judge(crew, rank);
    ranks_excuse(crew);
    for (int rank = 0; rank < size; rank++) {
        ranks_replay(&crew->ranks[rank], rank);
        reports[rank] = crew->ranks[rank].report;
    }
    report_merge(crew->test->name, crew->test->points, reports, size);
    for (int rank = 0; rank < size; rank++) {
        report_free(&crew->ranks[rank].report);
        free(crew->ranks[rank].said);
        close(crew->ranks[rank].points);
        close(crew->ranks[rank].output);
    }
}

static void ranks_run(const struct ranks_case *test, size_t number, int signals)
{
    struct ranks_crew *crew = calloc(1, sizeof(*crew));
    if (crew == NULL || test->size < 1 || test->size > RANKS_MOST)
        bail_out("%s: %d ranks can't be had", test->name, test->size);
    crew->test = test;
    crew->number = number;
    crew->signals = signals;
    ranks_folder(crew);
    crew->port_hosted = test->host_store;
    struct port port = test->host_store ? port_host_store() : port_reserve();
    crew->port = port.number;
    crew_spawn(crew);
    crew_watch(crew);
    nftw(crew->folder, ranks_remove, 16, FTW_DEPTH | FTW_PHYS);
    ranks_conclude(crew);
    port_free(&port);
    free(crew);
}

static bool ranks_wanted(const struct ranks_case *test, int argc, char **argv)
{
    bool wanted = argc <= 1;
    for (int i = 1; i < argc; i++)
        wanted |= strcmp(argv[i], test->name) == 0;
    return wanted;
}

int ranks_main(int argc, char **argv, const struct ranks_case *cases, size_t count)
{
    if (self_is_rank())
        return self_main(cases, count);
    int points = 0;
    for (size_t i = 0; i < count; i++)
        if (ranks_wanted(&cases[i], argc, argv))
            points += cases[i].points + 1;
    plan(points);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        bail_out("can't watch children: %s", strerror(errno));
    for (size_t i = 0; i < count; i++)
        if (ranks_wanted(&cases[i], argc, argv))
            ranks_run(&cases[i], i, signals);
    close(signals);
    return done();
}
