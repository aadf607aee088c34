/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a library of NVIDIA's: where it is looked for, and why it can't be used.
 */
#ifndef MUSTER_BACKENDS_NCCL_LIBRARY_H
#define MUSTER_BACKENDS_NCCL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Where a library is looked for: in the file that a variable names and nowhere else, or else among
 * what the process has loaded, then where the loader looks. */
typedef struct library_place {
    const char *variable;
    const char *const *names; /* sonames, best first, each with its version; ended by NULL */
} library_place;

/* A sentence about what can't be used. */
typedef struct library_reason {
    char words[1024];
} library_reason;

/* Sets the sentence; always false. */
bool library_refuse(library_reason *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A library that has been opened; never closed. */
typedef struct library {
    void *handle;
    char file[256]; /* where it lies; as it was asked for, if that is not known */
} library;

/*
 * Opens the next one that can be opened; *turn is 0 at the first call. False where there is no
 * more: why then has the loader's words about the last one that could not be, if there was any.
 */
bool library_next(const library_place *place, int *turn, library *opened, library_reason *why);

/* Whether the variable names one. */
bool library_is_named(const library_place *place);

/* Whether one of them is loaded. Loads nothing. */
bool library_loaded(const library_place *place);

/* Stores the function with this name at pointer, or NULL; false for the latter. */
bool library_function(const library *opened, const char *name, void *pointer);

#endif
