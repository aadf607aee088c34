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
#include <muster/point_to_point.h>
#include <muster/reduction.h>
#include <muster/status.h>
#include <muster/type.h>

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

/*
 * ---- Devices --------------------------------------------------------------------------------
 *
 * A backend whose ranks have a device each moves device memory by calls (struct muster_call), not
 * by messages, and hands the core a table of what can be done with such memory. A stream is that of
 * the device's runtime (a cudaStream_t); a device is an ordinal as this process counts them.
 */

typedef enum muster_memory_kind {
    MUSTER_MEMORY_HOST,   /* also what the device's runtime has never heard of */
    MUSTER_MEMORY_DEVICE, /* the host can't touch it */
    MUSTER_MEMORY_MANAGED /* host and device can */
} muster_memory_kind;

typedef struct muster_memory_place {
    uint32_t size;
    muster_memory_kind kind;
    int device; /* -1 for host memory */
} muster_memory_place;

/* One device of this process. Two processes compare devices by uuid, or by bus_id where there is
 * none; never by ordinal. */
typedef struct muster_device_info {
    uint32_t size;
    char name[128];
    char uuid[64];   /* "GPU-..." or "MIG-..."; "" if unknown */
    char bus_id[32]; /* "0000:3b:00.0" */
    bool slice;      /* a part of a device, as MIG makes them */
    int compute_major;
    int compute_minor;
} muster_device_info;

/* A copy that has been started. Each backend defines its own. */
typedef struct muster_copy muster_copy;

/*
 * What can be done with device memory. Every function may be called from any thread and leaves the
 * calling thread's current device as it was. Each that fails says why through host->error. Those
 * that take a timeout_ms fail with MUSTER_ERR_TIMEOUT not long after it where the runtime does not
 * come back, and count, current and describe after host->patience_ms; none of the others waits for
 * the device. Only in_use may be called before one of the
 * others, or open, has succeeded in this process, or where in_use says false and no group has a
 * device.
 */
typedef struct muster_device_table {
    uint32_t size;

    /* Whether a pointer of this process can be device memory at all: whether something in it has
     * loaded the device's driver. Loads nothing itself; costs less than a microsecond once it has
     * been true. */
    bool (*in_use)(void);

    /* How many devices this process has; the current one of the calling thread, where the process
     * has made use of one, or -1. These load what is needed. */
    muster_status (*count)(int *count);
    muster_status (*current)(int *device);
    muster_status (*describe)(int device, muster_device_info *info);

    /* Where the memory at pointer is. Asks on the calling thread, for speed: it has no bound unless
     * something else is known to hang. */
    muster_status (*locate)(const void *pointer, muster_memory_place *place);

    /* Memory of a device, and host memory that it copies from and to fast. free_memory takes
     * either and returns soon, whatever the device does: what takes longer goes on in the
     * background, and memory may be kept to be used again. NULL does nothing. */
    muster_status (*alloc_device)(int device, size_t size, int64_t timeout_ms, void **memory);
    muster_status (*alloc_pinned)(int device, size_t size, int64_t timeout_ms, void **memory);
    void (*free_memory)(int device, void *memory);

    /* A stream that is ordered with the device's default one. */
    muster_status (*stream_open)(int device, bool high_priority, int64_t timeout_ms, void **stream);
    void (*stream_close)(int device, void *stream);

    /*
     * Starts a copy of size bytes, behind what stream has to do, and returns at once; host memory
     * should be pinned. copy_wait waits until it is done and frees it, in every case, polling so
     * that it ends after timeout_ms (MUSTER_ERR_TIMEOUT; the copy may then still touch the memory).
     */
    muster_status (*copy_start)(int device, void *stream, void *to, const void *from, size_t size,
                                int64_t timeout_ms, muster_copy **copy);
    muster_status (*copy_wait)(muster_copy *copy, int64_t timeout_ms);
} muster_device_table;

typedef enum muster_operation {
    MUSTER_OPERATION_BARRIER = 1,
    MUSTER_OPERATION_BROADCAST,
    MUSTER_OPERATION_REDUCE,
    MUSTER_OPERATION_ALL_REDUCE,
    MUSTER_OPERATION_GATHER, /* as GATHER_V; counts are given all the same, here and below */
    MUSTER_OPERATION_SCATTER,
    MUSTER_OPERATION_ALL_GATHER,
    MUSTER_OPERATION_REDUCE_SCATTER,
    MUSTER_OPERATION_ALL_TO_ALL,
    MUSTER_OPERATION_SEND_RECV /* transfers, all at once */
} muster_operation;

/*
 * An operation on memory of a device, or of the host for run. All ranks give the same operation,
 * type, redop and root, in the same order; send and receive may be the same where the header of the
 * operation allows it. Blocks of ranks are described by counts and offsets, one a rank, in
 * elements; where all blocks are alike and behind one another, uniform is true, on all ranks or on
 * none, and count is that of one. Where they are not, count is for run that of the largest block of
 * any rank, the same on all, and two ranks of which one has a block for the other agree on its
 * count.
 */
typedef struct muster_call {
    uint32_t size;
    muster_operation operation;
    muster_type type;
    muster_reduction redop; /* for the operations that reduce */
    double scalar;          /* of MUSTER_PREMUL_SUM, this rank's */
    int root;
    size_t
        count; /* of elements in the buffer of broadcast, reduce and all_reduce, else in a block */
    const void *send;
    void *receive;
    bool uniform;
    const size_t *send_counts; /* gather: [rank] only is looked at; reduce_scatter: all */
    const size_t *send_offsets;
    const size_t *receive_counts; /* scatter and reduce_scatter: [rank] only */
    const size_t *receive_offsets;
    const muster_transfer *transfers; /* of MUSTER_OPERATION_SEND_RECV; peers may be this rank */
    size_t num_transfers;
    void *stream; /* the operation comes behind what it has to do, and what follows behind it */
    int64_t timeout_ms; /* for it to be on the stream when call returns; 0: as long as open had.
                           For run: until it has to be done */

    /*
     * For run alone: label_size bytes, at most MUSTER_LABEL_MAX and the same for all calls of all
     * ranks, that mean nothing to the backend. Before it moves anything it compares them with those
     * of other ranks, so that all ranks whose label differs from another's, or who would wait for
     * such a rank, fail with MUSTER_ERR_MISMATCH: then *other_rank is a rank whose label differs
     * from this one's and the label_size bytes at other_label are that rank's label; where this
     * rank has only heard of it from others *other_rank is -1.
     */
    const void *label;
    uint32_t label_size;
    void *other_label;
    int *other_rank;
} muster_call;

#define MUSTER_LABEL_MAX 48

/* The array of one rank, and what its elements are multiplied by in a MUSTER_PREMUL_SUM. */
typedef struct muster_reduce_input {
    const void *data;
    double scalar;
} muster_reduce_input;

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

    /*
     * How long the calling thread may wait for something that may hang, in a function without a
     * time-out of its own: in probe, and in those of the table of devices. Short of the time-out of
     * the group that is being made, so that the group can be made without.
     */
    int64_t (*patience_ms)(void);

    /*
     * out[i] becomes the reduction of inputs[0..n)[i], taken in this order, n at least 1, for count
     * elements in host memory; redop as in struct muster_call. out may be one of the inputs, or
     * begin below one of them. The same inputs give the same bits on every rank.
     */
    void (*reduce)(void *out, const muster_reduce_input *inputs, size_t n, size_t count,
                   muster_type type, muster_reduction redop);
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
    int num_ranks; /* at least 2; where a backend with devices was asked for by name, at least 1 */
    const char *group_name;
    int64_t timeout_ms;  /* for open as a whole */
    const char *address; /* numeric IPv4 or IPv6 address to use, all ranks in one family */
    bool one_host;       /* all ranks are on this host */
    int ranks_here;      /* ranks on this host, the caller's included */
    int cores_here;      /* cores this process may run on */
    int device;          /* of this rank, for a backend with devices; else -1 */
    void *stream;        /* to open on, for such a backend */

    /* The communicator of the group that this one is made of, where every rank of that one opens
     * one now, all in the same order: it may be split. Else NULL. color tells apart the groups that
     * come out of the same split; a rank's place in its group is as in the parent. */
    muster_comm *parent;
    int color;
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
     * (required, unless call is there) Post one message of size bytes (never 0) to or from peer.
     * Messages of one pair, slot and direction arrive in the order posted; slots do not wait for
     * each other. Never blocks, may be called from any thread at once, with signals unblocked too.
     * data must live until wait has returned. The core guarantees that both sides post the same
     * size. A peer that has left in good order is MUSTER_ERR_PEER_LOST, but for the receive of what
     * it has sent before, and breaks nothing by that. On failure *request is not touched.
     */
    muster_status (*post_send)(muster_comm *comm, int peer, uint64_t slot, const void *data,
                               size_t size, muster_request **request);
    muster_status (*post_recv)(muster_comm *comm, int peer, uint64_t slot, void *data, size_t size,
                               muster_request **request);

    /*
     * (required) Waits until the request is complete (the data is in place, or may be changed
     * again) and frees it, in every case. MUSTER_ERR_TIMEOUT, MUSTER_ERR_PEER_LOST (also for a
     * message that a peer which has left will never send or take), MUSTER_ERR_FAILED after abort:
     * then the communicator is broken, and every later call on it fails at once, a wait for a
     * message that has come whole too: with MUSTER_ERR_PEER_LOST after that one, else with
     * MUSTER_ERR_FAILED. May be called for several requests at once from several threads. After a
     * failure the data buffers are not touched any more. What was waited for in vain the core says
     * by itself; with devices, the sentence of a time-out is what there is to say besides, or "".
     */
    muster_status (*wait)(muster_comm *comm, muster_request *request, int64_t timeout_ms);

    /*
     * (required) From any thread, more than once: breaks the communicator. Pending and later waits
     * return at once with MUSTER_ERR_FAILED, and so do those of the other ranks, who are told:
     * their host->broken is called with this rank and MUSTER_ERR_REMOTE. So they are where it
     * breaks for another reason, by a wait that timed out, say; where that is a rank that was lost
     * they are told of that one, with MUSTER_ERR_PEER_LOST. host->broken is called for the first
     * of these alone, and never for what a slot of this rank has returned. Never blocks. A backend
     * with devices may have no way to tell them: their operations then end when the core calls
     * abort there too, or with their time-outs.
     */
    void (*abort)(muster_comm *comm);

    /*
     * (required) Leaves and frees. No slot runs and none will be called. Other ranks see an orderly
     * departure: no host->broken there unless abort came first, or a message was posted here that
     * nobody has waited for, which is as an abort and is freed too; what they then post to this
     * rank fails with MUSTER_ERR_PEER_LOST, and what it has sent they can still receive. Returns
     * within a second; what takes longer goes on in the background. After it returns host->broken
     * is not called any more for owner. With devices the others see nothing, and what they then
     * call times out.
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

    /* (optional) After run has returned MUSTER_ERR_TIMEOUT, until close: whether peer came to that
     * operation all the same, so that nobody waited for it. */
    bool (*has_come)(muster_comm *comm, int peer);

    /* ---- A backend with devices has all of these, one without has none but can. ---- */

    const muster_device_table *devices;

    /* Whether call, or run, can carry the operation out; depends on operation, type, redop and, of
     * run, uniform alone, and is the same on every rank. What it can't the core composes of what it
     * can. */
    bool (*can)(muster_comm *comm, const muster_call *call);

    /*
     * Starts an operation on memory of the comm's device, on call->stream; arrays of the call need
     * live until it returns only. Called from one thread at a time. The request is complete when
     * the operation has run on the device; wait says whether it went well, and breaks the
     * communicator when it doesn't come back in time. On failure *request is not touched.
     */
    muster_status (*call)(muster_comm *comm, const muster_call *call, muster_request **request);

    /* Whether the request is complete or has failed, so that wait would not block. */
    bool (*test)(muster_comm *comm, muster_request *request);

    /* ---- A backend without devices may have this one, and then has can. ---- */

    /*
     * Carries a whole operation on host memory out on the calling thread, and returns when it is
     * done here. Any thread may call it, with signals unblocked too (EINTR is the backend's), but
     * one at a time, in the same order on all ranks; messages may run meanwhile on other threads.
     * Never called for MUSTER_OPERATION_SEND_RECV. Of the arrays of the call those that the
     * operation has a use for are there only where uniform is false. can must say true to a
     * barrier: where it says false to an operation the core has a barrier with that operation's
     * label instead, and then moves the data by messages.
     *
     * MUSTER_ERR_MISMATCH as above, MUSTER_ERR_TIMEOUT, MUSTER_ERR_PEER_LOST, MUSTER_ERR_FAILED
     * after abort (which may come from any thread while it runs): then the communicator is broken,
     * as after wait, and no buffer of this rank is touched any more when run returns. How the
     * result of a reduction is rounded, and in which order the ranks are taken, is that of
     * host->reduce: rank 0 first, one after the other, for every element.
     */
    muster_status (*run)(muster_comm *comm, const muster_call *call);

    /* (optional) Until close, from any thread: how many operations run has carried out, and how
     * many bytes this rank has given to others in them, once where several take the same ones, and
     * taken from others. */
    void (*traffic)(muster_comm *comm, uint64_t *operations, uint64_t *given, uint64_t *taken);
} muster_backend;

#ifdef __cplusplus
}
#endif
#endif
