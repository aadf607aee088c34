/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting the ranks.
 */
#include "config.h"

#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a rank needs between fork and exec. */
struct start {
    pid_t parent;
    int local; /* the rank among those of this node */
    char **entries;
    int input;
    int outputs[2]; /* -1: ours */
    int report;     /* errno goes there if exec fails */
    struct rlimit files;
};

static void spawn_export(const struct options *options, environment *list)
{
    for (size_t i = 0; i < options->num_exports; i++) {
        const char *entry = options->exports[i];
        const char *value = strchr(entry, '=') == NULL ? getenv(entry) : NULL;
        if (value != NULL)
            environment_set(list, entry, "%s", value);
        else if (strchr(entry, '=') != NULL)
            environment_put(list, entry);
    }
}

static environment spawn_environment(const struct job *job, int local)
{
    const struct options *options = job->options;
    environment list = environment_copy(environ);
    spawn_export(options, &list);
    environment_set(&list, "RANK", "%d", job->first_rank + local);
    environment_set(&list, "WORLD_SIZE", "%d", job->world_size);
    environment_set(&list, "LOCAL_RANK", "%d", local);
    environment_set(&list, "LOCAL_WORLD_SIZE", "%d", options->per_node);
    environment_set(&list, "NODE_RANK", "%d", options->node_rank);
    environment_set(&list, "GROUP_RANK", "%d", options->node_rank);
    environment_set(&list, "GROUP_WORLD_SIZE", "%d", options->num_nodes);
    environment_set(&list, "MASTER_ADDR", "%s", options->master_addr);
    environment_set(&list, "MASTER_PORT", "%d", job->port);
    environment_set(&list, "TORCHELASTIC_USE_AGENT_STORE", "True");
    environment_set(&list, "TORCHELASTIC_RESTART_COUNT", "0"); /* torch wants it beside the store */
    if (job->id[0] != '\0')
        environment_set(&list, "MUSTER_JOB_ID", "%s", job->id);
    char *folder = options->folder == NULL ? NULL : realpath(options->folder, NULL);
    if (folder != NULL)
        environment_set(&list, "PWD", "%s", folder);
    free(folder);
    return list;
}

/* Plans for the ranks of this node; false where that fails, which has been said. */
static bool spawn_plan(struct job *job)
{
    muster_plan_args args = MUSTER_PLAN_ARGS_INIT;
    args.num_ranks = job->options->per_node;
    if (strcmp(job->options->bind_to, "none") == 0 ||
        muster_plan_placement(&args, &job->plan) == MUSTER_OK)
        return true;
    job_say(job, "the ranks can't be bound: %s", muster_last_error());
    return false;
}

/* After fork: only what is safe when the parent has threads. A rank that can't be bound runs all
 * the same. */
static void spawn_become(const struct job *job, const struct start *start)
{
    if (job->plan != NULL)
        muster_bind_thread(&job->plan->ranks[start->local], job->options->bind_to);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start->parent)
        _exit(1);
    bool set = dup2(start->input, 0) >= 0;
    for (int i = 0; i < 2; i++)
        set = set && (start->outputs[i] < 0 || dup2(start->outputs[i], 1 + i) >= 0);
    setrlimit(RLIMIT_NOFILE, &start->files);
    sigaction(SIGPIPE, &job->inherited_pipe, NULL);
    sigprocmask(SIG_SETMASK, &job->inherited_mask, NULL);
    if (set && (job->options->folder == NULL || chdir(job->options->folder) == 0))
        execvpe(job->options->program[0], job->options->program, start->entries);
    int error = errno;
    ssize_t written = write(start->report, &error, sizeof(error));
    _exit(written < 0);
}

/* A pipe whose ends are above the standard descriptors, so that dup2 can't hit them. */
static bool spawn_pipe(int ends[2])
{
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 3);
        close(made[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

/* One rank alone keeps our terminal. */
static bool spawn_pipes(const struct job *job, struct rank *rank, struct start *start)
{
    for (int i = 0; i < 2 && (job->options->per_node > 1 || job->options->tag); i++) {
        int ends[2];
        if (!spawn_pipe(ends))
            return false;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        rank->pipes[i] = ends[0];
        start->outputs[i] = ends[1];
    }
    return true;
}

/* Returns errno of fork or exec, or 0. */
static int spawn_process(struct job *job, struct rank *rank, struct start *start)
{
    int report[2];
    if (!spawn_pipe(report))
        return errno;
    start->report = report[1];
    rank->pid = fork();
    if (rank->pid == 0)
        spawn_become(job, start);
    int error = rank->pid < 0 ? errno : 0;
    close(report[1]);
    if (rank->pid > 0) {
        setpgid(rank->pid, rank->pid);
        guard_add(&job->guard, rank->pid);
        job->living++;
        while (read(report[0], &error, sizeof(error)) < 0 && errno == EINTR)
            continue;
    }
    close(report[0]);
    return error;
}

static int spawn_rank(struct job *job, int local, struct start *start)
{
    struct rank *rank = &job->ranks[local];
    rank->number = job->first_rank + local;
    start->local = local;
    rank->pipes[0] = rank->pipes[1] = start->outputs[0] = start->outputs[1] = -1;
    if (job->options->tag)
        snprintf(rank->tag, sizeof(rank->tag), "[%d] ", rank->number);
    start->input = local == 0 && job->options->node_rank == 0
                       ? input_open(&job->input)
                       : open("/dev/null", O_RDONLY | O_CLOEXEC);
    environment list = spawn_environment(job, local);
    start->entries = list.entries;
    int error = list.failed ? ENOMEM : 0;
    if (error == 0 && (start->input < 0 || !spawn_pipes(job, rank, start)))
        error = errno;
    if (error == 0)
        error = spawn_process(job, rank, start);
    job->count += rank->pid > 0;
    environment_free(&list);
    for (int i = 0; i < 2; i++)
        if (start->outputs[i] >= 0)
            close(start->outputs[i]);
    if (start->input > 0)
        close(start->input);
    return error;
}

/* A shell does not look in its folder either, but says no more than "not found". */
static const char *spawn_advice(const struct options *options, int error)
{
    const char *program = options->program[0];
    if (error != ENOENT || strchr(program, '/') != NULL)
        return "";
    return options->folder == NULL && access(program, X_OK) == 0
               ? " in the folders of PATH; put ./ before it to take the one in this folder"
               : " in the folders of PATH";
}

bool job_spawn(struct job *job, int *status)
{
    struct start start = {.parent = getpid()};
    getrlimit(RLIMIT_NOFILE, &start.files);
    struct rlimit more = {start.files.rlim_max, start.files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &more);
    if (!spawn_plan(job)) {
        *status = 1;
        return false;
    }
    for (int local = 0; local < job->options->per_node; local++) {
        int error = spawn_rank(job, local, &start);
        if (error != 0) {
            char words[1024];
            snprintf(words, sizeof(words), "%.900s can't be started as rank %d: %s%s",
                     job->options->program[0], job->ranks[local].number, strerror(error),
                     spawn_advice(job->options, error));
            job_say(job, "%s", words);
            *status = error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
            nodes_fail(job, *status, words, "");
            return false;
        }
        if (job->options->verbosity > 0)
            job_say(job, "rank %d is pid %ld%s%s", job->ranks[local].number,
                    (long)job->ranks[local].pid, job->plan != NULL ? ", for CPUs " : "",
                    job->plan != NULL ? job->plan->ranks[local].cpus : "");
    }
    return true;
}
