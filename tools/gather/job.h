/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One run of muster-gather as one rank sees it, and its steps in their order. A step returns false
 * with one sentence in job->why, of which all ranks then hear through agree().
 */
#ifndef MUSTER_GATHER_JOB_H
#define MUSTER_GATHER_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "job_options.h"
#include "muster.h"
#include "prompts.h"

typedef struct gather_options {
    const char *file;
    const char *output; /* NULL: nothing is written; "-" is stdout */
    job_options job;
    long long group_size; /* 0: the size of the world */
    bool quiet;
    bool verbose;
} gather_options;

typedef struct gather_job {
    const gather_options *options;
    prompts prompts;
    muster_group *world;
    muster_group *regular;
    muster_group *orthogonal;
    int rank; /* in the world */
    int size;
    double group_seconds;
    double token_seconds;
    double object_seconds;
    uint64_t token_bytes; /* sent by all ranks together */
    uint64_t object_bytes;
    char why[2048];
} gather_job;

/* Returns true when there is something to do; else *status is what to exit with, all said. */
bool options_read(gather_options *options, int argc, char **argv, int *status);

/* Writes the sentence to job->why; always false. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
bool job_refuse(gather_job *job, const char *format, ...);

/* The world, which a rank with a bad file joins too, so that the others hear of it. */
bool groups_make_world(gather_job *job);
bool groups_check_size(gather_job *job);
bool groups_make_parts(gather_job *job);

/* Both gathers, each followed by the comparison with the file. */
bool gathers_run_tokens(gather_job *job);
bool gathers_run_objects(gather_job *job);

/* Compares what a group gathered with this rank's copy of the file. */
bool check_tokens(gather_job *job, muster_group *group, const muster_tokens *all);
bool check_objects(gather_job *job, muster_group *group, const muster_objects *all);

/* Rank 0 gathers all prompts and writes them. */
bool output_write(gather_job *job);

/* What rank 0 prints in the end. */
bool summary_print(gather_job *job);

#endif
