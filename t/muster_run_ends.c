/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How jobs under muster-run end: failures, signals, and that nothing stays behind.
 */
#include "config.h"

#include "muster_run.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static struct command run;

static int lines(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static void statuses(void)
{
    command_run(&run, NULL, RUN("-n", "4", SHELL("test $RANK = 1 && exit 7; sleep 60; exit 9")));
    is_int(run.status, 7, "the status is that of the rank that failed first");
    has_str(run.err, "muster-run: rank 1 (pid ", "which is named");
    has_str(run.err, ") exited with status 7; stopping 3 others\n", "with what happens");
    is_int(lines(run.err), 1, "in one line");
    ok(run.seconds < (double)patient(30), "the others don't go on");
    command_run(&run, NULL, RUN("-n", "2", SHELL("test $RANK = 1 && kill -SEGV $$; sleep 60")));
    is_int(run.status, 128 + SIGSEGV, "a signal is 128 and its number");
    has_str(run.err, "was killed by signal 11 (SIGSEGV); stopping 1 other\n", "and named");
    command_run(&run, NULL,
                RUN("-n", "3",
                    SHELL("test $RANK = 2 && exit 3; trap 'exit 5' TERM; sleep 60 & "
                          "wait")));
    is_int(run.status, 3, "what the others make of being stopped does not count");
    command_run(&run, NULL, RUN("-q", "-n", "2", "false"));
    ok(run.status == 1 && run.err[0] == '\0', "-q says nothing");
    command_run(&run, NULL, RUN("-v", "-n", "2", "true"));
    is_int(run.status, 0, "success is 0");
    has_str(run.err, "rank 1 (pid ", "-v says how each rank ended");
    has_str(run.err, "2 of 2 ranks run here, store at 127.0.0.1 port ", "and where they meet");
    command_run(&run, NULL, RUN("-v", "-n", "2", SHELL("test $RANK = 1 && exit 3; sleep 60")));
    has_str(run.err, ") exited with status 3; stopping 1 other\n", "the first to fail");
    const char *first = strstr(run.err, "exited with status 3");
    ok(first != NULL && strstr(first + 1, "exited with status 3") == NULL, "is said once");
    has_str(run.err, "was killed by signal 15 (SIGTERM)\n", "and the others after it");
}

static void not_started(void)
{
    command_run(&run, NULL, RUN("-n", "3", "./not-there"));
    is_int(run.status, 127, "a program that is not there");
    is_str(run.err,
           "muster-run: ./not-there can't be started as rank 0: No such file or directory\n",
           "is said once");
    static const char *const beside[] = {
        "sh", "-c", "cd \"${0%/*}\" && exec ./muster-run muster-info", MUSTER_RUN, NULL};
    command_run(&run, NULL, beside);
    has_str(run.err, "put ./ before it", "one that is not in PATH but here has advice with it");
    command_run(&run, NULL, RUN("muster-no-such-program"));
    has_str(run.err, ": No such file or directory in the folders of PATH\n",
            "one without a folder is looked for in PATH");
    command_run(&run, NULL, RUN("-n", "3", "/etc/passwd"));
    is_int(run.status, 126, "a program that can't be executed");
    is_int(lines(run.err), 1, "is said once");
    command_run(&run, NULL, RUN("--master-addr", "203.0.113.1", "true"));
    is_int(run.status, 1, "a store that can't be hosted");
    has_str(run.err, "muster-run: no store for the ranks to meet: ", "is said");
}

static void in_time(void)
{
    command_run(&run, NULL, RUN("--timeout", "0.2", "-n", "2", "sleep", "60"));
    is_int(run.status, 124, "a job that takes too long");
    is_str(run.err, "muster-run: timed out after 0.2 s; stopping 2 ranks\n", "is stopped");
    command_run(&run, NULL, RUN("--timeout", "50", "true"));
    is_int(run.status, 0, "a job in time is not");
    command_run(&run, NULL,
                RUN("--kill-after", "0.3", "-n", "2",
                    SHELL("test $RANK = 1 && sleep 0.3 && exit 4; trap '' TERM; sleep 60; "
                          "sleep 60")));
    is_int(run.status, 4, "ranks that don't stop when asked");
    ok(run.seconds > 0.3 && run.seconds < (double)patient(20), "are killed in time (%.2f s)",
       run.seconds);
}

static void going_on(void)
{
    command_run(&run, NULL,
                RUN("--keep-going", "-n", "4",
                    SHELL("test $RANK = 1 && kill -KILL $$; test $RANK = 2 && sleep 0.7 && exit 3;"
                          "sleep 2; echo rank $RANK at its end")));
    is_int(run.status, 128 + SIGKILL, "--keep-going: the status is that of the first to fail");
    ok(strstr(run.out, "rank 0 at its end\n") != NULL &&
           strstr(run.out, "rank 3 at its end\n") != NULL,
       "the others go on to their end");
    has_str(run.err, ") was killed by signal 9 (SIGKILL); going on with 3 others\n",
            "with a line for each that fails");
    has_str(run.err, ") exited with status 3; going on with 2 others\n", "and who is left");
    is_int(lines(run.err), 2, "and no more");
    command_run(&run, NULL, RUN("--keep-going", "-n", "2", SHELL("exit $((5 * RANK))")));
    is_int(run.status, 5, "the last may be the one that fails");
    ok(strstr(run.err, ") exited with status 5\n") != NULL || strstr(run.err, "1 other\n") != NULL,
       "which is said");
    command_run(&run, NULL, RUN("--keep-going", "-v", "-n", "3", SHELL("exit $RANK")));
    is_int(lines(run.err), 4 + 3, "-v says how each ended, once");
    command_run(&run, NULL, RUN("--keep_going", "-q", "-n", "2", SHELL("exit $RANK")));
    ok(run.status == 1 && run.err[0] == '\0', "-q says nothing");
    command_run(&run, NULL, RUN("--keep-going", "-n", "3", "true"));
    ok(run.status == 0 && run.err[0] == '\0', "where none fails all is as without it");
    command_run(&run, NULL,
                RUN("--keep-going", "--timeout", "0.5", "-n", "3",
                    SHELL("test $RANK = 1 && exit 3; sleep 60")));
    is_int(run.status, 124, "the job's time ends those that go on");
    has_str(run.err, "timed out after 0.5 s; stopping 2 ranks\n", "and is said");
    command_run(&run, NULL, RUN("--keep-going", "-n", "3", "./not-there"));
    is_int(run.status, 127, "a job that can't be started does not go on");
    command_run(&run, NULL,
                RUN("--keep-going", "-n", "2",
                    SHELL("test $RANK = 1 || exec sleep 0.5; "
                          "sh -c 'trap \"echo asked; exit\" TERM; echo up >&2; sleep 60 & wait' & "
                          "sleep 0.2; kill -KILL $$")));
    has_str(run.out, "asked\n", "what a rank has started ends with it");
    ok(run.seconds < 20, "and is not waited for (%.2f s)", run.seconds);
}

static void going_on_signalled(void)
{
    command_free(&run);
    command_start(&run, NULL,
                  (const char *const[]){
                      "sh", "-c", "exec " MUSTER_RUN " --keep-going -n 2 sh -c \"$1\" 2>&1", "sh",
                      "test $RANK = 1 && exit 3; trap 'echo got TERM; exit 0' TERM; echo ready; "
                      "while :; do sleep 0.05; done",
                      NULL});
    ok(command_has_said(&run, "; going on with 1 other\n") && command_has_said(&run, "ready"),
       "a rank goes on");
    kill(run.pid, SIGTERM);
    command_finish(&run);
    is_int(run.status, -SIGTERM, "a signal ends it");
    has_str(run.out, "got TERM\n", "and comes to it before");
}

void run_failures(void)
{
    statuses();
    going_on();
    going_on_signalled();
    not_started();
    in_time();
    is_int(command_left(), 0, "nothing is left running");
    command_free(&run);
}

/* Starts two ranks that say what signal they get, and waits until they are ready. */
static void start_trapping(const char *kill_after, const char *script)
{
    command_free(&run);
    command_start(&run, NULL, RUN("--kill-after", kill_after, "-l", "-n", "2", "sh", "-c", script));
    ok(command_has_said(&run, "[0] ready") && command_has_said(&run, "[1] ready"),
       "two ranks have begun");
}

/* User case 55, the launcher's part. */
static void ended_by(int signal, const char *name)
{
    char script[512];
    snprintf(script, sizeof(script),
             "trap 'echo got %s; exit 0' %s; echo ready; while :; do sleep 0.05; done", name, name);
    start_trapping("10", script);
    kill(run.pid, signal);
    command_finish(&run);
    is_int(run.status, -signal, "SIG%s ends muster-run by itself", name);
    ok(strstr(run.out, "[0] got ") != NULL && strstr(run.out, "[1] got ") != NULL,
       "after SIG%s has come to every rank", name);
}

static void passed_on(void)
{
    start_trapping("5", "trap 'echo one' USR1; trap 'echo two; exit 0' USR2; echo ready;"
                        "while :; do sleep 0.05; done");
    kill(run.pid, SIGUSR1);
    ok(command_has_said(&run, "[0] one") && command_has_said(&run, "[1] one"),
       "SIGUSR1 comes to every rank");
    kill(run.pid, SIGUSR2);
    command_finish(&run);
    is_int(run.status, 0, "it and SIGUSR2 end nothing by themselves");
}

static void insisting(void)
{
    start_trapping("30", "trap '' INT; echo ready; while :; do sleep 0.05; done");
    kill(run.pid, SIGINT);
    poll(NULL, 0, 200);
    kill(run.pid, SIGINT);
    command_finish(&run);
    is_int(run.status, -SIGINT, "the second SIGINT in a second");
    ok(run.seconds < (double)patient(20), "kills at once (%.2f s)", run.seconds);
    start_trapping("0.3", "trap '' TERM; echo ready; while :; do sleep 0.05; done");
    kill(run.pid, SIGTERM);
    command_finish(&run);
    is_int(run.status, -SIGTERM, "ranks that ignore SIGTERM are killed after a while");
    ok(run.seconds < (double)patient(20), "not for ever (%.2f s)", run.seconds);
}

static char state_of(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file != NULL)
        fclose(file);
    return state;
}

/* A shell whose vforked child was stopped before its exec waits for that, and is not to be seen as
 * stopped itself. */
static bool is_stopped(pid_t pid)
{
    char state = state_of(pid);
    return state == 'T' || state == 'D';
}

static bool becomes_stopped(pid_t pid, bool stopped)
{
    for (int i = 0; i < patient(500) && is_stopped(pid) != stopped; i++)
        poll(NULL, 0, 10);
    bool right = is_stopped(pid) == stopped;
    if (!right)
        diag("process %ld is in state '%c'", (long)pid, state_of(pid));
    return right;
}

static void suspended(void)
{
    command_free(&run);
    command_start(&run, NULL,
                  RUN(SHELL("echo pid $$; while test ! -e /proc/0; do sleep 0.05; done")));
    ok(command_has_said(&run, "\n"), "a rank has begun");
    char path[600];
    long pid = 0;
    snprintf(path, sizeof(path), "%s/out", run.folder);
    FILE *out = fopen(path, "re");
    ok(out != NULL && fscanf(out, "pid %ld", &pid) == 1, "and said who it is");
    if (out != NULL)
        fclose(out);
    kill(run.pid, SIGTSTP);
    ok(becomes_stopped((pid_t)pid, true) && becomes_stopped(run.pid, true),
       "SIGTSTP stops the rank and muster-run");
    kill(run.pid, SIGCONT);
    ok(becomes_stopped((pid_t)pid, false) && becomes_stopped(run.pid, false),
       "SIGCONT lets both go on");
    kill(run.pid, SIGTERM);
    command_finish(&run);
    is_int(run.status, -SIGTERM, "to their end");
}

void run_signals(void)
{
    ended_by(SIGINT, "INT");
    ended_by(SIGTERM, "TERM");
    ended_by(SIGHUP, "HUP");
    ended_by(SIGQUIT, "QUIT");
    passed_on();
    insisting();
    suspended();
    is_int(command_left(), 0, "nothing is left running");
    command_free(&run);
}

void run_leftovers(void)
{
    command_run(&run, NULL, RUN("-n", "2", SHELL("sleep 60 & setsid sleep 60 & exit 0")));
    is_int(run.status, 0, "ranks that leave processes behind");
    ok(run.seconds < (double)patient(20), "are not waited for");
    is_int(command_left(), 0, "and what they left is gone");
    command_run(&run, NULL,
                RUN("-n", "2",
                    SHELL("setsid sleep 60 & sleep 60 & test $RANK = 0 && exit 6; "
                          "sleep 60")));
    is_int(run.status, 6, "ranks that fail and leave processes behind");
    is_int(command_left(), 0, "leave none");
    command_run(&run, NULL,
                RUN("--kill-after", "0.3",
                    SHELL("sh -c 'trap \"\" TERM; echo up; sleep 60; sleep 60' & read line; "
                          "sleep 0.3")));
    ok(run.status == 0 && command_left() == 0, "not even one that ignores SIGTERM");
    start_trapping("5", "sleep 60 & echo ready; sleep 60");
    kill(run.pid, SIGKILL);
    command_finish(&run);
    is_int(run.status, -SIGKILL, "muster-run can be killed");
    is_int(command_left(), 0, "and its ranks and what they started go with it");
    command_free(&run);
}
