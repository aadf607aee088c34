/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread of a device, on which all of NCCL's calls for it are made, one after the other, so
 * that operations of several communicators come to the device in one order. It is there while a
 * communicator is, and it is replaced by another one where it does not come back from a call, or
 * where NCCL has left it in a state that is of no use.
 */
#ifndef MUSTER_BACKENDS_NCCL_OWNER_H
#define MUSTER_BACKENDS_NCCL_OWNER_H

#include "base/deadline.h"
#include "cuda_api.h"
#include "muster/backend.h"

typedef struct owner owner;

/* What is looked after on the thread: a communicator embeds one. */
typedef struct owner_member {
    /* A turn of work, on the thread, one at a time; returns in how many nanoseconds it would like
     * the next. */
    int64_t (*step)(struct owner_member *member);

    /* On the thread that was given up in a step, once that step has come back after all. */
    void (*late)(struct owner_member *member);

    /* The thread's own. */
    owner *of;
    struct owner_member *next;
    int64_t due_ns;
} owner_member;

/* The record of a device; the same for each call. NULL without memory. */
owner *owner_of(const cuda_api *cuda, int device);

/* Steps the member from now on; starts the thread where it is the first. step and late are set. */
muster_status owner_join(owner *of, owner_member *member);

/* Its next step is due at once. From any thread; not after it has left. */
void owner_poke(owner_member *member);

/*
 * No step of the member is run any more. Waits for the one that is being run, until end at most;
 * false: it has not come back and the thread is given up, which will call late. Not from a step.
 */
bool owner_leave(owner_member *member, deadline end);

/* What the member stood for makes no use of the device any more: once for each join, some time
 * after leaving. True: nobody does now. */
bool owner_done(owner *of);
bool owner_is_idle(owner *of);

/* Whether NCCL has come back from all that it was asked on the device, so that nothing which has
 * ended can still touch memory. */
bool owner_is_sound(owner *of);

/* From a step: the thread ends after it, and another one takes its place. */
void owner_renew(void);

/*
 * Aborts that run: NCCL may not come back from one, and then the device is of no use. Between begin
 * and end one more is counted. owner_await_aborts waits until there is none; false where the time
 * is over first.
 */
void owner_abort_begin(owner *of);
void owner_abort_end(owner *of);
bool owner_await_aborts(owner *of, deadline end);

/* The sentence for a thread that can't be started; purpose is "for ..." or "that ...", error its
 * number. */
muster_status owner_no_thread(const char *purpose, int error);

#endif
