/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who started this process: what launchers write into the environment of a rank.
 *
 * Each launcher has a family of variables. The first family of the table that is there is used
 * whole, and no variable of another one for who this process is: the launcher nearest to the
 * process comes first, schedulers after it, and those whose variables others set too last. No
 * program is run, and nothing is opened, to find out.
 */
#ifndef MUSTER_LIB_LAUNCHER_H
#define MUSTER_LIB_LAUNCHER_H

#include "muster.h"

typedef enum launcher_fact {
    LAUNCHER_RANK,
    LAUNCHER_SIZE,
    LAUNCHER_LOCAL_RANK,
    LAUNCHER_LOCAL_SIZE,
    LAUNCHER_NODE_RANK,
    LAUNCHER_NUM_NODES,
    LAUNCHER_NUM_FACTS
} launcher_fact;

/* Ways to agree on rank 0's address that a launcher may offer, as bits. */
enum { LAUNCHER_PMI1 = 1, LAUNCHER_PMIX = 2, LAUNCHER_SLURM_NODES = 4, LAUNCHER_FIRST_POD = 8 };

/* Variables of which the first that is set counts. */
typedef struct launcher_names {
    const char *names[2]; /* or NULL */
} launcher_names;

/* One row of the table. */
typedef struct launcher_family {
    const char *name;    /* "Open MPI" */
    launcher_names mark; /* the family is there where one of these is set */
    launcher_names facts[LAUNCHER_NUM_FACTS];
    launcher_names job;  /* what names the job: all that are set, with '.' between them */
    const char *attempt; /* how often the job was started again */
    launcher_names host; /* what the launcher calls this host */
    const char *note;    /* why the family may not be there though some of it is set; or NULL */
    unsigned ways;
    bool loose; /* what is missing may come from arguments */
} launcher_family;

enum { LAUNCHER_MAX_JOB = 512 };

/* What was found. */
typedef struct launcher {
    const launcher_family *family;             /* NULL: no launcher */
    int facts[LAUNCHER_NUM_FACTS];             /* -1: not said */
    const char *variables[LAUNCHER_NUM_FACTS]; /* which said so, or NULL */
    char job[LAUNCHER_MAX_JOB + 1];            /* "" where nothing names it */
} launcher;

/* The table, in the order in which it is gone through. */
extern const launcher_family launcher_families[];
extern const size_t launcher_num_families;

/* MUSTER_ERR_ARGUMENT where the variables of the family that counts contradict each other. */
muster_status launcher_find(launcher *found);

/* Whether the family is there; words, where not NULL, receives why not, or "". */
bool launcher_is_there(const launcher_family *family, char *words, size_t size);

/* The first family behind this one that is there too, and would count without it; NULL where there
 * is none, or no family. */
const launcher_family *launcher_behind(const launcher_family *family);

/* The variable by which the family is there. */
const char *launcher_mark(const launcher_family *family);

/* The value of a variable; NULL where it is not set, or set to nothing. */
const char *launcher_variable(const char *name);

/* A number that stands in a variable from low to high, or MUSTER_ERR_ARGUMENT. -1 where it is not
 * set. */
muster_status launcher_number(const char *name, int low, int high, int *number);

/* A host name or an address that stands in a variable, without the brackets that IPv6 may have; ""
 * where it is not set, MUSTER_ERR_ARGUMENT where it does not fit. */
muster_status launcher_host(const char *name, char *host, size_t size);

/* What started this process; "" where no launcher is found. */
const char *launcher_name(const launcher *found);

/* Whether all ranks are on one host, as far as the launcher says. */
bool launcher_one_host(const launcher *found);

#endif
