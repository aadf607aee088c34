/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Only signals that can't be blocked get through to the guard, and its group is its own, so that
 * what ends the launcher's group leaves it. */
static void guard_prepare(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    prctl(PR_SET_NAME, "muster-run-guard");
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int standard = 0; standard < 3 && nothing >= 0; standard++)
        dup2(nothing, standard);
    close(nothing);
}

struct groups {
    pid_t *pids;
    size_t count;
};

/* A negative pid is one to forget. */
static void guard_note(struct groups *groups, pid_t pid)
{
    for (size_t i = 0; i < groups->count && pid < 0; i++)
        if (groups->pids[i] == -pid)
            groups->pids[i--] = groups->pids[--groups->count];
    if (pid < 0)
        return;
    pid_t *more = realloc(groups->pids, (groups->count + 1) * sizeof(*more));
    if (more == NULL)
        return;
    groups->pids = more;
    groups->pids[groups->count++] = pid;
}

/* The pipe ends when the launcher does; group 0 before that means that all is well. */
static void guard_run(int from)
{
    struct groups groups = {NULL, 0};
    pid_t pid;
    ssize_t size;
    while ((size = read(from, &pid, sizeof(pid))) != 0) {
        if (size == (ssize_t)sizeof(pid) && pid == 0)
            _exit(0);
        if (size == (ssize_t)sizeof(pid))
            guard_note(&groups, pid);
    }
    for (size_t i = 0; i < groups.count; i++)
        kill(-groups.pids[i], SIGKILL);
    _exit(0);
}

bool guard_start(struct guard *guard)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    guard->pid = fork();
    if (guard->pid == 0) {
        close(ends[1]);
        guard_prepare();
        guard_run(ends[0]);
    }
    close(ends[0]);
    guard->pipe = ends[1];
    return guard->pid > 0;
}

void guard_add(struct guard *guard, pid_t group)
{
    while (write(guard->pipe, &group, sizeof(group)) < 0 && errno == EINTR)
        continue;
}

void guard_remove(struct guard *guard, pid_t group)
{
    guard_add(guard, -group);
}

void guard_stop(struct guard *guard)
{
    if (guard->pid <= 0)
        return;
    guard_add(guard, 0);
    close(guard->pipe);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    guard->pid = 0;
}
