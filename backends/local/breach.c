/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a communicator breaks.
 */
#include "config.h"

#include "breach.h"

#include <stdarg.h>
#include <stdio.h>

#include "bell.h"
#include "ear.h"

/* A cause as one word: status, traits, who has found it and who is to blame, both from 1 on. */
enum { STATUS_BITS = 8, TRAIT_BITS = 8, RANK_BITS = 24 };

static uint64_t cause_word(muster_status status, int traits, int origin, int blamed)
{
    uint64_t word = (uint64_t)(blamed + 1);
    word = word << RANK_BITS | (uint64_t)(origin + 1);
    word = word << TRAIT_BITS | (uint64_t)traits;
    return word << STATUS_BITS | (uint64_t)status;
}

static int take(uint64_t *word, int bits)
{
    int value = (int)(*word & ((UINT64_C(1) << bits) - 1));
    *word >>= bits;
    return value;
}

static void say(muster_comm *comm, muster_status cause, int rank, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(muster_comm *comm, muster_status cause, int rank, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(comm->cause_text, sizeof(comm->cause_text), format, arguments);
    va_end(arguments);
    comm->cause = cause;
    comm->cause_rank = rank;
}

/* What another rank has found. The lock is held. */
static void take_over(muster_comm *comm, uint64_t word)
{
    muster_status status = (muster_status)take(&word, STATUS_BITS);
    int traits = take(&word, TRAIT_BITS);
    int origin = take(&word, RANK_BITS) - 1, blamed = take(&word, RANK_BITS) - 1;
    if (status != MUSTER_ERR_PEER_LOST)
        say(comm, MUSTER_ERR_REMOTE, origin, "rank %d has broken off the group (%s)", origin,
            status == MUSTER_ERR_TIMEOUT ? "it timed out" : "it failed, or was told to");
    else if (blamed == comm->rank)
        say(comm, MUSTER_ERR_REMOTE, origin, "rank %d has broken off the group: it lost this rank",
            origin);
    else if (traits & BREACH_LEFT)
        say(comm, status, blamed, "rank %d has left the group", blamed);
    else
        say(comm, status, blamed, "the process of rank %d has ended", blamed);
}

/* The lock is held. Whoever waits for a request of its own sees broken when it wakes. */
static void settle(muster_comm *comm)
{
    uint32_t present = SEGMENT_PRESENT;
    segment_cell *mine = comm_cell(comm, comm->rank);
    comm->broken = true;
    atomic_compare_exchange_strong(&mine->state, &present, SEGMENT_FAILED);
    if (comm->hall != NULL)
        hall_break(comm->hall);
    pthread_cond_broadcast(&comm->settled);
    bell_ring(mine);
}

void breach_tell_all(const muster_comm *comm)
{
    for (int peer = 0; peer < comm->size; peer++) {
        if (peer != comm->rank)
            bell_ring(comm_cell(comm, peer));
        ear_speak(comm->peers[peer].ear);
    }
}

void breach_make(muster_comm *comm, muster_status cause, int rank, int traits, const char *format,
                 ...)
{
    uint64_t word = cause_word(cause, traits, comm->rank, rank), before = 0;
    char text[sizeof(comm->cause_text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (comm->size == 1)
        return;
    pthread_mutex_lock(&comm->lock);
    bool found = !comm->broken && atomic_compare_exchange_strong(
                                      &segment_at_head(&comm->memory)->cause, &before, word);
    if (found) {
        say(comm, cause, rank, "%s", text);
        settle(comm);
    }
    breach_notice_locked(comm);
    pthread_mutex_unlock(&comm->lock);
    if (found)
        breach_tell_all(comm);
}

bool breach_is_there(const muster_comm *comm)
{
    return comm->size > 1 && atomic_load(&segment_at_head(&comm->memory)->cause) != 0;
}

bool breach_notice_locked(muster_comm *comm)
{
    if (comm->broken || !breach_is_there(comm))
        return comm->broken;
    take_over(comm, atomic_load(&segment_at_head(&comm->memory)->cause));
    settle(comm);
    return true;
}

bool breach_notice(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool broken = breach_notice_locked(comm);
    pthread_mutex_unlock(&comm->lock);
    return broken;
}

muster_status breach_error(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    /* What this rank has come to by itself it says; others wait for the reason of whoever has. */
    bool own = comm->cause == MUSTER_ERR_PEER_LOST || comm->cause == MUSTER_ERR_NO_MEMORY;
    muster_status status = own ? comm->cause : MUSTER_ERR_FAILED;
    local_host->error(status, "%s", comm->cause_text);
    pthread_mutex_unlock(&comm->lock);
    return status;
}

bool breach_left(muster_comm *comm, int peer)
{
    return atomic_load(&comm_cell(comm, peer)->state) == SEGMENT_LEFT;
}

bool breach_suspects(muster_comm *comm, int peer)
{
    pthread_mutex_lock(&comm->lock);
    bool blamed = comm->cause == MUSTER_ERR_PEER_LOST && comm->cause_rank == peer;
    pthread_mutex_unlock(&comm->lock);
    if (atomic_load(&comm_cell(comm, peer)->state) != SEGMENT_PRESENT)
        return false;
    return blamed || process_ended(comm->peers[peer].process);
}
