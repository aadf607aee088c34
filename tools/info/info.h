/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What muster-info found, and the two ways to say it.
 */
#ifndef MUSTER_INFO_INFO_H
#define MUSTER_INFO_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "muster.h"

/* A variable that tells a process who it is, as launchers set it. */
typedef struct info_variable {
    const char *name;
    const char *value; /* NULL: not set */
} info_variable;

enum { INFO_RANK, INFO_WORLD_SIZE, INFO_MASTER_ADDR, INFO_MASTER_PORT, INFO_NUM_VARIABLES };

/* The job that this process is a rank of, once its ranks have met. */
typedef struct info_job {
    muster_group *world; /* NULL: they have not, or it is a world of one */
    int rank;            /* -1 likewise */
    int num_ranks;
    muster_placement *ranks;
    char why[1024];     /* the backend */
    char problem[2048]; /* why they have not met; "" where nobody is to be met */
    bool refused;       /* since what this rank was told is wrong */
} info_job;

typedef struct info {
    muster_backend_report *backends;
    size_t num_backends;
    muster_option_report *options;
    size_t num_options;
    char *machine;            /* muster_describe_host's facts, in words */
    char *machine_json;       /* and in JSON */
    const char *backend_path; /* MUSTER_BACKEND_PATH, or NULL */
    info_variable variables[INFO_NUM_VARIABLES];
    muster_launcher_report *launcher;
    char *started; /* muster_describe_launcher's facts, in words */
    char *started_json;
    muster_plan *plan;       /* for the ranks of this job on this host */
    char plan_problem[1024]; /* why there is none */
    info_job job;
} info;

/* Opens the backends; false with muster's last error. */
bool info_collect(info *found);
void info_free(info *found);

/* The ranks of the launcher's job meet, for so long at most. */
void info_meet(info_job *job, const muster_launcher_report *launcher, int64_t timeout_ms);
void info_leave(info_job *job);

/* A plan alone, and what of it the whole has too. */
void info_print_plan(const muster_plan *plan);
void info_print_ranks(const muster_placement *ranks, int count);
void info_print_remarks(const muster_plan *plan);
void info_print_hidden(const muster_plan *plan);
void info_print_shortages(const muster_placement *ranks, int count);

void info_print(const info *found, bool options, bool launcher, bool verbose);

/* False where memory ran out. */
bool info_print_json(const info *found);
bool info_print_plan_json(const muster_plan *plan);

#endif
