/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: groups of calls. Every
 * call that does something is a task of the group that its thread has open, or of one of its own;
 * when the group ends, its tasks run, those of a non-blocking communicator on a thread of their
 * own.
 */
#ifndef MUSTER_T_STANDIN_NCCL_GROUP_H
#define MUSTER_T_STANDIN_NCCL_GROUP_H

#include "nccl_comm.h"

/* First member of what it is a task for, which is freed with free() when it has run or won't. */
typedef struct nccl_task {
    nccl_comm *comm;
    nccl_result (*run)(struct nccl_task *task);
    struct nccl_task *next;
    bool taken; /* has run together with an earlier one */
} nccl_task;

/* Opens a group, or one inside of another. */
void group_open(void);

/* Adds a task; without memory for it task is NULL. Then the group fails as a whole. */
nccl_result group_add(nccl_task *task);

/* An error of a call: the group that it is in fails as a whole. Returns it. */
nccl_result group_spoil(nccl_result error);

/* Ends a group; the outermost runs what it has. */
nccl_result group_close(void);

/* The end of a call that has opened a group for comm: what it returns. */
nccl_result group_leave(nccl_comm *comm, nccl_result result);

#endif
