/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The standard input of rank 0. A file or a pipe is simply its own; a terminal is read by the
 * launcher and passed on, since the rank is in a process group of its own, which the terminal
 * would stop.
 */
#ifndef MUSTER_RUN_INPUT_H
#define MUSTER_RUN_INPUT_H

#include <stdbool.h>
#include <stddef.h>

struct input {
    int pipe; /* to rank 0, or -1 */
    char bytes[4096];
    size_t size; /* read and not passed on yet */
    size_t passed;
};

/* What rank 0 is to have as its standard input; -1 when nothing can be had. Close it after the
 * start, unless it is 0. */
int input_open(struct input *input);

/* Which descriptor to poll, and for what; -1 for none. */
int input_awaits(const struct input *input, short *events);

/* The descriptor is ready. */
void input_pass(struct input *input);

void input_close(struct input *input);

#endif
