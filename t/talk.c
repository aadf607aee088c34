/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "talk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { PATIENCE_MS = 60000 };

void talk_start(talk *process, const char *const *arguments)
{
    int to[2], from[2];
    pid_t parent = getpid();
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        bail_out("no pipe: %s", strerror(errno));
    process->pid = fork();
    if (process->pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent && dup2(to[0], 0) == 0 && dup2(from[1], 1) == 1 &&
            dup2(nowhere, 2) == 2)
            execvp(arguments[0], (char *const *)arguments);
        _exit(99);
    }
    close(to[0]);
    close(from[1]);
    process->to = to[1];
    process->from = from[0];
    process->kept = 0;
    process->line[0] = '\0';
    signal(SIGPIPE, SIG_IGN);
}

static void talk_write(talk *process, const char *format, va_list values)
{
    char text[8192];
    int size = vsnprintf(text, sizeof(text) - 1, format, values);
    if (size < 0 || (size_t)size >= sizeof(text) - 1)
        bail_out("a line is too long");
    text[size++] = '\n';
    for (int done = 0; done < size;) {
        ssize_t now = write(process->to, text + done, (size_t)(size - done));
        done = now < 0 ? size : done + (int)now; /* that it has gone is seen when it is read from */
    }
}

void talk_send(talk *process, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    talk_write(process, format, values);
    va_end(values);
}

const char *talk_read(talk *process)
{
    size_t size = process->kept;
    memmove(process->line, process->line + strlen(process->line) + 1, size);
    for (;;) {
        char *end = memchr(process->line, '\n', size);
        if (end != NULL) {
            *end = '\0';
            process->kept = size - (size_t)(end + 1 - process->line);
            return process->line;
        }
        struct pollfd one = {process->from, POLLIN, 0};
        if (poll(&one, 1, (int)patient(PATIENCE_MS)) == 0)
            return "(silent)";
        ssize_t now = read(process->from, process->line + size, sizeof(process->line) - size);
        if (now <= 0)
            return "(gone)";
        size += (size_t)now;
    }
}

const char *talk_ask(talk *process, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    talk_write(process, format, values);
    va_end(values);
    return talk_read(process);
}

void talk_stop(talk *process)
{
    close(process->to);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(process->from);
}

void talk_kill(talk *process)
{
    kill(process->pid, SIGKILL);
    talk_stop(process);
}
