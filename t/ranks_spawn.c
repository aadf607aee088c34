/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting the ranks of a case: the program executes itself again.
 */
#include "config.h"

#include "ranks_crew.h"
#include "tools/run/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Where the points' pipe is in a rank. */
enum { RANK_PIPE = 9 };

static environment spawn_environment(const struct ranks_crew *crew, int rank)
{
    environment list = environment_copy(environ);
    int size = crew->test->size;
    environment_set(&list, "MUSTER_TEST_RANK", "%d", rank);
    environment_set(&list, "MUSTER_TEST_SIZE", "%d", size);
    environment_set(&list, "MUSTER_TEST_CASE", "%zu", crew->number);
    environment_set(&list, "MUSTER_TEST_PIPE", "%d", RANK_PIPE);
    environment_set(&list, "MUSTER_TEST_DIR", "%s", crew->folder);
    environment_set(&list, "RANK", "%d", rank);
    environment_set(&list, "WORLD_SIZE", "%d", size);
    environment_set(&list, "LOCAL_RANK", "%d", rank);
    environment_set(&list, "LOCAL_WORLD_SIZE", "%d", size);
    environment_set(&list, "MASTER_ADDR", "127.0.0.1");
    environment_set(&list, "MASTER_PORT", "%d", crew->port);
    if (crew->port_hosted)
        environment_set(&list, "TORCHELASTIC_USE_AGENT_STORE", "True");
    const char *const *own = crew->test->environment;
    for (; own != NULL && *own != NULL; own++)
        environment_put(&list, *own);
    if (list.failed)
        bail_out("no memory for the environment of rank %d", rank);
    return list;
}

/* After fork: only what is safe when the parent has threads. */
static void spawn_become(const struct ranks_crew *crew, pid_t parent, int points, int output,
                         char **entries)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(97);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ||
        dup2(points, RANK_PIPE) < 0)
        _exit(97);
    char *arguments[] = {(char *)crew->program, NULL};
    execve(crew->program, arguments, entries);
    _exit(97);
}

/* Both ends above the numbers that a rank's own get. */
static void spawn_pipe(int ends[2])
{
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0)
        bail_out("no pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, RANK_PIPE + 1);
        if (ends[i] < 0)
            bail_out("no pipe: %s", strerror(errno));
        close(made[i]);
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static void spawn_rank(struct ranks_crew *crew, int rank)
{
    struct rank_process *process = &crew->ranks[rank];
    int points[2], output[2];
    spawn_pipe(points);
    spawn_pipe(output);
    environment list = spawn_environment(crew, rank);
    pid_t parent = getpid();
    process->pid = fork();
    if (process->pid == 0)
        spawn_become(crew, parent, points[1], output[1], list.entries);
    if (process->pid < 0)
        bail_out("fork: %s", strerror(errno));
    setpgid(process->pid, process->pid);
    environment_free(&list);
    close(points[1]);
    close(output[1]);
    process->points = points[0];
    process->output = output[0];
}

void crew_spawn(struct ranks_crew *crew)
{
    for (int rank = 0; rank < crew->test->size; rank++)
        spawn_rank(crew, rank);
}
