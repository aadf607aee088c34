/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The watch: notes from the peers, and their deaths.
 */
#include "config.h"

#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/signals.h"
#include "failure.h"
#include "note.h"

static bool is_lost(muster_comm *comm, int peer)
{
    return peer != comm->rank && !note_peer_left(comm, peer) && failure_is_closed(comm, peer);
}

/* Fills words with the peers that are lost, "2-3,5", and returns the first, -1 if there is none. */
static int find_lost(muster_comm *comm, char *words, size_t size, int *count)
{
    int first = -1;
    size_t used = 0;
    *count = 0;
    for (int peer = 0; peer < comm->size; peer++) {
        int from = peer;
        while (peer < comm->size && is_lost(comm, peer))
            peer++;
        if (peer == from)
            continue;
        if (used < size)
            used +=
                (size_t)snprintf(words + used, size - used, "%s%d", *count == 0 ? "" : ",", from);
        if (used < size && peer - from > 1)
            used += (size_t)snprintf(words + used, size - used, "-%d", peer - 1);
        first = first < 0 ? from : first;
        *count += peer - from;
    }
    return first;
}

/* The watch has failed: some connection was closed, or all. */
static void judge_failure(muster_comm *comm, const gloo_c_why *why)
{
    failure_break_if_overdue(comm);
    if (failure_is_broken(comm))
        return;
    char lost[128];
    int count, first = find_lost(comm, lost, sizeof(lost), &count);
    /* Others that have found the same may have closed by now; they have said whom they lost. */
    note_read_all(comm);
    if (first >= 0)
        failure_break(comm, MUSTER_ERR_PEER_LOST, first,
                      count == 1 ? "the connection to rank %s was closed: %s"
                                 : "the connections to ranks %s were closed: %s",
                      lost, why->text);
    else
        failure_break(comm, MUSTER_ERR_PEER_LOST, -1, "a connection was closed: %s", why->text);
}

/* Tells the core, unless it knows already or does not want to know any more. */
static void report(muster_comm *comm)
{
    char sentence[sizeof(comm->cause_text)];
    pthread_mutex_lock(&comm->lock);
    bool wanted = !comm->closing && !comm->aborted && comm->cause != MUSTER_ERR_TIMEOUT;
    muster_status cause = comm->cause;
    int rank = comm->cause_rank;
    memcpy(sentence, comm->cause_text, sizeof(sentence));
    pthread_mutex_unlock(&comm->lock);
    if (wanted)
        gloo_host->broken(comm->owner, rank, cause, sentence);
}

static bool is_closing(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    bool closing = comm->closing;
    pthread_mutex_unlock(&comm->lock);
    return closing;
}

static void *watch_run(void *argument)
{
    muster_comm *comm = argument;
    bool broken = false;
    while (!broken) {
        gloo_c_why why;
        gloo_c_status got = gloo_c_wait_recv(comm->watch_buffer, GLOO_C_LONGEST_MS, &why);
        if (is_closing(comm))
            return NULL;
        note_read_all(comm);
        if (got != GLOO_C_OK)
            judge_failure(comm, &why);
        broken = failure_is_broken(comm);
    }
    report(comm);
    return NULL;
}

muster_status watch_prepare(muster_comm *comm)
{
    gloo_c_why why;
    gloo_c_status got =
        gloo_c_buffer_new(comm->context, comm->peers, (size_t)comm->size * sizeof(*comm->peers),
                          &comm->watch_buffer, &why);
    if (got == GLOO_C_OK)
        got = gloo_c_buffer_new(comm->context, &comm->probe_byte, 1, &comm->probe_buffer, &why);
    if (got != GLOO_C_OK)
        return comm_error(got, &why, "watching the peers");
    for (int peer = 0; peer < comm->size; peer++) {
        size_t at = (size_t)peer * sizeof(*comm->peers) + offsetof(comm_peer, note);
        if (peer != comm->rank)
            got = gloo_c_recv(comm->watch_buffer, peer, SLOT_WATCH, at, NOTE_SIZE, &why);
        if (got == GLOO_C_IO)
            return gloo_host->error(MUSTER_ERR_PEER_LOST,
                                    "rank %d was lost as soon as it was connected: %s", peer,
                                    why.text);
        if (got != GLOO_C_OK)
            return comm_error(got, &why, "watching the peers");
    }
    return MUSTER_OK;
}

muster_status watch_start(muster_comm *comm)
{
    signals before;
    signals_block(&before, SIGPIPE);
    int error = gloo_c_thread_room() ? pthread_create(&comm->watch, NULL, watch_run, comm) : ENOMEM;
    signals_restore(&before);
    if (error != 0)
        return comm_no_thread("to watch the peers", strerror(error));
    comm->watch_runs = true;
    return MUSTER_OK;
}

void watch_stop(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    comm->closing = true;
    pthread_mutex_unlock(&comm->lock);
    if (!comm->watch_runs)
        return;
    gloo_c_stop(comm->watch_buffer);
    pthread_join(comm->watch, NULL);
    comm->watch_runs = false;
}

void watch_free(muster_comm *comm)
{
    for (int peer = 0; peer < comm->size; peer++)
        if (comm->peers[peer].told != NULL)
            gloo_c_buffer_free(comm->peers[peer].told);
    if (comm->watch_buffer != NULL)
        gloo_c_buffer_free(comm->watch_buffer);
    if (comm->probe_buffer != NULL)
        gloo_c_buffer_free(comm->probe_buffer);
}
