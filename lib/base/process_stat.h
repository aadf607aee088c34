/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What Linux says of a process in /proc/PID/stat, and small files of that kind.
 */
#ifndef MUSTER_LIB_PROCESS_STAT_H
#define MUSTER_LIB_PROCESS_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct process_stat {
    char state;
    unsigned long flags;
    uint64_t start_time; /* in clock ticks since the boot */
} process_stat;

/* False where there is no such file, or it says something else. */
bool process_stat_read(const char *path, process_stat *process);

/* Reads a small file whole; false where it can't be opened or is empty. */
bool process_text_read(const char *path, char *text, size_t size);

#endif
