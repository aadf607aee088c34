/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading /proc.
 */
#include "config.h"

#include "base/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool process_text_read(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got;
    do
        got = read(fd, text, size - 1);
    while (got < 0 && errno == EINTR);
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    return got > 0;
}

/* The program's name in it may hold blanks and parentheses, so the fields are counted from the last
 * one. */
bool process_stat_read(const char *path, process_stat *process)
{
    enum { STATE = 3, FLAGS = 9, START_TIME = 22 };
    char line[1024];
    if (!process_text_read(path, line, sizeof(line)))
        return false;
    const char *at = strrchr(line, ')');
    if (at == NULL || at[1] != ' ')
        return false;
    process->state = at[2];
    at++;
    for (int field = STATE; field < START_TIME && at != NULL; field++) {
        if (field == FLAGS)
            process->flags = strtoul(at + 1, NULL, 10);
        at = strchr(at + 1, ' ');
    }
    if (at == NULL)
        return false;
    process->start_time = strtoull(at + 1, NULL, 10);
    return true;
}
