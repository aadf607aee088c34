/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who started this process, and telling it why the process fails.
 */
#ifndef MUSTER_LAUNCHER_H
#define MUSTER_LAUNCHER_H

#include <muster/blob.h>
#include <muster/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Who started this process, as its environment says, and what env:// comes to. Nothing is asked and
 * no connection made: with some launchers rank 0's address is agreed on when the first group is.
 */
typedef struct muster_launcher_report {
    const char *name; /* "Open MPI", "muster-run", "torch's names"; "" where no launcher is found */
    int rank;         /* here and below -1: it does not say */
    int world_size;
    int local_rank; /* as the launcher has it; see muster_group_local_rank */
    int local_size;
    int node_rank;
    int num_nodes;
    const char *job;         /* what the launcher calls the job; "" for nothing */
    const char *master_addr; /* "" where it is not known yet, or nobody is to be met */
    int master_port;         /* 0 likewise */
    const char *how;         /* how rank 0 is found, in words; "" for a world of one */
    const char *problem;     /* why env:// can't be used; "" where it can */
} muster_launcher_report;

/* The one muster_free(*report) frees it, strings included. */
MUSTER_API muster_status muster_find_launcher(muster_launcher_report **report);

/* The same a line a fact or in JSON, with the variables and why other launchers and ways to find
 * rank 0 were passed over. *text is freed with muster_free(). */
MUSTER_API muster_status muster_describe_launcher(bool json, char **text);

/*
 * Tells the launcher why this process is going to fail, for a program to call before it exits; NULL
 * is muster_last_error(). torchrun (TORCHELASTIC_ERROR_FILE) then shows the sentence, and the
 * earliest one of all ranks as the root cause. The first report of a process counts. Under other
 * launchers nothing happens. muster itself never calls it.
 */
MUSTER_API muster_status muster_report_failure(const char *sentence);

#ifdef __cplusplus
}
#endif
#endif
