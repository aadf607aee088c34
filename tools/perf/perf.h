/* SPDX-License-Identifier: BSD-3-Clause
 *
 * muster-perf: what its measurements share.
 */
#ifndef MUSTER_PERF_PERF_H
#define MUSTER_PERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job_options.h"
#include "muster.h"
#include "sweep_options.h"

enum {
    PERF_MOST_ROUNDS = 10000,
    PERF_MOST_SHAPES = 64,
    PERF_MOST_COUNTS = 16,
    PERF_MOST_CLIENTS = 10000
};

/* So many lists of so many token ids each. */
typedef struct perf_shape {
    size_t lists;
    size_t length;
} perf_shape;

typedef struct perf_options {
    const char *what; /* "groups", "gather_tokens", "store", "overlap", or an operation */
    long long rounds;
    long long group_size; /* 0: the square root of the world, or near it */
    const char *file;     /* of prompts, or NULL */
    perf_shape shapes[PERF_MOST_SHAPES];
    size_t num_shapes;
    long long counts[PERF_MOST_COUNTS]; /* of clients */
    size_t num_counts;
    long long operations; /* of all clients together */
    long long value_size;
    const char *python;  /* one that has torch, or NULL */
    long long number;    /* of -n: rounds, or calls of collectives; 0: not given */
    sweep_options sweep; /* how collectives are measured */
    job_options job;
    double opening_seconds; /* what it took to make the ranks' first world */
} perf_options;

/* Returns true when there is something to do; else *status is what to exit with, all said. */
bool perf_options_read(perf_options *options, int argc, char **argv, int *status);

/* Says what muster's last error was, with the rank; always false. */
bool perf_failed(const muster_group *world);

/* A fact in numbers of the description of a group; -1 where it can't be had. */
long long perf_fact(muster_group *group, const char *name);

/* The words of a fact, cut to size. */
void perf_fact_text(muster_group *group, const char *name, char *text, size_t size);

/* The largest of all ranks' values, on each of them. */
bool perf_largest(muster_group *world, double *values, size_t count);

/* Sorts the values. */
double perf_median(double *values, size_t count);

/* Resident memory of this process in bytes: now, and the most since the reset; -1 where unknown. */
void perf_memory_reset(void);
double perf_memory_now(void);
double perf_memory_most(void);

/* The first line of a table: what was measured, where. */
void perf_print_title(const perf_options *options, muster_group *world);

/* The measurements; each prints on rank 0 what it found. */
bool perf_groups(const perf_options *options, muster_group *world);
bool perf_gather(const perf_options *options, muster_group *world);

bool perf_sweep(const perf_options *options, muster_group *world);
bool perf_overlap(const perf_options *options, muster_group *world);

/* Needs no group: it starts processes of its own. */
bool perf_store(const perf_options *options);

#endif
