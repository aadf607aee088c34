/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One client of a tcp server: its bytes from the socket to its session and back.
 */
#include "config.h"
#include "tcp_store/tcp_connection.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/error.h"

enum { BYTES_AT_ONCE = 64 << 10 };

/* Cut off at the end of the round, since events of this round may still name it. */
void tcp_connection_doom(tcp_connection *one)
{
    if (one->is_doomed)
        return;
    one->is_doomed = true;
    tcp_door_remove(&one->loop->door, &one->stranger);
    one->next_doomed = one->loop->doomed;
    one->loop->doomed = one;
}

void tcp_connection_turn_away(tcp_connection *one, const char *reason)
{
    if (!one->is_doomed)
        tcp_door_turned_away(&one->loop->door, &one->stranger, reason);
    tcp_connection_doom(one);
}

tcp_connection *tcp_connection_of_stranger(tcp_stranger *stranger)
{
    return (tcp_connection *)(void *)((char *)stranger - offsetof(tcp_connection, stranger));
}

tcp_connection *tcp_connection_of_sender(tcp_large_sender *sender)
{
    return (tcp_connection *)(void *)((char *)sender - offsetof(tcp_connection, sender));
}

void tcp_connection_pend(tcp_session *session)
{
    tcp_connection *one = (tcp_connection *)session;
    if (one->is_pending)
        return;
    one->is_pending = true;
    one->next_pending = one->loop->pending;
    one->loop->pending = one;
}

static void send_answers(tcp_connection *one)
{
    buffer *out = &one->session.out;
    size_t done = 0;
    while (done < out->size) {
        ssize_t sent = send(one->fd, out->data + done, out->size - done, MSG_NOSIGNAL);
        if (sent >= 0)
            done += (size_t)sent;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR) {
            tcp_connection_doom(one);
            break;
        }
    }
    buffer_consume(out, done);
}

static void listen_for(tcp_connection *one, uint32_t events)
{
    struct epoll_event event = {events, {.ptr = one}};
    if (events == one->events)
        return;
    one->events = events;
    if (epoll_ctl(one->loop->epoll_fd, EPOLL_CTL_MOD, one->fd, &event) != 0)
        tcp_connection_doom(one);
}

static bool is_full(const tcp_session *session)
{
    return session->out.size >= SESSION_MAX_OUTPUT || session->answered > 0;
}

/* With a job secret, who has proved it; without, who has shown to speak the protocol. */
static bool is_known(const tcp_connection *one)
{
    return one->loop->door.secret.set ? one->stranger.entry.inside : one->session.known;
}

static void answer(tcp_connection *one)
{
    tcp_session *session = &one->session;
    if (!tcp_session_answer(&one->loop->data, session) || session->out.failed)
        tcp_connection_turn_away(one, "it sent what no client sends, or what can't be carried out");
    if (is_known(one))
        tcp_door_remove(&one->loop->door, &one->stranger);
    if (session->puzzling && !one->is_puzzling)
        one->puzzling_ns = deadline_now_ns();
    one->loop->num_puzzling += session->puzzling;
    one->loop->num_puzzling -= one->is_puzzling;
    one->is_puzzling = session->puzzling;
}

/* Answers and sends until the client has to send more, or has to read. */
void tcp_connection_serve(tcp_connection *one)
{
    tcp_session *session = &one->session;
    bool full = true;
    while (full && !one->is_doomed) {
        answer(one);
        full = is_full(session);
        send_answers(one);
        full = full && session->out.size == 0;
    }
    tcp_large_settle(&one->loop->large, &one->sender, session->in.size);
    bool deaf = is_full(session) || one->sender.waits;
    if (!one->is_doomed)
        listen_for(one, (deaf ? 0u : (uint32_t)EPOLLIN) |
                            (session->out.size > 0 ? (uint32_t)EPOLLOUT : 0u));
}

/* What comes before the first byte of the store's protocol stays at the door. */
static void take_in(tcp_connection *one, const unsigned char *bytes, size_t size)
{
    tcp_session *session = &one->session;
    tcp_door *door = &one->loop->door;
    size_t taken = 0;
    one->stranger.spoke = true;
    if (!one->stranger.entry.inside) {
        const char *reason =
            tcp_entry_take(&one->stranger.entry, &door->secret, bytes, size, &taken, &session->out);
        if (reason != NULL) {
            send_answers(one);
            tcp_connection_turn_away(one, reason);
            return;
        }
    }
    buffer_append(&session->in, bytes + taken, size - taken);
}

static void receive(tcp_connection *one)
{
    const buffer *in = &one->session.in;
    unsigned char bytes[BYTES_AT_ONCE];
    if (!tcp_large_may_read(&one->loop->large, &one->sender, in->size, deadline_now_ns()))
        return;
    ssize_t got = recv(one->fd, bytes, sizeof(bytes), 0);
    if (got > 0)
        take_in(one, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        tcp_connection_doom(one);
    if (in->failed)
        tcp_connection_doom(one);
}

void tcp_connection_event(tcp_connection *one, uint32_t events)
{
    if (one->is_doomed)
        return;
    if (events & EPOLLIN)
        receive(one);
    else if (events & (EPOLLERR | EPOLLHUP))
        tcp_connection_doom(one);
    if (!one->is_doomed)
        tcp_connection_serve(one);
}

/* A client that is only slow is told to come again. */
void tcp_connection_refuse(tcp_connection *one)
{
    const tcp_stranger *stranger = &one->stranger;
    if (one->loop->door.secret.set && stranger->spoke) {
        tcp_entry_put(&one->session.out, TCP_ENTRY_REFUSED_BUSY, NULL);
        send_answers(one);
    }
    tcp_connection_turn_away(one, stranger->spoke
                                      ? "it was not done with its proof and too many others came"
                                      : "it said nothing and too many others came");
}

void tcp_connection_add(tcp_loop *loop, int fd, const socket_address *from)
{
    tcp_connection *one = calloc(1, sizeof(*one));
    struct epoll_event event = {EPOLLIN, {.ptr = one}};
    if (one == NULL || socket_prepare(fd, true) != MUSTER_OK ||
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(one);
        close(fd);
        return;
    }
    one->loop = loop;
    one->fd = fd;
    one->events = EPOLLIN;
    one->stranger.from = *from;
    tcp_door_add(&loop->door, &one->stranger, deadline_now_ns());
    pthread_mutex_lock(&loop->lock);
    one->next = loop->connections;
    if (one->next != NULL)
        one->next->previous = one;
    loop->connections = one;
    pthread_mutex_unlock(&loop->lock);
    loop->num_connections++;
    /* A client speaks at once: what it has sent already tells it from one that never does. */
    tcp_connection_event(one, EPOLLIN);
}

void tcp_connection_free(tcp_connection *one)
{
    tcp_loop *loop = one->loop;
    loop->num_connections--;
    loop->num_puzzling -= one->is_puzzling;
    tcp_session_end(&loop->data, &one->session);
    tcp_large_leave(&loop->large, &one->sender);
    pthread_mutex_lock(&loop->lock);
    if (one->previous != NULL)
        one->previous->next = one->next;
    else
        loop->connections = one->next;
    if (one->next != NULL)
        one->next->previous = one->previous;
    /* A child that was forked may hold the socket too: closing alone would neither take it out of
     * the epoll set nor tell the client. */
    epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, one->fd, NULL);
    shutdown(one->fd, SHUT_RDWR);
    close(one->fd);
    pthread_mutex_unlock(&loop->lock);
    free(one);
}
