/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An environment for a child, built before fork: after it, in a process that had threads, there is
 * no safe setenv.
 */
#ifndef MUSTER_RUN_ENVIRONMENT_H
#define MUSTER_RUN_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct environment {
    char **entries; /* ends with NULL: what execve takes */
    size_t count;
    bool failed; /* memory ran out in some call; the rest of them did nothing */
} environment;

/* A copy of entries without the variables of launchers. */
environment environment_copy(char *const *entries);

/* Sets name to the formatted value. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void environment_set(environment *list, const char *name, const char *format, ...);

/* Takes "NAME=VALUE", or "NAME" to remove it. */
void environment_put(environment *list, const char *entry);

void environment_free(environment *list);

#endif
