/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives as a table: what each takes, what is checked of it, and what carries it out. A
 * new collective is one row, and a function of the header that issues it.
 */
#ifndef MUSTER_LIB_COLLECTIVE_H
#define MUSTER_LIB_COLLECTIVE_H

#include "collective/compose.h"

/* How many elements a buffer holds. */
typedef enum collective_amount {
    AMOUNT_NONE,   /* there is no such buffer */
    AMOUNT_COUNT,  /* count */
    AMOUNT_BLOCKS, /* count for each rank */
    AMOUNT_MINE,   /* counts[rank] */
    AMOUNT_COUNTS, /* all counts together */
    AMOUNT_FROM    /* all counts of what is received together */
} collective_amount;

/* Where send and receive may lie in one another; elsewhere they must not overlap. */
typedef enum collective_place {
    PLACE_APART,
    PLACE_SAME,       /* send == receive */
    PLACE_IN_RECEIVE, /* send is this rank's block of receive */
    PLACE_IN_SEND     /* receive is this rank's block of send, or begins where send does */
} collective_place;

/* The arguments of any collective; those that one lacks are 0. */
typedef struct collective_call {
    message_kind kind;
    muster_type type;
    muster_reduction redop; /* a kind, once it has been checked */
    double scalar;
    int root;
    size_t count;
    const void *send;
    void *receive;
    const size_t *counts;      /* one a rank */
    const size_t *from_counts; /* one a rank */
} collective_call;

/* On the group's thread. out and in are the layouts of buffers that hold a block for each rank. */
typedef muster_status (*collective_run)(muster_group *group, const collective_call *call,
                                        const message_label *label, const layout *out,
                                        const layout *in, deadline end);

/* The traits of a collective. */
enum {
    ROOTED = 1,
    SEND_AT_ROOT = 2,    /* only root has the buffer that is sent from, and counts */
    RECEIVE_AT_ROOT = 4, /* only root has the buffer that is received in, and counts */
    REDUCES = 8
};

typedef struct collective {
    const char *function; /* of the header */
    collective_run run;
    collective_amount send;
    collective_amount receive;
    collective_place place;
    int traits;
} collective;

extern const collective collective_table[];

/* The row of a kind. */
static inline const collective *collective_of(message_kind kind)
{
    return &collective_table[kind];
}

/* Whether this rank has the buffer that the collective sends from, or receives in. */
static inline bool collective_sends(const muster_group *group, const collective_call *call)
{
    const collective *what = collective_of(call->kind);
    return what->send != AMOUNT_NONE &&
           (!(what->traits & SEND_AT_ROOT) || group->rank == call->root);
}

static inline bool collective_receives(const muster_group *group, const collective_call *call)
{
    const collective *what = collective_of(call->kind);
    return what->receive != AMOUNT_NONE &&
           (!(what->traits & RECEIVE_AT_ROOT) || group->rank == call->root);
}

/* The arguments, in words where one is wrong; turns redop into its kind and scalar. */
muster_status collective_check(muster_group *group, collective_call *call);

/* Of arguments that are right: whether this rank has nothing to send and nothing to receive. */
bool collective_is_idle(const muster_group *group, const collective_call *call);

/* Parts of it that messages between two ranks share: each is of one buffer. */
muster_status collective_check_type(muster_type type);
muster_status collective_check_elements(const void *buffer, const char *name, size_t count,
                                        muster_type type);
muster_status collective_check_rank(const muster_group *group, int rank, const char *name);

#endif
