/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "command.h"
#include "ranks.h"
#include "tap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Every process that a command starts has it in its environment, and so is found. */
static const char *command_mark(void)
{
    static char mark[64];
    if (mark[0] == '\0') {
        snprintf(mark, sizeof(mark), "MUSTER_TEST_MARK=%ld.%ld", (long)getpid(), (long)time(NULL));
        putenv(mark);
    }
    return mark;
}

static double command_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static char *command_path(const struct command *command, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", command->folder, name);
    return path;
}

static int command_open(const struct command *command, const char *name)
{
    char path[600];
    int file = open(command_path(command, name, path, sizeof(path)),
                    O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        bail_out("%s: %s", path, strerror(errno));
    return file;
}

static const int command_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGTSTP,
                                      SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};

void command_start(struct command *command, const char *input, const char *const *arguments)
{
    const char *where = getenv("TMPDIR");
    memset(command, 0, sizeof(*command));
    snprintf(command->folder, sizeof(command->folder), "%s/muster-command-XXXXXX",
             where == NULL || *where == '\0' ? "/tmp" : where);
    if (mkdtemp(command->folder) == NULL)
        bail_out("%s: %s", command->folder, strerror(errno));
    command_mark();
    int files[3] = {command_open(command, "in"), command_open(command, "out"),
                    command_open(command, "err")};
    if (input != NULL && write(files[0], input, strlen(input)) != (ssize_t)strlen(input))
        bail_out("the input can't be written");
    lseek(files[0], 0, SEEK_SET);
    command->seconds = command_clock();
    pid_t parent = getpid();
    command->pid = fork();
    if (command->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* a test in the background of a shell has some of them ignored */
        for (size_t i = 0; i < sizeof(command_signals) / sizeof(command_signals[0]); i++)
            signal(command_signals[i], SIG_DFL);
        for (int i = 0; i < 3 && getppid() == parent; i++)
            dup2(files[i], i);
        for (int i = 3; i < 1024; i++)
            fcntl(i, F_SETFD, FD_CLOEXEC);
        execvp(arguments[0], (char *const *)arguments);
        _exit(99);
    }
    for (int i = 0; i < 3; i++)
        close(files[i]);
}

static char *command_read(const struct command *command, const char *name)
{
    char path[600];
    FILE *file = fopen(command_path(command, name, path, sizeof(path)), "re");
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    while (file != NULL && text != NULL) {
        size_t more = fread(text + size, 1, room - size - 1, file);
        size += more;
        if (more == 0)
            break;
        if (room - size < 2)
            text = realloc(text, room *= 2);
    }
    if (file == NULL || text == NULL)
        bail_out("%s can't be read", path);
    fclose(file);
    text[size] = '\0';
    return text;
}

bool command_has_said(struct command *command, const char *part)
{
    double end = command_clock() + 20 * ranks_time_factor();
    bool found = false;
    while (!found && command_clock() < end) {
        char *text = command_read(command, "out");
        found = strstr(text, part) != NULL;
        free(text);
        if (!found)
            poll(NULL, 0, 10);
    }
    return found;
}

void command_finish(struct command *command)
{
    double end = command_clock() + 60 * ranks_time_factor();
    int status = 0;
    while (waitpid(command->pid, &status, WNOHANG) == 0) {
        if (command_clock() > end) {
            diag("a command did not end within a minute");
            kill(command->pid, SIGKILL);
        }
        poll(NULL, 0, 5);
    }
    command->seconds = command_clock() - command->seconds;
    command->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    command->out = command_read(command, "out");
    command->err = command_read(command, "err");
    static const char *const names[] = {"in", "out", "err"};
    char path[600];
    for (int i = 0; i < 3; i++)
        unlink(command_path(command, names[i], path, sizeof(path)));
    rmdir(command->folder);
}

void command_run(struct command *command, const char *input, const char *const *arguments)
{
    command_free(command);
    command_start(command, input, arguments);
    command_finish(command);
}

void command_free(struct command *command)
{
    free(command->out);
    free(command->err);
    command->out = command->err = NULL;
}

/* Whether the process has our mark in its environment. */
static bool command_marked(const char *pid)
{
    char path[300], text[32768];
    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text));
    if (file >= 0)
        close(file);
    return size > 0 && memmem(text, (size_t)size, command_mark(), strlen(command_mark())) != NULL;
}

static int command_count(void)
{
    int count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;)
        count += isdigit((unsigned char)entry->d_name[0]) && atol(entry->d_name) != getpid() &&
                 command_marked(entry->d_name);
    if (processes != NULL)
        closedir(processes);
    return count;
}

int command_left(void)
{
    double end = command_clock() + 3 * ranks_time_factor();
    int count;
    while ((count = command_count()) > 0 && command_clock() < end)
        poll(NULL, 0, 20);
    return count;
}
