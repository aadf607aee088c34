/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a backend fills in. A backend moves bytes between the ranks of one group; everything else
 * (rendezvous, choosing it, options, argument checks, collectives made of messages, time-outs, the
 * failed state) is done above it.
 *
 * A plugin is a shared object muster_<name>.so that exports one data symbol, MUSTER_BACKEND_SYMBOL,
 * of type struct muster_backend. It is opened with local symbols, is never closed, and calls
 * nothing of libmuster by name, only the functions of struct muster_host that it is given. No
 * exception, signal or exit leaves it, and it writes to no standard stream.
 *
 * The core checks abi and size before it looks at anything else, and every argument before it calls
 * a slot: ranks are in range and never the caller's own, sizes are never 0, pointers are valid.
 */
#ifndef MUSTER_BACKEND_H
#define MUSTER_BACKEND_H

#include <muster/blob.h>
#include <muster/log.h>
#include <muster/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_BACKEND_ABI 1
#define MUSTER_BACKEND_SYMBOL "muster_backend_1"

/* A communicator: the backend's side of one group. Each backend defines its own. */
typedef struct muster_comm muster_comm;

/* One message that has been posted and not yet been waited for. Each backend defines its own. */
typedef struct muster_request muster_request;

/* The core's side of one group that is being opened, or is open; opaque to a backend. */
typedef struct muster_comm_owner muster_comm_owner;

/* What a backend may call. The table and all it points to live until the process ends; every
 * function may be called from any thread. */
typedef struct muster_host {
    uint32_t abi;  /* MUSTER_BACKEND_ABI */
    uint32_t size; /* sizeof(struct muster_host) of the core */

    /* Sets the sentence of muster_last_error() for the calling thread and returns status. The core
     * puts the group, the rank and the operation in front. */
    muster_status (*error)(muster_status status, const char *format, ...);

    /* Writes a log line. */
    void (*log)(muster_log_level level, const char *format, ...);

    /* The value of one of the backend's own options for this group, in the declared type's form:
     * default where the user set none, NULL where there is no default either. Lives while the comm
     * does. */
    const char *(*option)(const muster_comm_owner *owner, const char *name);

    /*
     * Collective over the ranks of the group; open calls it exactly once, on the thread that it was
     * called on: gives mine to every rank and gets everybody's, through the store. all has one blob
     * a rank, in rank order, and lives until open returns. Fails on every rank with the same
     * sentence when one rank's open has failed before it came here.
     */
    muster_status (*exchange)(muster_comm_owner *owner, muster_blob mine, const muster_blob **all);

    /*
     * Whether an open that runs is to be given up, since another rank has failed or was lost: open
     * asks several times a second while it waits for others, and then fails with any sentence; the
     * core has a better one.
     */
    bool (*cancelled)(const muster_comm_owner *owner);

    /*
     * Tells that the communicator is broken, from any thread of the backend (never from inside a
     * slot). rank is the one that was lost or that reported a failure, -1 where that is unknown.
     * The core marks the group failed and calls abort on the comm, from this call or later.
     */
    void (*broken)(muster_comm_owner *owner, int rank, muster_status status, const char *sentence);
} muster_host;

/* What probe finds out. */
typedef struct muster_backend_info {
    uint32_t size;
    char version[64];  /* of the library below, for messages and for option tables; "" if unknown */
    char details[256]; /* one line for muster-info: transport, build, file */
} muster_backend_info;

/* What open is given; lives until open returns, strings included. */
typedef struct muster_open_args {
    uint32_t size;
    int rank;
    int num_ranks; /* at least 2 */
    const char *group_name;
    int64_t timeout_ms;  /* for open as a whole */
    const char *address; /* numeric IPv4 or IPv6 address to use, all ranks in one family */
    bool one_host;       /* all ranks are on this host */
    int ranks_here;      /* ranks on this host, the caller's included */
    int cores_here;      /* cores this process may run on */
} muster_open_args;

typedef enum muster_option_type {
    MUSTER_OPTION_STRING,
    MUSTER_OPTION_INTEGER, /* decimal, fits int64_t */
    MUSTER_OPTION_BOOLEAN  /* given as 1/0, yes/no, true/false, on/off; handed on as "1" or "0" */
} muster_option_type;

/* One option that a backend declares. */
typedef struct muster_option {
    const char *name; /* with the backend's name in front: "gloo.iface" */
    muster_option_type type;
    const char *default_value; /* NULL: none */
    const char *since;         /* first version of the library below that has it; NULL: any */
    const char *until;         /* last one; NULL: any */
    const char *aliases;       /* older names, separated by spaces; NULL: none */
    const char *environment;   /* a variable honoured where no option is set ("GLOO_SOCKET_IFNAME"),
                                  or NULL */
    const char *help;          /* one line */
} muster_option;

typedef struct muster_backend {
    uint32_t abi;  /* MUSTER_BACKEND_ABI */
    uint32_t size; /* sizeof(struct muster_backend) of the plugin */
    const char *name;
    int priority;                 /* "auto" tries higher ones first */
    const muster_option *options; /* ended by one whose name is NULL; NULL: none */

    /*
     * (required) Called once in a process before any other slot, on any thread. Keeps host, fills
     * *info, whose strings are empty. Anything but MUSTER_OK, with a sentence through host->error,
     * means "not available here" and is what the user is told. Cheap: no thread, no socket is left
     * behind.
     */
    muster_status (*probe)(const muster_host *host, muster_backend_info *info);

    /*
     * (required) Collective: opens a communicator over args->num_ranks ranks, connected to all of
     * them. Called on a thread of the core that blocks all signals; so are close and wait where a
     * collective runs. On failure *comm is not touched and nothing is left.
     */
    muster_status (*open)(muster_comm_owner *owner, const muster_open_args *args,
                          muster_comm **comm);

    /*
     * (required) Post one message of size bytes (never 0) to or from peer. Messages of one pair,
     * slot and direction arrive in the order posted; slots do not wait for each other. Never
     * blocks, may be called from any thread at once, with signals unblocked too. data must live
     * until wait has returned. The core guarantees that both sides post the same size. On failure
     * *request is not touched.
     */
    muster_status (*post_send)(muster_comm *comm, int peer, uint64_t slot, const void *data,
                               size_t size, muster_request **request);
    muster_status (*post_recv)(muster_comm *comm, int peer, uint64_t slot, void *data, size_t size,
                               muster_request **request);

    /*
     * (required) Waits until the request is complete (the data is in place, or may be changed
     * again) and frees it, in every case. MUSTER_ERR_TIMEOUT, MUSTER_ERR_PEER_LOST,
     * MUSTER_ERR_FAILED after abort: then the communicator is broken, and every later call on it
     * fails at once. May be called for several requests at once from several threads. After a
     * failure the data buffers are not touched any more.
     */
    muster_status (*wait)(muster_comm *comm, muster_request *request, int64_t timeout_ms);

    /*
     * (required) From any thread, more than once: breaks the communicator. Pending and later waits
     * return at once with MUSTER_ERR_FAILED, and so do those of the other ranks, who are told:
     * their host->broken is called with this rank and MUSTER_ERR_REMOTE. Never blocks.
     */
    void (*abort)(muster_comm *comm);

    /*
     * (required) Leaves and frees. No slot runs and none will be called. Other ranks see an orderly
     * departure: no host->broken there unless abort came first; what they then post to this rank
     * fails with MUSTER_ERR_PEER_LOST. Returns within a second; what takes longer goes on in the
     * background. After it returns host->broken is not called any more for owner.
     */
    void (*close)(muster_comm *comm);

    /*
     * (required) After fork, in the child: releases memory only and sends nothing.
     */
    void (*forget)(muster_comm *comm);

    /* (optional) One line for muster_group_describe: interface, address, transport. Valid while
     * comm lives. */
    const char *(*describe)(muster_comm *comm);

    /*
     * (optional) After MUSTER_ERR_PEER_LOST, until close, from any thread: whether peer may be the
     * one that was lost, since its connection was closed, or another rank says that its was, and it
     * has told neither that it leaves nor that it has failed. It may have failed because of
     * another: the core finds that out. Where it is absent a sentence of a loss is taken as it is.
     */
    bool (*suspects)(muster_comm *comm, int peer);

    /* (optional) Until close, from any thread: whether peer has closed its communicator in good
     * order, as far as this rank has heard. */
    bool (*left)(muster_comm *comm, int peer);
} muster_backend;

#ifdef __cplusplus
}
#endif
#endif
