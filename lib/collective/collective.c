/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives as callers see them: each puts its arguments together, which are checked here and
 * issued to the group's thread.
 */
#include "config.h"

#include "collective/agree.h"
#include "collective/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "group/failure.h"
#include "collective/bulk.h"
#include "collective/work.h"
#include "collective/work_handle.h"

/* A call on its way to the thread that runs it. Where the caller does not wait copies of the counts
 * are behind it. */
typedef struct issued {
    collective_call call;
    route way;
    bool copied;
    size_t counts[];
} issued;

static inline message_label label_of(muster_group *group, const collective_call *call)
{
    return (message_label){.kind = call->kind,
                           .type = call->type,
                           .redop = call->redop,
                           .root = call->root,
                           .sequence = compose_number(group),
                           .count = call->count,
                           .scalar = call->scalar};
}

/* The layout of a buffer that holds a block for each rank; of another it stays empty. */
static bool lay_out(const muster_group *group, const collective_call *call,
                    collective_amount amount, bool here, layout *out)
{
    size_t n = (size_t)group->size, size = muster_type_size(call->type);
    if (amount == AMOUNT_BLOCKS || (amount == AMOUNT_COUNTS && !here))
        return layout_equal(out, n, call->count, size);
    if (amount == AMOUNT_COUNTS)
        return layout_ragged(out, n, call->counts, size);
    return amount != AMOUNT_FROM || layout_ragged(out, n, call->from_counts, size);
}

static muster_status run_with_layouts(muster_group *group, const collective_call *call,
                                      const route *way, message_label *label, deadline end)
{
    const collective *what = collective_of(call->kind);
    layout out = {NULL, NULL, NULL}, in = out;
    muster_status status = MUSTER_OK;
    bool needed = way->table != NULL || bulk_needs_layouts(group, call);
    if (needed && (!lay_out(group, call, what->send, collective_sends(group, call), &out) ||
                   !lay_out(group, call, what->receive, collective_receives(group, call), &in)))
        status = compose_no_memory(group, (size_t)group->size * 3 * sizeof(size_t), "a layout");
    if (status == MUSTER_OK && group->checks)
        status = agree_on_call(group, call, way, label, end);
    if (status == MUSTER_OK && (way->table != NULL || group->in_pieces))
        status = route_run(group, call, label, &out, &in, way, end);
    else if (status == MUSTER_OK)
        status = bulk_carry(group, call, label, &out, &in, end);
    layout_free(&out);
    layout_free(&in);
    return status;
}

/* What leaves a sentence behind only where it fails goes without keeping the one before. */
static muster_status run_call(muster_group *group, const collective_call *call, const route *way)
{
    message_label label = label_of(group, call);
    deadline end = compose_deadline(group);
    muster_status status;
    int64_t timeout_ms = atomic_load_explicit(&group->timeout_ms, memory_order_relaxed);
    bool plain = way->table == NULL && !group->checks && !group->in_pieces;
    if (plain && bulk_try(group, call, &label, end, timeout_ms, &status))
        return status;
    error_kept before;
    error_keep(&before);
    return error_settle(&before, run_with_layouts(group, call, way, &label, end));
}

/* In the order of the group's operations. */
static muster_status run(muster_group *group, void *arguments)
{
    issued *taken = arguments;
    collective_call *call = &taken->call;
    if (taken->copied && call->counts != NULL)
        call->counts = taken->counts;
    if (taken->copied && call->from_counts != NULL)
        call->from_counts = taken->counts + group->size;
    muster_status status = failure_check(group);
    if (status == MUSTER_OK)
        status = run_call(group, call, &taken->way);
    return status == MUSTER_OK ? MUSTER_OK
                               : group_error(group, collective_of(call->kind)->function, status);
}

static muster_status issue_with_counts(muster_group *group, const collective_call *call,
                                       const route *way, muster_work **work)
{
    size_t n = (size_t)group->size, bytes = sizeof(issued) + 2 * n * sizeof(size_t);
    issued *whole = calloc(1, bytes);
    if (whole == NULL)
        return error_no_memory(bytes, "counts");
    whole->call = *call;
    whole->way = *way;
    whole->copied = true;
    memcpy(whole->counts, call->counts, n * sizeof(size_t));
    if (call->from_counts != NULL)
        memcpy(whole->counts + n, call->from_counts, n * sizeof(size_t));
    muster_status status = work_issue(group, run, whole, bytes, work);
    free(whole);
    return status;
}

/* A call that this rank refuses, for the reason given by its status and sentence. */
typedef struct refusal {
    collective_call call;
    muster_status status;
    char sentence[ERROR_SIZE];
} refusal;

/* On the group's thread. */
static muster_status run_refused(muster_group *group, void *arguments)
{
    const refusal *refused = arguments;
    muster_status status = failure_check(group);
    if (status == MUSTER_OK) {
        const message_label label = label_of(group, &refused->call);
        status = agree_on_refused(group, &label, refused->sentence, compose_deadline(group));
    }
    if (status == MUSTER_OK)
        status = error_set(refused->status, "%s", refused->sentence);
    return group_error(group, collective_of(refused->call.kind)->function, status);
}

/* With MUSTER_CHECK the others learn it, and it counts in the order of calls. A call with a handle
 * waits for nothing. */
static muster_status refuse(muster_group *group, const collective_call *call, muster_status status,
                            muster_work **work)
{
    refusal refused = {.call = *call, .status = status};
    snprintf(refused.sentence, sizeof(refused.sentence), "%s", muster_last_error());
    if (group->checks && group->queue != NULL) {
        muster_work *handle = NULL;
        muster_status outcome = work_issue(group, run_refused, &refused, sizeof(refused),
                                           work == NULL ? NULL : &handle);
        muster_work_free(handle);
        if (work == NULL || outcome != MUSTER_OK)
            return outcome;
    }
    error_set(status, "%s", refused.sentence);
    return group_error(group, collective_of(call->kind)->function, status);
}

/* A rank that moves nothing may have no buffer that says which way the others go. It goes the way
 * of host memory, where the others look for it: see native_tell_idle. */
static muster_status find_way(muster_group *group, const collective_call *call, route *way)
{
    const void *send = collective_sends(group, call) ? call->send : NULL;
    const void *receive = collective_receives(group, call) ? call->receive : NULL;
    bool one = collective_of(call->kind)->send == AMOUNT_NONE;
    muster_status status = route_find(group, send, receive, one ? "buffer" : "receive", way);
    bool matters = way->table != NULL || group->checks;
    if (status == MUSTER_OK && matters && collective_is_idle(group, call))
        *way = (route){.idle = true};
    return status;
}

/* The public functions end in this. */
static muster_status issue(muster_group *group, collective_call *call, muster_work **work)
{
    const collective *what = collective_of(call->kind);
    muster_status status = group_ready(group, what->function);
    if (status != MUSTER_OK)
        return status;
    status = work == NULL && group->queue != NULL ? work_handle_may_wait() : MUSTER_OK;
    if (status != MUSTER_OK)
        return group_error(group, what->function, status);
    status = collective_check(group, call);
    if (status != MUSTER_OK)
        return refuse(group, call, status, work);
    issued plain;
    status = find_way(group, call, &plain.way);
    plain.way.handle = work != NULL;
    if (status != MUSTER_OK)
        return refuse(group, call, status, work);
    if ((what->traits & SEND_AT_ROOT && !collective_sends(group, call)) ||
        (what->traits & RECEIVE_AT_ROOT && !collective_receives(group, call)))
        call->counts = NULL;
    plain.call = *call;
    plain.copied = false;
    if (work == NULL)
        return work_call(group, run, &plain, sizeof(plain));
    if (call->counts != NULL)
        return issue_with_counts(group, call, &plain.way, work);
    return work_issue(group, run, &plain, sizeof(plain), work);
}

/* As many elements from or for every rank. */
static muster_status issue_equal(muster_group *group, message_kind kind, const void *send,
                                 void *receive, size_t count, muster_type type,
                                 muster_reduction redop, int root, muster_work **work)
{
    collective_call call = {kind, type, redop, 1, root, count, send, receive, NULL, NULL};
    return issue(group, &call, work);
}

/* Where there is no reduction. */
static const muster_reduction none = MUSTER_SUM;

muster_status muster_barrier(muster_group *group, muster_work **work)
{
    return issue_equal(group, MESSAGE_BARRIER, NULL, NULL, 0, MUSTER_UINT8, none, -1, work);
}

muster_status muster_broadcast(muster_group *group, void *buffer, size_t count, muster_type type,
                               int root, muster_work **work)
{
    return issue_equal(group, MESSAGE_BROADCAST, NULL, buffer, count, type, none, root, work);
}

muster_status muster_reduce(muster_group *group, const void *send, void *receive, size_t count,
                            muster_type type, muster_reduction redop, int root, muster_work **work)
{
    return issue_equal(group, MESSAGE_REDUCE, send, receive, count, type, redop, root, work);
}

muster_status muster_all_reduce(muster_group *group, const void *send, void *receive, size_t count,
                                muster_type type, muster_reduction redop, muster_work **work)
{
    return issue_equal(group, MESSAGE_ALL_REDUCE, send, receive, count, type, redop, -1, work);
}

muster_status muster_gather(muster_group *group, const void *send, void *receive, size_t count,
                            muster_type type, int root, muster_work **work)
{
    return issue_equal(group, MESSAGE_GATHER, send, receive, count, type, none, root, work);
}

muster_status muster_scatter(muster_group *group, const void *send, void *receive, size_t count,
                             muster_type type, int root, muster_work **work)
{
    return issue_equal(group, MESSAGE_SCATTER, send, receive, count, type, none, root, work);
}

muster_status muster_all_gather(muster_group *group, const void *send, void *receive, size_t count,
                                muster_type type, muster_work **work)
{
    return issue_equal(group, MESSAGE_ALL_GATHER, send, receive, count, type, none, -1, work);
}

muster_status muster_reduce_scatter(muster_group *group, const void *send, void *receive,
                                    size_t count, muster_type type, muster_reduction redop,
                                    muster_work **work)
{
    return issue_equal(group, MESSAGE_REDUCE_SCATTER, send, receive, count, type, redop, -1, work);
}

muster_status muster_all_to_all(muster_group *group, const void *send, void *receive, size_t count,
                                muster_type type, muster_work **work)
{
    return issue_equal(group, MESSAGE_ALL_TO_ALL, send, receive, count, type, none, -1, work);
}

muster_status muster_gather_v(muster_group *group, const void *send, size_t count, void *receive,
                              const size_t *counts, muster_type type, int root, muster_work **work)
{
    collective_call call = {MESSAGE_GATHER_V, type,   none, 1, root, count, send,
                            receive,          counts, NULL};
    return issue(group, &call, work);
}

muster_status muster_scatter_v(muster_group *group, const void *send, const size_t *counts,
                               void *receive, size_t count, muster_type type, int root,
                               muster_work **work)
{
    collective_call call = {MESSAGE_SCATTER_V, type,   none, 1, root, count, send,
                            receive,           counts, NULL};
    return issue(group, &call, work);
}

muster_status muster_all_gather_v(muster_group *group, const void *send, void *receive,
                                  const size_t *counts, muster_type type, muster_work **work)
{
    collective_call call = {
        MESSAGE_ALL_GATHER_V, type, none, 1, -1, 0, send, receive, counts, NULL};
    return issue(group, &call, work);
}

muster_status muster_reduce_scatter_v(muster_group *group, const void *send, void *receive,
                                      const size_t *counts, muster_type type,
                                      muster_reduction redop, muster_work **work)
{
    collective_call call = {
        MESSAGE_REDUCE_SCATTER_V, type, redop, 1, -1, 0, send, receive, counts, NULL};
    return issue(group, &call, work);
}

muster_status muster_all_to_all_v(muster_group *group, const void *send, const size_t *send_counts,
                                  void *receive, const size_t *receive_counts, muster_type type,
                                  muster_work **work)
{
    collective_call call = {MESSAGE_ALL_TO_ALL_V, type,          none, 1, -1, 0, send, receive,
                            send_counts,          receive_counts};
    return issue(group, &call, work);
}
