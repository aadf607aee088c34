/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives as callers see them: arguments are checked here, once, and the operation is
 * issued.
 *
 * A wrong argument is refused before anything moves, and the group goes on working. Ranks that pass
 * different arguments which are each right by themselves find that out from each other's envelopes.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "collective/compose.h"
#include "base/error.h"
#include "group/failure.h"
#include "collective/work.h"

/* The arguments of any of them; those that an operation lacks are 0. */
typedef struct call {
    const char *function; /* that was called */
    message_kind kind;
    muster_type type;
    muster_reduction redop;
    int root; /* or the peer of send and recv */
    size_t count;
    const void *send;
    void *receive;
    bool sending;     /* of send and recv */
    uint64_t message; /* their number between the two ranks */
    size_t counts[];  /* all_gather_v: one a rank */
} call;

static muster_status wrong(const muster_group *group, const char *function)
{
    return group_error(group, function, MUSTER_ERR_ARGUMENT);
}

static muster_status check_type(const muster_group *group, const char *function, muster_type type)
{
    if (muster_type_size(type) != 0)
        return MUSTER_OK;
    error_set(MUSTER_ERR_ARGUMENT, "%d is no element type; take one of enum muster_type",
              (int)type);
    return wrong(group, function);
}

static muster_status check_size(const muster_group *group, const char *function, size_t count,
                                muster_type type, size_t blocks)
{
    if (count <= SIZE_MAX / 2 / muster_type_size(type) / blocks)
        return MUSTER_OK;
    error_set(MUSTER_ERR_ARGUMENT,
              "%zu elements of %s from %zu ranks are more than memory can hold", count,
              muster_type_name(type), blocks);
    return wrong(group, function);
}

static muster_status check_buffer(const muster_group *group, const char *function,
                                  const void *buffer, size_t count, const char *name)
{
    if (buffer != NULL || count == 0)
        return MUSTER_OK;
    error_set(MUSTER_ERR_ARGUMENT, "%s is NULL, but the count is %zu", name, count);
    return wrong(group, function);
}

static muster_status check_rank(const muster_group *group, const char *function, int rank,
                                const char *name)
{
    if (rank >= 0 && rank < group->size)
        return MUSTER_OK;
    error_set(MUSTER_ERR_ARGUMENT,
              "%s %d is not in 0 to %d; roots and peers are ranks of the group itself", name, rank,
              group->size - 1);
    return wrong(group, function);
}

/* A failure of an operation that was well called. */
static muster_status failed(const muster_group *group, const call *c, muster_status status)
{
    return status == MUSTER_OK ? MUSTER_OK : group_error(group, c->function, status);
}

static message_label label_of(muster_group *group, const call *c)
{
    message_label label = compose_label(group, c->kind);
    label.type = c->type;
    label.redop = c->redop;
    label.root = c->root;
    label.count = c->count;
    return label;
}

static muster_status run_all_gather(muster_group *group, const call *c, const message_label *label,
                                    deadline end)
{
    size_t bytes = c->count * muster_type_size(c->type);
    char *mine = (char *)c->receive + (size_t)group->rank * bytes;
    if (bytes > 0 && mine != c->send)
        memmove(mine, c->send, bytes);
    return compose_all_gather_equal(group, label, c->receive, bytes, end);
}

static muster_status run_all_gather_v(muster_group *group, const call *c,
                                      const message_label *label, deadline end)
{
    size_t n = (size_t)group->size, me = (size_t)group->rank, size = muster_type_size(c->type);
    size_t *bytes = calloc(2 * n, sizeof(size_t)), offset = 0;
    if (bytes == NULL) {
        error_no_memory(2 * n * sizeof(size_t), "a layout");
        return failure_raise(group, MUSTER_ERR_NO_MEMORY);
    }
    size_t *offsets = bytes + n;
    for (size_t r = 0; r < n; r++) {
        bytes[r] = c->counts[r] * size;
        offsets[r] = offset;
        offset += bytes[r];
    }
    char *mine = (char *)c->receive + offsets[me];
    if (bytes[me] > 0 && mine != c->send)
        memmove(mine, c->send, bytes[me]);
    muster_status status =
        compose_all_gather(group, label, c->receive, bytes, offsets, c->counts, end);
    free(bytes);
    return status;
}

/* On the group's thread. */
static muster_status run_collective(muster_group *group, void *arguments)
{
    const call *c = arguments;
    muster_status status = failure_check(group);
    if (status == MUSTER_OK) {
        message_label label = label_of(group, c);
        deadline end = compose_deadline(group);
        size_t bytes = c->count * muster_type_size(c->type);
        if (c->kind == MESSAGE_BARRIER)
            status = compose_barrier(group, &label, end);
        else if (c->kind == MESSAGE_BROADCAST)
            status = compose_broadcast(group, &label, c->receive, bytes, end);
        else if (c->kind == MESSAGE_ALL_REDUCE)
            status = compose_all_reduce(group, &label, c->send, c->receive, end);
        else if (c->kind == MESSAGE_ALL_GATHER)
            status = run_all_gather(group, c, &label, end);
        else
            status = run_all_gather_v(group, c, &label, end);
        atomic_store(&group->running, 0);
    }
    return failed(group, c, status);
}

muster_status muster_barrier(muster_group *group, muster_work **work)
{
    muster_status status = group_ready(group, "muster_barrier");
    if (status != MUSTER_OK)
        return status;
    call c = {
        .function = "muster_barrier", .kind = MESSAGE_BARRIER, .type = MUSTER_UINT8, .root = -1};
    return work_issue(group, run_collective, &c, sizeof(c), work);
}

muster_status muster_broadcast(muster_group *group, void *buffer, size_t count, muster_type type,
                               int root, muster_work **work)
{
    static const char *const name = "muster_broadcast";
    muster_status status = group_ready(group, name);
    if (status == MUSTER_OK)
        status = check_type(group, name, type);
    if (status == MUSTER_OK)
        status = check_size(group, name, count, type, 1);
    if (status == MUSTER_OK)
        status = check_buffer(group, name, buffer, count, "buffer");
    if (status == MUSTER_OK)
        status = check_rank(group, name, root, "root");
    if (status != MUSTER_OK)
        return status;
    call c = {
        .kind = MESSAGE_BROADCAST, .type = type, .root = root, .count = count, .receive = buffer};
    return work_issue(group, run_collective, &c, sizeof(c), work);
}

muster_status muster_all_reduce(muster_group *group, const void *send, void *receive, size_t count,
                                muster_type type, muster_reduction redop, muster_work **work)
{
    static const char *const name = "muster_all_reduce";
    muster_status status = group_ready(group, name);
    if (status == MUSTER_OK)
        status = check_type(group, name, type);
    if (status == MUSTER_OK)
        status = check_size(group, name, count, type, 1);
    if (status == MUSTER_OK)
        status = check_buffer(group, name, send, count, "send");
    if (status == MUSTER_OK)
        status = check_buffer(group, name, receive, count, "receive");
    if (status != MUSTER_OK)
        return status;
    if ((unsigned)redop >= MUSTER_NUM_REDUCTIONS) {
        error_set(MUSTER_ERR_ARGUMENT, "%d is no reduction; take one of enum muster_reduction",
                  (int)redop);
        return wrong(group, name);
    }
    call c = {.function = name,
              .kind = MESSAGE_ALL_REDUCE,
              .type = type,
              .redop = redop,
              .root = -1,
              .count = count,
              .send = send,
              .receive = receive};
    return work_issue(group, run_collective, &c, sizeof(c), work);
}

muster_status muster_all_gather(muster_group *group, const void *send, void *receive, size_t count,
                                muster_type type, muster_work **work)
{
    static const char *const name = "muster_all_gather";
    muster_status status = group_ready(group, name);
    if (status == MUSTER_OK)
        status = check_type(group, name, type);
    if (status == MUSTER_OK)
        status = check_size(group, name, count, type, (size_t)group->size);
    if (status == MUSTER_OK)
        status = check_buffer(group, name, send, count, "send");
    if (status == MUSTER_OK)
        status = check_buffer(group, name, receive, count, "receive");
    if (status != MUSTER_OK)
        return status;
    call c = {.function = name,
              .kind = MESSAGE_ALL_GATHER,
              .type = type,
              .root = -1,
              .count = count,
              .send = send,
              .receive = receive};
    return work_issue(group, run_collective, &c, sizeof(c), work);
}

static muster_status check_counts(const muster_group *group, const char *name, const size_t *counts,
                                  muster_type type, size_t *total)
{
    if (counts == NULL) {
        error_set(MUSTER_ERR_ARGUMENT, "counts is NULL; it takes one number for each rank");
        return wrong(group, name);
    }
    *total = 0;
    muster_status status = MUSTER_OK;
    for (int r = 0; status == MUSTER_OK && r < group->size; r++) {
        status = check_size(group, name, counts[r], type, 1);
        if (status == MUSTER_OK)
            status = check_size(group, name, *total += counts[r], type, 1);
    }
    return status;
}

muster_status muster_all_gather_v(muster_group *group, const void *send, void *receive,
                                  const size_t *counts, muster_type type, muster_work **work)
{
    static const char *const name = "muster_all_gather_v";
    size_t total = 0;
    muster_status status = group_ready(group, name);
    if (status == MUSTER_OK)
        status = check_type(group, name, type);
    if (status == MUSTER_OK)
        status = check_counts(group, name, counts, type, &total);
    if (status == MUSTER_OK)
        status = check_buffer(group, name, send, counts[group->rank], "send");
    if (status == MUSTER_OK)
        status = check_buffer(group, name, receive, total, "receive");
    if (status != MUSTER_OK)
        return status;
    size_t bytes = sizeof(call) + (size_t)group->size * sizeof(*counts);
    call *c = malloc(bytes);
    if (c == NULL)
        return error_no_memory(bytes, "counts");
    *c = (call){
        .kind = MESSAGE_ALL_GATHER_V, .type = type, .root = -1, .send = send, .receive = receive};
    memcpy(c->counts, counts, (size_t)group->size * sizeof(*counts));
    status = work_issue(group, run_collective, c, bytes, work);
    free(c);
    return status;
}

/* On a thread of its own, since what the other rank does first is its own affair. */
static muster_status run_message(muster_group *group, void *arguments)
{
    const call *c = arguments;
    message_label label = {.kind = MESSAGE_SEND,
                           .type = c->type,
                           .root = -1,
                           .sequence = c->message,
                           .count = c->count,
                           .receiving = !c->sending};
    message one;
    size_t bytes = c->count * muster_type_size(c->type);
    if (c->sending)
        message_to(&one, c->root, &label, c->send, bytes);
    else
        message_from(&one, c->root, &label, c->receive, bytes);
    return failed(group, c, messages_carry(group, &one, 1, compose_deadline(group)));
}

static muster_status check_message(muster_group *group, const char *name, const void *buffer,
                                   size_t count, muster_type type, int peer, const char *peer_name)
{
    muster_status status = group_ready(group, name);
    if (status == MUSTER_OK)
        status = check_type(group, name, type);
    if (status == MUSTER_OK)
        status = check_size(group, name, count, type, 1);
    if (status == MUSTER_OK)
        status = check_buffer(group, name, buffer, count, "buffer");
    if (status == MUSTER_OK)
        status = check_rank(group, name, peer, peer_name);
    if (status == MUSTER_OK && peer == group->rank) {
        error_set(MUSTER_ERR_ARGUMENT, "%s is the calling rank itself; copy the buffer instead",
                  peer_name);
        status = wrong(group, name);
    }
    return status;
}

/* Blocking, the caller's own thread waits: the messages are posted at once and no thread is needed.
 */
static muster_status issue_message(muster_group *group, call *c, muster_work **work)
{
    if (work != NULL)
        return work_issue_apart(group, run_message, c, sizeof(*c), work);
    return run_message(group, c);
}

muster_status muster_send(muster_group *group, const void *buffer, size_t count, muster_type type,
                          int destination, muster_work **work)
{
    muster_status status =
        check_message(group, "muster_send", buffer, count, type, destination, "destination");
    if (status != MUSTER_OK)
        return status;
    call c = {.function = "muster_send",
              .sending = true,
              .type = type,
              .root = destination,
              .count = count,
              .send = buffer,
              .message = atomic_fetch_add(&group->sends[destination], 1)};
    return issue_message(group, &c, work);
}

muster_status muster_recv(muster_group *group, void *buffer, size_t count, muster_type type,
                          int source, muster_work **work)
{
    muster_status status =
        check_message(group, "muster_recv", buffer, count, type, source, "source");
    if (status != MUSTER_OK)
        return status;
    call c = {.function = "muster_recv",
              .type = type,
              .root = source,
              .count = count,
              .receive = buffer,
              .message = atomic_fetch_add(&group->receives[source], 1)};
    return issue_message(group, &c, work);
}
