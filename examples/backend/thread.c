/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread: messages in packets, what ranks tell each other, and how one leaves.
 *
 * A packet goes as a whole or not at all, so a rank that breaks off can still say so, and nobody
 * takes half a message for a whole one. What was sent can be read after its sender has gone.
 */
#include "sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum packet_kind { PIECE = 1, LEAVES, FAILED, LOST } packet_kind;

/* The head of a packet; behind it is a piece of the message, or why the rank has failed. */
typedef struct head {
    packet_kind kind;
    int rank; /* the first that has failed, or was lost */
    uint64_t slot;
    uint64_t size; /* of the whole message */
} head;

typedef struct packet {
    head head;
    char bytes[PIECE_MOST];
} packet;

/* ---- what goes out ---- */

static bool put(muster_comm *comm, peer *peer, head head, const char *bytes, size_t size)
{
    struct iovec parts[] = {{&head, sizeof(head)}, {(void *)bytes, size}};
    struct msghdr whole = {.msg_iov = parts, .msg_iovlen = 2};
    if (sendmsg(peer->fd, &whole, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
        return true;
    if (errno != EAGAIN && errno != EPIPE && errno != ECONNRESET) /* reading says more of those */
        sockets_break(comm, MUSTER_ERR_SYSTEM, MUSTER_ERR_SYSTEM, comm->rank, "sendmsg: %s",
                      strerror(errno));
    return false;
}

static void put_piece(muster_comm *comm, peer *peer, muster_request *message)
{
    size_t left = message->size - message->moved, size = left < comm->piece ? left : comm->piece;
    head head = {.kind = PIECE, .slot = message->slot, .size = message->size};
    if (!put(comm, peer, head, message->data + message->moved, size))
        return;
    message->moved += size;
    message->done = size == left;
    if (message->done)
        pthread_cond_broadcast(&comm->changed);
}

static void put_end(muster_comm *comm, peer *peer)
{
    head head = {.kind = LEAVES, .rank = comm->cause};
    if (comm->status != MUSTER_OK)
        head.kind = comm->peers[comm->cause].lost ? LOST : FAILED;
    peer->told = put(comm, peer, head, comm->sentence, strlen(comm->sentence));
}

/* Whether something is to be sent; *message is what, or NULL for the end. */
static bool has_more(const muster_comm *comm, int number, muster_request **message)
{
    const peer *peer = &comm->peers[number];
    *message = comm->status == MUSTER_OK ? message_find(comm, OUT, number, 0) : NULL;
    bool end = comm->status != MUSTER_OK || comm->close_ns != 0;
    return peer->fd >= 0 && !peer->told && (*message != NULL || end);
}

void thread_put(muster_comm *comm, int number)
{
    muster_request *message;
    if (!has_more(comm, number, &message))
        return;
    if (message != NULL)
        put_piece(comm, &comm->peers[number], message);
    else
        put_end(comm, &comm->peers[number]);
}

/* ---- what comes in ---- */

static muster_request *keep(muster_comm *comm, int number, const head *head)
{
    muster_request *kept = NULL;
    if (head->size <= PTRDIFF_MAX - sizeof(*kept))
        kept = malloc(sizeof(*kept) + (size_t)head->size);
    if (kept == NULL) {
        sockets_break(comm, MUSTER_ERR_NO_MEMORY, MUSTER_ERR_NO_MEMORY, comm->rank,
                      "no memory for what rank %d has sent", number);
        return NULL;
    }
    *kept = (muster_request){.direction = KEPT, .peer = number, .slot = head->slot};
    kept->data = (char *)(kept + 1);
    kept->size = (size_t)head->size;
    message_add(comm, kept);
    return kept;
}

static void take_piece(muster_comm *comm, int number, const packet *packet, size_t size)
{
    peer *peer = &comm->peers[number];
    muster_request *into = peer->arriving;
    if (into == NULL)
        into = message_find(comm, IN, number, packet->head.slot);
    if (into == NULL)
        into = keep(comm, number, &packet->head);
    if (into == NULL)
        return;
    if (into->size != packet->head.size || into->size - into->moved < size) {
        sockets_break(comm, MUSTER_ERR_FAILED, MUSTER_ERR_MISMATCH, number,
                      "rank %d has sent %llu bytes where %zu are expected", number,
                      (unsigned long long)packet->head.size, into->size);
        return;
    }
    memcpy(into->data + into->moved, packet->bytes, size);
    into->moved += size;
    into->done = into->moved == into->size;
    peer->arriving = into->done ? NULL : into;
}

/* What it says of itself, or has heard of another. */
static void take_failure(muster_comm *comm, int number, const packet *packet, size_t size)
{
    int rank = packet->head.rank;
    comm->peers[number].failed = true;
    if (rank < 0 || rank >= comm->num_ranks)
        rank = number;
    if (packet->head.kind == LOST) {
        comm->peers[rank].lost = true;
        sockets_break(comm, MUSTER_ERR_PEER_LOST, MUSTER_ERR_PEER_LOST, rank, "%.*s", (int)size,
                      packet->bytes);
    } else {
        sockets_break(comm, MUSTER_ERR_FAILED, MUSTER_ERR_REMOTE, rank, "%.*s", (int)size,
                      packet->bytes);
    }
}

static void hang_up(muster_comm *comm, int number)
{
    peer *peer = &comm->peers[number];
    close(peer->fd);
    peer->fd = -1;
    peer->lost = !peer->left && !peer->failed;
    if (peer->lost)
        sockets_break(comm, MUSTER_ERR_PEER_LOST, MUSTER_ERR_PEER_LOST, number,
                      "rank %d was lost: its connection has ended without a word", number);
}

static void take(muster_comm *comm, int number, packet *packet)
{
    peer *peer = &comm->peers[number];
    ssize_t size = recv(peer->fd, packet, sizeof(*packet), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN)
        return;
    if (size < (ssize_t)sizeof(packet->head)) {
        hang_up(comm, number);
        return;
    }
    size -= (ssize_t)sizeof(packet->head);
    if (packet->head.kind == PIECE && comm->status == MUSTER_OK)
        take_piece(comm, number, packet, (size_t)size);
    else if (packet->head.kind == FAILED || packet->head.kind == LOST)
        take_failure(comm, number, packet, (size_t)size);
    else if (packet->head.kind == LEAVES)
        peer->left = true;
    pthread_cond_broadcast(&comm->changed);
}

/* ---- the thread ---- */

void thread_ring(muster_comm *comm)
{
    uint64_t once = 1;
    ssize_t rung = write(comm->bell, &once, sizeof(once));
    (void)rung; /* where it can't take more it rings already */
}

static void wait_for_any(muster_comm *comm)
{
    uint64_t rung;
    muster_request *message;
    for (int r = 0; r < comm->num_ranks; r++) {
        short events = has_more(comm, r, &message) ? POLLIN | POLLOUT : POLLIN;
        comm->polled[r + 1] = (struct pollfd){comm->peers[r].fd, events, 0};
    }
    comm->polled[0] = (struct pollfd){comm->bell, POLLIN, 0};
    int patience_ms = comm->close_ns != 0 ? 10 : -1;
    pthread_mutex_unlock(&comm->lock);
    if (poll(comm->polled, (nfds_t)comm->num_ranks + 1, patience_ms) > 0 && comm->polled[0].revents)
        rung = (uint64_t)read(comm->bell, &rung, sizeof(rung));
    pthread_mutex_lock(&comm->lock);
}

static void serve(muster_comm *comm, packet *packet)
{
    for (int r = 0; r < comm->num_ranks; r++) {
        if (comm->polled[r + 1].revents & (POLLIN | POLLHUP | POLLERR))
            take(comm, r, packet);
        thread_put(comm, r);
    }
}

/* The core may call abort from there, so without the lock. */
static void tell_core(muster_comm *comm)
{
    muster_status untold = comm->untold;
    comm->untold = MUSTER_OK;
    if (untold == MUSTER_OK || comm->close_ns != 0)
        return;
    pthread_mutex_unlock(&comm->lock);
    sockets_host->broken(comm->owner, comm->cause, untold, comm->sentence);
    pthread_mutex_lock(&comm->lock);
}

static bool is_over(const muster_comm *comm)
{
    bool all_told = true;
    for (int r = 0; r < comm->num_ranks; r++)
        all_told = all_told && (comm->peers[r].fd < 0 || comm->peers[r].told);
    return comm->close_ns != 0 && (all_told || sockets_time(0) >= comm->close_ns);
}

void *thread_run(void *user)
{
    muster_comm *comm = user;
    packet packet;
    pthread_mutex_lock(&comm->lock);
    while (!is_over(comm)) {
        wait_for_any(comm);
        serve(comm, &packet);
        tell_core(comm);
    }
    pthread_mutex_unlock(&comm->lock);
    return NULL;
}

/* To leave with a message that nobody has waited for is no good order. */
void sockets_close(muster_comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    for (muster_request *one = comm->first; one != NULL; one = one->after)
        if (one->direction != KEPT)
            sockets_break(comm, MUSTER_ERR_FAILED, MUSTER_OK, comm->rank,
                          "rank %d has left in the middle of a message", comm->rank);
    comm->close_ns = sockets_time(LEAVE_MS);
    thread_ring(comm);
    pthread_mutex_unlock(&comm->lock);
    pthread_join(comm->thread, NULL);
    sockets_free(comm);
}
