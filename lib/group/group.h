/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A process group as the rooms of the library see it.
 */
#ifndef MUSTER_LIB_GROUP_H
#define MUSTER_LIB_GROUP_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "backend/backend.h"
#include "base/deadline.h"
#include "base/thread.h"
#include "group/claim.h"
#include "group/family.h"
#include "backend/host.h"
#include "collective/calls.h"
#include "collective/premul.h"
#include "options/options.h"
#include "group/near.h"
#include "group/roster.h"
#include "group/turn.h"
#include "collective/work.h"

/* What making the group took. */
typedef struct group_costs {
    long long store_operations;
    int64_t nanoseconds;
} group_costs;

/* The first failure of a group; it stays. */
typedef struct group_failure {
    pthread_mutex_t lock;
    pthread_cond_t settled;       /* the sentence is complete */
    _Atomic muster_status status; /* MUSTER_OK: none; written under the lock */
    bool complete;
    bool telling; /* complete, and the others are being told, which is waited for until told_by */
    deadline told_by;
    char *sentence;
} group_failure;

typedef struct abort_listener abort_listener;

/* What a group has of one backend: one side carries host memory, the other device memory. */
typedef struct group_side {
    muster_comm_owner owner; /* first, so that a comm's owner is its side */
    struct muster_group *group;
    const backend_entry *backend; /* NULL: the group has no such side */
    muster_comm *_Atomic comm;    /* NULL: there is nobody to talk to, or not yet */
    const char *address;          /* in ranks, or a constant */
    const char *address_why;
    struct opening *opening; /* while it is being opened */
} group_side;

/* Of the side of devices. */
typedef struct group_device {
    int ordinal;          /* of this process; -1: the group has none */
    void *own_stream;     /* what the group opened by itself; NULL: it has no device */
    void *message_stream; /* the same for messages, in a group without a host side */
    void *_Atomic given;  /* by muster_group_set_stream(); NULL: the own one */
} group_device;

struct muster_group {
    group_side host;   /* without a backend where all goes through the device's */
    group_side device; /* without a backend where device memory is staged */
    /* The device's backend once more, in a group of several ranks without a host side: what muster
     * says and what callers have the device carry go by one communicator each, so that neither can
     * be taken for the other. */
    group_side messages;
    /* In a group of several hosts whose ranks share memory with those of their own: among these,
     * numbered as hosts has them. */
    group_side near;
    near_map hosts; /* of such a group, on all ranks */
    group_device gpu;
    struct staging *staging; /* pinned memory, for memory that its side can't carry */
    struct native *native;   /* carries messages in a group without a host side */
    struct vigil *vigil;     /* looks after the ranks of such a group */
    bool in_pieces;          /* all ranks make use of devices: large buffers go in pieces */
    char *name;
    char *prefix; /* of all its keys in the store */
    muster_store *store;
    claim place; /* of a group made by muster_init_process_group; else place.name is NULL */
    int rank;
    int size;
    int parent_size;
    int world_size;
    int *to_parent;
    int *to_world;
    _Atomic int64_t timeout_ms;
    atomic_int aborting; /* threads that are breaking off the communicators */
    roster ranks;
    bool one_host; /* that of all ranks */
    muster_options *options;
    char *asked;
    char *why;
    char *backends;   /* what muster_group_backend() says */
    thread_home home; /* of its threads */
    work_queue *queue;
    bool checks;      /* all calls are compared, since some rank of the world wants it */
    family *children; /* names of the groups made of this one */
    turn_line makers; /* calls that make groups of this one, and have not ended */
    family *siblings; /* the parent's children, among which this one is; or NULL */
    pid_t pid;        /* of the process that made it */
    group_failure failure;
    abort_listener *_Atomic listener; /* for signal handlers, where one was asked for */
    call_list calls;                  /* the collectives of late */
    premul_list premuls;
    group_costs costs;
    _Atomic uint64_t bytes_sent; /* by messages */
    _Atomic uint64_t bytes_received;
    _Atomic int64_t due_ns; /* when the latest operation must be done, by the clock of deadlines */
    _Atomic uint64_t
        sequence; /* of collectives; a group of one rank has no thread that orders them */
    _Atomic uint64_t
        *sends; /* messages sent to, and received from, each rank by muster_send/recv */
    _Atomic uint64_t *receives;
};

/* What a new group is given; the rest is filled in by whoever forms it. */
typedef struct group_shape {
    const char *name;
    const char *prefix;
    const char *asked; /* the backend that was asked for */
    muster_store *store;
    int64_t timeout_ms;
    int rank;
    int size;
    int parent_size;
    int world_size;
    const int *to_parent; /* NULL: it has no parent */
    const int *to_world;  /* the parent's; NULL: it has no parent */
} group_shape;

muster_status group_new(const group_shape *shape, muster_group **group);

/* Ends and frees a group that was never handed over. */
void group_destroy(muster_group *group);

/* Whether a communicator is open. */
bool group_is_connected(muster_group *group);

enum { GROUP_SIDES = 4 };

/* Whether an option is of a backend that the group runs on, or of muster's own and counts here. */
bool group_heeds(const muster_group *group, const char *option);

/* The sides of the group that have a backend, the host's first; returns how many. */
size_t group_sides(muster_group *group, group_side *sides[GROUP_SIDES]);

/* What the communicator of host memory has heard of another rank, which is nothing where there is
 * none: whether it may be lost, and whether it has closed its own in good order. */
bool group_suspects(const muster_group *group, int rank);
bool group_has_left(const muster_group *group, int rank);

/* Whether it came to the operation of the backend that has just timed out, for sure. */
bool group_has_come(const muster_group *group, int rank);

/* What this rank has sent and received through the group, and the operations in it that a
 * communicator carried out whole. */
typedef struct group_traffic {
    uint64_t sent;
    uint64_t received;
    uint64_t whole;
} group_traffic;
group_traffic group_count_traffic(const muster_group *group);

/* Breaks the communicators that are open. */
void group_abort_comms(muster_group *group);

/* MUSTER_OK for a time-out that an operation can have. */
muster_status group_check_timeout(int64_t timeout_ms);

/* The checks that begin every call on a group: not NULL, not the parent's of a fork. function is
 * the call. */
muster_status group_enter(const muster_group *group, const char *function);

/* group_enter, and not failed. */
muster_status group_ready(muster_group *group, const char *function);

/* Puts the group, the rank and the call in front of the thread's last error. */
muster_status group_error(const muster_group *group, const char *function, muster_status status);

#endif
