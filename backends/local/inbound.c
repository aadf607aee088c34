/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What comes in from a peer.
 */
#include "config.h"

#include "inbound.h"

#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "outbound.h"
#include "queue.h"

/* With a core for each, two processors that copy one after the other are faster up to here than one
 * that reads another process's memory, of which the kernel has to find every page. */
enum { PIECES_MOST = 1 << 20 };

static muster_request *find_receive(const comm_peer *it, uint64_t slot)
{
    muster_request *request = it->receives.first;
    while (request != NULL && request->slot != slot)
        request = request->next;
    return request;
}

static muster_status wrong_size(const muster_request *request, const letter *what)
{
    return local_host->error(MUSTER_ERR_INTERNAL,
                             "rank %d has sent a message of %llu bytes where one of %zu was to "
                             "come",
                             request->peer, (unsigned long long)what->size, request->size);
}

void inbound_gather(muster_comm *comm, muster_request *request)
{
    comm_peer *it = &comm->peers[request->peer];
    request->state = REQUEST_GATHERED;
    request->moved = 0;
    it->gathering[request->ticket] = request;
    atomic_fetch_or(&it->in.shared->go, UINT64_C(1) << request->ticket);
    carry_ring(comm, request->peer);
}

/* There is a place for an offered message. */
static void accept_offer(muster_comm *comm, muster_request *request, const letter *what)
{
    request->ticket = what->ticket;
    request->address = what->address;
    if (!comm->peers[request->peer].direct ||
        (comm->cores_for_all && request->size <= PIECES_MOST)) {
        inbound_gather(comm, request);
        return;
    }
    request->state = REQUEST_PULLING;
    queue_add(&comm->pulls, request);
    carry_ring(comm, comm->rank); /* whoever sleeps can do it */
}

/* There is a place for one that was announced only. */
static void ask(comm_peer *it, muster_request *request, const letter *what)
{
    request->serial = what->address;
    request->state = REQUEST_ASKING;
    queue_add(&it->sends, request);
}

static muster_status keep(comm_peer *it, const letter *what)
{
    arrival *came = malloc(sizeof(*came) + what->inside);
    if (came == NULL)
        return local_host->error(MUSTER_ERR_NO_MEMORY,
                                 "no memory for a message of %u bytes that came before it was "
                                 "asked for",
                                 (unsigned)what->inside);
    came->next = NULL;
    came->letter = *what;
    ring_take(&it->in, what, came->inside);
    if (it->last_arrival != NULL)
        it->last_arrival->next = came;
    else
        it->arrivals = came;
    it->last_arrival = came;
    return MUSTER_OK;
}

static void count_matched(comm_peer *it, uint64_t bytes)
{
    atomic_fetch_add(&it->in.shared->matched, bytes);
}

static muster_status take_piece(muster_comm *comm, comm_peer *it, const letter *what)
{
    muster_request *request = what->ticket < TICKETS ? it->gathering[what->ticket] : NULL;
    if (request == NULL || what->inside > request->size - request->moved)
        return local_host->error(MUSTER_ERR_INTERNAL, "a piece of a message came for no message");
    ring_take(&it->in, what, request->data + request->moved);
    request->moved += what->inside;
    if (request->moved == request->size) {
        it->gathering[what->ticket] = NULL;
        carry_finish(comm, request);
    }
    return MUSTER_OK;
}

static muster_status take_message(muster_comm *comm, comm_peer *it, const letter *what)
{
    muster_request *request = find_receive(it, what->slot);
    if (request == NULL)
        return keep(it, what);
    if (request->size != what->size)
        return wrong_size(request, what);
    queue_remove(request);
    ring_take(&it->in, what, request->data);
    if (what->kind == LETTER_OFFER)
        accept_offer(comm, request, what);
    else if (what->kind == LETTER_NEWS)
        ask(it, request, what);
    else {
        count_matched(it, what->size);
        carry_finish(comm, request);
    }
    return MUSTER_OK;
}

/* The offer that was asked for. */
static muster_status take_reply(muster_comm *comm, comm_peer *it, const letter *what)
{
    muster_request *request = it->asked.first;
    while (request != NULL && request->serial != what->slot)
        request = request->next;
    ring_take(&it->in, what, NULL);
    if (request == NULL)
        return local_host->error(MUSTER_ERR_INTERNAL, "an offer came that was not asked for");
    queue_remove(request);
    accept_offer(comm, request, what);
    return MUSTER_OK;
}

static muster_status take_question(comm_peer *it, const letter *what)
{
    ring_take(&it->in, what, NULL);
    if (outbound_give(it, what->address))
        return MUSTER_OK;
    return local_host->error(MUSTER_ERR_INTERNAL, "a message was asked for that there is not");
}

static bool makes_sense(const letter *what)
{
    if (what->kind == LETTER_WHOLE)
        return what->inside == what->size;
    return what->kind == LETTER_PIECE ||
           (what->kind != 0 && what->inside == 0 && what->ticket < TICKETS);
}

static muster_status take(muster_comm *comm, int peer, const letter *what)
{
    comm_peer *it = &comm->peers[peer];
    if (!makes_sense(what))
        return local_host->error(MUSTER_ERR_INTERNAL,
                                 "what rank %d has written into the memory that the ranks share "
                                 "makes no sense",
                                 peer);
    switch (what->kind) {
    case LETTER_PIECE:
        return take_piece(comm, it, what);
    case LETTER_REPLY:
        return take_reply(comm, it, what);
    case LETTER_QUESTION:
        return take_question(it, what);
    default:
        return take_message(comm, it, what);
    }
}

muster_status inbound_take(muster_comm *comm, int peer)
{
    comm_peer *it = &comm->peers[peer];
    letter what;
    bool any = false;
    muster_status status = MUSTER_OK;
    while (status == MUSTER_OK && ring_look(&it->in, &what)) {
        any = true;
        status = take(comm, peer, &what);
    }
    if (any && atomic_load(&it->in.shared->blocked) != 0 &&
        atomic_exchange(&it->in.shared->blocked, 0) != 0)
        carry_ring(comm, peer);
    return status;
}

/* Takes the message that has come already for a receive of its size. */
static void take_arrival(muster_comm *comm, muster_request *request, arrival **at)
{
    comm_peer *it = &comm->peers[request->peer];
    arrival *came = *at;
    *at = came->next;
    if (it->last_arrival == came) {
        it->last_arrival = it->arrivals;
        while (it->last_arrival != NULL && it->last_arrival->next != NULL)
            it->last_arrival = it->last_arrival->next;
    }
    if (came->letter.kind == LETTER_OFFER)
        accept_offer(comm, request, &came->letter);
    else if (came->letter.kind == LETTER_NEWS)
        ask(it, request, &came->letter);
    else {
        memcpy(request->data, came->inside, request->size);
        count_matched(it, request->size);
        carry_finish(comm, request);
    }
    free(came);
}

static arrival **find_arrival(comm_peer *it, uint64_t slot)
{
    arrival **at = &it->arrivals;
    while (*at != NULL && (*at)->letter.slot != slot)
        at = &(*at)->next;
    return at;
}

muster_status inbound_begin(muster_comm *comm, muster_request *request)
{
    comm_peer *it = &comm->peers[request->peer];
    arrival **at = find_arrival(it, request->slot);
    if (*at == NULL)
        queue_add(&it->receives, request);
    else if ((*at)->letter.size == request->size)
        take_arrival(comm, request, at);
    else
        return wrong_size(request, &(*at)->letter);
    return MUSTER_OK;
}

void inbound_free(comm_peer *it)
{
    while (it->arrivals != NULL) {
        arrival *next = it->arrivals->next;
        free(it->arrivals);
        it->arrivals = next;
    }
}
