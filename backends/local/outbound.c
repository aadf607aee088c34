/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What goes out to a peer.
 */
#include "config.h"

#include "outbound.h"

#include "carry.h"
#include "queue.h"

/* Whole messages are not longer than this; what the peer may have got that it has not asked for;
 * and the bytes of a piece. */
enum { WHOLE_MOST = 32 << 10, UNASKED_MOST = 128 << 10, PIECE_MOST = 32 << 10 };

/* Of the tickets only these are given to messages that the peer has not asked for, so that there
 * are always some for those that it has. */
static const uint64_t unasked_tickets = UINT32_MAX;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool may_go_whole(const comm_peer *it, const muster_request *request)
{
    uint64_t unasked = it->whole_sent - atomic_load(&it->out.shared->matched);
    return request->size <= least(WHOLE_MOST, ring_most(&it->out)) &&
           unasked + request->size <= UNASKED_MOST;
}

static bool put_whole(muster_comm *comm, comm_peer *it, muster_request *request)
{
    letter what = {.kind = LETTER_WHOLE,
                   .inside = (uint32_t)request->size,
                   .slot = request->slot,
                   .size = request->size};
    if (!ring_put(&it->out, &what, request->data))
        return false;
    it->whole_sent += request->size;
    queue_remove(request);
    carry_finish(comm, request);
    return true;
}

/* Says that there is such a message, no more. */
static bool put_news(comm_peer *it, muster_request *request)
{
    letter what = {.kind = LETTER_NEWS,
                   .slot = request->slot,
                   .size = request->size,
                   .address = it->next_serial};
    if (!ring_put(&it->out, &what, NULL))
        return false;
    request->serial = it->next_serial++;
    request->state = REQUEST_ANNOUNCED;
    queue_remove(request);
    queue_add(&it->announced, request);
    return true;
}

/* Offers it with one of these tickets, which are free. */
static bool put_offer(comm_peer *it, muster_request *request, uint64_t tickets)
{
    bool asked = request->state == REQUEST_ANNOUNCED;
    uint8_t ticket = (uint8_t)__builtin_ctzll(tickets);
    letter what = {.kind = asked ? LETTER_REPLY : LETTER_OFFER,
                   .ticket = ticket,
                   .slot = asked ? request->serial : request->slot,
                   .size = request->size,
                   .address = (uint64_t)(uintptr_t)request->data};
    if (!ring_put(&it->out, &what, NULL))
        return false;
    it->tickets_taken |= UINT64_C(1) << ticket;
    it->offered[ticket] = request;
    request->ticket = ticket;
    request->state = REQUEST_OFFERED;
    queue_remove(request);
    return true;
}

/* Asks for a message that was announced. */
static bool put_question(comm_peer *it, muster_request *request)
{
    letter what = {.kind = LETTER_QUESTION, .address = request->serial};
    if (!ring_put(&it->out, &what, NULL))
        return false;
    request->state = REQUEST_ASKED;
    queue_remove(request);
    queue_add(&it->asked, request);
    return true;
}

static void give_back_ticket(comm_peer *it, uint8_t ticket)
{
    it->offered[ticket] = NULL;
    it->tickets_taken &= ~(UINT64_C(1) << ticket);
}

/* One piece, and then it is the next one's turn. */
static bool put_piece(muster_comm *comm, comm_peer *it, muster_request *request)
{
    size_t most = least(ring_most(&it->out), PIECE_MOST);
    letter what = {.kind = LETTER_PIECE,
                   .ticket = request->ticket,
                   .inside = (uint32_t)least(request->size - request->moved, most),
                   .slot = request->slot,
                   .size = request->size};
    if (!ring_put(&it->out, &what, request->data + request->moved))
        return false;
    request->moved += what.inside;
    queue_remove(request);
    if (request->moved < request->size) {
        queue_add(&it->sends, request);
        return true;
    }
    give_back_ticket(it, request->ticket);
    carry_finish(comm, request);
    return true;
}

static bool put(muster_comm *comm, comm_peer *it, muster_request *request)
{
    uint64_t tickets = ~it->tickets_taken & unasked_tickets;
    if (request->state == REQUEST_ASKING)
        return put_question(it, request);
    if (request->state == REQUEST_PUSHING)
        return put_piece(comm, it, request);
    if (may_go_whole(it, request))
        return put_whole(comm, it, request);
    return tickets != 0 ? put_offer(it, request, tickets) : put_news(it, request);
}

/* What the peer has asked for, as long as there are tickets; more come with its answers. */
static bool put_wanted(comm_peer *it)
{
    return it->wanted.first != NULL && it->tickets_taken != UINT64_MAX &&
           put_offer(it, it->wanted.first, ~it->tickets_taken);
}

static bool put_one(muster_comm *comm, comm_peer *it)
{
    return put_wanted(it) || (it->sends.first != NULL && put(comm, it, it->sends.first));
}

/* Whoever makes room rings where more waits for it. */
bool outbound_put(muster_comm *comm, comm_peer *it)
{
    bool any = false;
    for (bool marked = false; it->sends.first != NULL || it->wanted.first != NULL;) {
        if (put_one(comm, it)) {
            any = true;
            continue;
        }
        if (marked)
            break;
        atomic_store(&it->out.shared->blocked, 1);
        marked = true;
    }
    return any;
}

bool outbound_give(comm_peer *it, uint64_t serial)
{
    muster_request *request = it->announced.first;
    while (request != NULL && request->serial != serial)
        request = request->next;
    if (request == NULL)
        return false;
    queue_remove(request);
    queue_add(&it->wanted, request);
    return true;
}

void outbound_hear(muster_comm *comm, comm_peer *it)
{
    segment_ring *shared = it->out.shared;
    uint64_t done = atomic_load(&shared->done), go = atomic_load(&shared->go);
    if (done != 0)
        atomic_fetch_and(&shared->done, ~done);
    if (go != 0)
        atomic_fetch_and(&shared->go, ~go);
    for (uint8_t ticket = 0; (done | go) != 0; ticket++, done >>= 1, go >>= 1) {
        muster_request *request = it->offered[ticket];
        /* One that is sent in pieces was answered before, and ends with the last of them. */
        if (((done | go) & 1) == 0 || request == NULL || request->state != REQUEST_OFFERED)
            continue;
        if (done & 1) {
            give_back_ticket(it, ticket);
            carry_finish(comm, request);
        } else {
            request->state = REQUEST_PUSHING;
            queue_add(&it->sends, request);
        }
    }
}
