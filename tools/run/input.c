/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

int input_open(struct input *input)
{
    input->pipe = -1;
    if (!isatty(STDIN_FILENO))
        return STDIN_FILENO;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    input->pipe = ends[1];
    return ends[0];
}

/* A terminal is read only in the foreground: in the background that would stop us. */
int input_awaits(const struct input *input, short *events)
{
    bool waits = input->size > input->passed;
    *events = waits ? POLLOUT : POLLIN;
    if (input->pipe < 0 || (!waits && tcgetpgrp(STDIN_FILENO) != getpgrp()))
        return -1;
    return waits ? input->pipe : STDIN_FILENO;
}

void input_pass(struct input *input)
{
    ssize_t size;
    if (input->size > input->passed) {
        size = write(input->pipe, input->bytes + input->passed, input->size - input->passed);
        if (size > 0)
            input->passed += (size_t)size;
    } else {
        size = read(STDIN_FILENO, input->bytes, sizeof(input->bytes));
        input->size = size > 0 ? (size_t)size : 0;
        input->passed = 0;
    }
    if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN))
        input_close(input);
}

void input_close(struct input *input)
{
    if (input->pipe >= 0)
        close(input->pipe);
    input->pipe = -1;
}
