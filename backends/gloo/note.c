/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notes: eight bytes on the watch slot, for which each rank has a receive posted from the start.
 */
#include "config.h"

#include "note.h"

#include <stdatomic.h>
#include <string.h>

#include "base/signals.h"
#include "failure.h"

/* The rank that is to blame (-1: the sender's own reason), the status, whether that rank has left,
 * and last the kind, so that whoever sees it finds the rest there too. */
enum { NOTE_RANK = 0, NOTE_STATUS = 4, NOTE_LEFT = 5, NOTE_KIND = 7 };
enum { GOODBYE = 'G', FAILURE = 'F' };

static void note_write(uint8_t *note, int kind, muster_status status, int rank)
{
    uint32_t number = (uint32_t)rank;
    memset(note, 0, NOTE_SIZE);
    for (int i = 0; i < 4; i++)
        note[NOTE_RANK + i] = (uint8_t)(number >> 8 * (3 - i));
    note[NOTE_STATUS] = (uint8_t)status;
    note[NOTE_KIND] = (uint8_t)kind;
}

static int note_blamed(const uint8_t *note)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++)
        number = number << 8 | note[NOTE_RANK + i];
    return (int)number;
}

static void tell_all(muster_comm *comm)
{
    signals before;
    signals_block(&before, SIGPIPE);
    for (int peer = 0; peer < comm->size; peer++) {
        gloo_c_why why;
        gloo_c_buffer *told = NULL;
        if (peer == comm->rank || note_peer_left(comm, peer) ||
            gloo_c_buffer_new(comm->context, comm->note, NOTE_SIZE, &told, &why) != GLOO_C_OK)
            continue;
        if (gloo_c_send(told, peer, SLOT_WATCH, 0, NOTE_SIZE, &why) == GLOO_C_OK)
            comm->peers[peer].told = told;
        else
            gloo_c_buffer_free(told);
    }
    signals_restore(&before);
}

void note_tell_goodbye(muster_comm *comm)
{
    note_write(comm->note, GOODBYE, MUSTER_OK, -1);
    tell_all(comm);
}

void note_tell_failure(muster_comm *comm)
{
    bool of_others = comm->cause == MUSTER_ERR_PEER_LOST || comm->cause == MUSTER_ERR_REMOTE;
    int blamed = of_others ? comm->cause_rank : -1;
    note_write(comm->note, FAILURE, comm->cause, blamed);
    comm->note[NOTE_LEFT] = blamed >= 0 && note_peer_left(comm, blamed);
    tell_all(comm);
}

void note_flush(muster_comm *comm, int64_t timeout_ms)
{
    deadline end = deadline_in(timeout_ms);
    for (int peer = 0; peer < comm->size; peer++) {
        gloo_c_why why;
        if (comm->peers[peer].told != NULL)
            gloo_c_wait_send(comm->peers[peer].told, deadline_left_ms(end), &why);
    }
}

static void mark_left(muster_comm *comm, int peer)
{
    pthread_mutex_lock(&comm->lock);
    comm->peers[peer].left = true;
    pthread_mutex_unlock(&comm->lock);
}

/* Peer has lost the connection to another, which may have left in good order, or have told why it
 * has closed it. */
static void break_for_loss(muster_comm *comm, int peer, int blamed, bool left)
{
    if (left)
        mark_left(comm, blamed);
    note_read(comm, blamed);
    if (left)
        failure_break(comm, MUSTER_ERR_PEER_LOST, blamed, "rank %d has left the group", blamed);
    else
        failure_break(comm, MUSTER_ERR_PEER_LOST, blamed,
                      "the connection between rank %d and rank %d was closed", blamed, peer);
}

/* Peer's group has failed; it may know more than that. */
static void break_for(muster_comm *comm, int peer, const uint8_t *note)
{
    muster_status status = (muster_status)note[NOTE_STATUS];
    int blamed = note_blamed(note);
    if (blamed == comm->rank)
        failure_break(comm, MUSTER_ERR_REMOTE, peer,
                      "rank %d has broken off the group: it lost this rank", peer);
    else if (blamed < 0 || blamed >= comm->size || blamed == peer)
        failure_break(comm, MUSTER_ERR_REMOTE, peer, "rank %d has broken off the group (%s)", peer,
                      status == MUSTER_ERR_TIMEOUT ? "it timed out" : "it failed, or was told to");
    else if (status == MUSTER_ERR_PEER_LOST)
        break_for_loss(comm, peer, blamed, note[NOTE_LEFT] != 0);
    else
        failure_break(comm, MUSTER_ERR_REMOTE, blamed, "rank %d has broken off the group", blamed);
}

/* Copies a note that has come. Gloo's thread writes it whenever it comes, the kind last.
 * ThreadSanitizer would take that for a race, since it does not know of the order. */
__attribute__((no_sanitize_thread, noinline)) static bool note_take(const volatile uint8_t *from,
                                                                    uint8_t *note)
{
    if (from[NOTE_KIND] == 0)
        return false;
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < NOTE_SIZE; i++)
        note[i] = from[i];
    return true;
}

void note_read(muster_comm *comm, int peer)
{
    comm_peer *it = &comm->peers[peer];
    uint8_t note[NOTE_SIZE];
    pthread_mutex_lock(&comm->lock);
    bool news = !it->note_read && note_take(it->note, note);
    if (news) {
        it->note_read = true;
        it->left = note[NOTE_KIND] == GOODBYE;
    }
    pthread_mutex_unlock(&comm->lock);
    if (news && note[NOTE_KIND] != GOODBYE)
        break_for(comm, peer, note);
}

void note_read_all(muster_comm *comm)
{
    for (int peer = 0; peer < comm->size; peer++)
        note_read(comm, peer);
}

bool note_peer_left(muster_comm *comm, int peer)
{
    pthread_mutex_lock(&comm->lock);
    bool left = comm->peers[peer].left;
    pthread_mutex_unlock(&comm->lock);
    return left;
}
