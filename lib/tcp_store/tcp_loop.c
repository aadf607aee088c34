/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tcp server's thread: one epoll loop for the listening sockets and all clients.
 */
#include "config.h"
#include "tcp_store/tcp_loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/error.h"
#include "net/socket.h"
#include "tcp_store/tcp_connection.h"

enum {
    EVENTS_AT_ONCE = 256,
    ACCEPTED_AT_ONCE = 64, /* so that a crowd at the door does not keep those inside waiting */
    TICK_MS = 1000,
    ACCEPT_PAUSE_MS = 100
};

/* ---- All clients --------------------------------------------------------------------------- */

/* Lets the one go that can best be spared. */
static bool make_room(tcp_loop *loop)
{
    tcp_stranger *stranger = tcp_door_first_to_go(&loop->door);
    if (stranger != NULL)
        tcp_connection_refuse(tcp_connection_of_stranger(stranger));
    return stranger != NULL;
}

static bool listen_on(tcp_loop *loop, int operation, uint32_t events)
{
    bool done = true;
    for (size_t i = 0; i < loop->num_listen_fds; i++) {
        struct epoll_event event = {events, {.ptr = &loop->listen_fds[i]}};
        done = epoll_ctl(loop->epoll_fd, operation, loop->listen_fds[i], &event) == 0 && done;
    }
    return done;
}

/* No descriptor is left. A stranger makes room at the end of this round; where all are clients
 * those that wait stay in the queue for a while, and without the pause the loop would spin. */
static void accept_later(tcp_loop *loop, int listen_fd)
{
    /* accept wants a descriptor before it looks whether anybody is there. */
    struct pollfd queue = {listen_fd, POLLIN, 0};
    if (poll(&queue, 1, 0) == 0 || make_room(loop))
        return;
    loop->accept_again_ns = deadline_in(ACCEPT_PAUSE_MS).at_ns;
    listen_on(loop, EPOLL_CTL_MOD, 0);
}

static void accept_from(tcp_loop *loop, int listen_fd)
{
    for (int accepted = 0; accepted < ACCEPTED_AT_ONCE;) {
        socket_address from = {.size = sizeof(from.at)};
        int fd = accept4(listen_fd, (struct sockaddr *)&from.at, &from.size,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            tcp_connection_add(loop, fd, &from);
            if (tcp_door_is_full(&loop->door))
                make_room(loop);
            accepted++;
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO)
            continue;
        if (errno != EAGAIN)
            accept_later(loop, listen_fd);
        return;
    }
}

static void accept_some(tcp_loop *loop)
{
    for (size_t i = 0; i < loop->num_listen_fds; i++)
        accept_from(loop, loop->listen_fds[i]);
}

/* Whether a silent connection may be the one over which a client of torch 1.13 would hear of keys
 * that it watches: from each host as many as it has such clients. */
static bool may_be_second(const tcp_connection *one)
{
    long spare = 0;
    for (const tcp_connection *other = one->loop->connections; other != NULL; other = other->next) {
        bool is_client = other->session.known && other->session.family == PROTOCOL_1_13;
        if ((is_client || other->is_second) &&
            socket_address_same_host(&other->stranger.from, &one->stranger.from))
            spare += other->is_second ? -1 : 1;
    }
    return !one->stranger.spoke && spare > 0;
}

static void judge_stranger(tcp_connection *one)
{
    one->is_second = !one->loop->door.secret.set && may_be_second(one);
    if (one->is_second)
        tcp_door_remove(&one->loop->door, &one->stranger);
    else
        tcp_connection_turn_away(one, one->stranger.spoke
                                          ? "it took too long to show itself as a client"
                                          : "it said nothing for too long");
}

static void end_puzzles(tcp_loop *loop, int64_t now)
{
    int64_t oldest = now - (int64_t)TCP_LOOP_PUZZLE_MS * 1000000;
    for (tcp_connection *one = loop->num_puzzling > 0 ? loop->connections : NULL; one != NULL;
         one = one->next) {
        if (!one->is_puzzling || one->puzzling_ns > oldest)
            continue;
        tcp_session_settle(&one->session);
        tcp_connection_pend(&one->session);
    }
}

/* Strangers that took too long, queries that were waited with, what the log is still to say, and
 * the end of a pause. */
static void keep_house(tcp_loop *loop)
{
    int64_t now = deadline_now_ns(), oldest = now - (int64_t)loop->silent_ms * 1000000;
    for (tcp_stranger *one; (one = tcp_door_overdue(&loop->door, oldest)) != NULL;)
        judge_stranger(tcp_connection_of_stranger(one));
    end_puzzles(loop, now);
    tcp_door_tell(&loop->door, now);
    if (loop->accept_again_ns != 0 && now >= loop->accept_again_ns) {
        loop->accept_again_ns = 0;
        listen_on(loop, EPOLL_CTL_MOD, EPOLLIN);
    }
}

static int pause_ms(const tcp_loop *loop)
{
    if (loop->num_puzzling > 0)
        return TCP_LOOP_PUZZLE_MS;
    if (loop->accept_again_ns != 0)
        return ACCEPT_PAUSE_MS;
    if (loop->door.num == 0 && loop->door.untold == 0 && loop->large.first == NULL)
        return -1; /* every change comes as an event */
    return loop->silent_ms < TICK_MS ? loop->silent_ms : TICK_MS;
}

/* Those who keep others waiting with a large message for too long, and those who may send one now.
 */
static void pass_turns(tcp_loop *loop)
{
    int64_t oldest = deadline_now_ns() - (int64_t)loop->silent_ms * 1000000;
    for (tcp_large_sender *one; (one = tcp_large_overdue(&loop->large, oldest)) != NULL;) {
        tcp_connection_turn_away(
            tcp_connection_of_sender(one),
            "it took too long over a large message while others waited to send one");
        tcp_large_leave(&loop->large, one);
    }
    for (tcp_large_sender *one; (one = tcp_large_next(&loop->large)) != NULL;)
        tcp_connection_event(tcp_connection_of_sender(one), EPOLLIN);
}

static void finish_round(tcp_loop *loop)
{
    keep_house(loop);
    pass_turns(loop);
    while (loop->pending != NULL) {
        tcp_connection *one = loop->pending;
        loop->pending = one->next_pending;
        one->is_pending = false;
        if (!one->is_doomed)
            tcp_connection_serve(one);
    }
    while (loop->doomed != NULL) {
        tcp_connection *one = loop->doomed;
        loop->doomed = one->next_doomed;
        tcp_connection_free(one);
    }
}

static bool clear_wake(tcp_loop *loop)
{
    uint64_t times;
    return read(loop->wake_fd, &times, sizeof(times)) == (ssize_t)sizeof(times);
}

static bool is_listener(const tcp_loop *loop, const void *source)
{
    const int *first = loop->listen_fds;
    return (const int *)source >= first && (const int *)source < first + TCP_LOOP_MOST_LISTENERS;
}

static void on_events(tcp_loop *loop, const struct epoll_event *events, int num_events, bool *asked)
{
    for (int i = 0; i < num_events; i++) {
        if (events[i].data.ptr == &loop->wake_fd)
            *asked = clear_wake(loop) || *asked;
        else if (is_listener(loop, events[i].data.ptr))
            accept_from(loop, *(const int *)events[i].data.ptr);
        else
            tcp_connection_event(events[i].data.ptr, events[i].events);
    }
}

void tcp_loop_run(tcp_loop *loop)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    bool asked = false;
    for (;;) {
        int num_events = epoll_wait(loop->epoll_fd, events, EVENTS_AT_ONCE, pause_ms(loop));
        on_events(loop, events, num_events, &asked);
        finish_round(loop);
        if (!asked)
            continue;
        accept_some(loop); /* who has connected already counts */
        enum tcp_loop_verdict verdict = loop->settle(loop->owner, loop->num_connections);
        if (verdict == TCP_LOOP_END)
            return;
        asked = verdict == TCP_LOOP_ASK_AGAIN;
    }
}

/* ---- Life ---------------------------------------------------------------------------------- */

void tcp_loop_wake(tcp_loop *loop)
{
    uint64_t once = 1;
    ssize_t written = write(loop->wake_fd, &once, sizeof(once));
    (void)written; /* a counter that is full wakes as well */
}

muster_status tcp_loop_open(tcp_loop *loop, const int *listen_fds, size_t num)
{
    *loop = (tcp_loop){.num_listen_fds = num, .silent_ms = TCP_LOOP_SILENT_MS};
    memcpy(loop->listen_fds, listen_fds, num * sizeof(*listen_fds));
    loop->data.woken = tcp_connection_pend;
    tcp_door_open(&loop->door, listen_fds[0]);
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event wake = {EPOLLIN, {.ptr = &loop->wake_fd}};
    if (loop->epoll_fd >= 0 && loop->wake_fd >= 0 &&
        epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &wake) == 0 &&
        listen_on(loop, EPOLL_CTL_ADD, EPOLLIN)) {
        pthread_mutex_init(&loop->lock, NULL);
        return MUSTER_OK;
    }
    muster_status status = error_system("making the server of a tcp store");
    if (loop->wake_fd >= 0)
        close(loop->wake_fd);
    if (loop->epoll_fd >= 0)
        close(loop->epoll_fd);
    return status;
}

void tcp_loop_stop_listening(tcp_loop *loop)
{
    for (size_t i = 0; i < loop->num_listen_fds; i++)
        close(loop->listen_fds[i]);
    loop->num_listen_fds = 0;
}

void tcp_loop_close(tcp_loop *loop)
{
    for (tcp_connection *one = loop->connections; one != NULL; one = one->next)
        tcp_connection_doom(one);
    finish_round(loop);
    tcp_loop_close_copies(loop);
    tcp_store_data_free(&loop->data);
    tcp_door_close(&loop->door);
    pthread_mutex_destroy(&loop->lock);
}

void tcp_loop_close_copies(tcp_loop *loop)
{
    for (tcp_connection *one = loop->connections; one != NULL; one = one->next)
        close(one->fd);
    tcp_loop_stop_listening(loop);
    close(loop->wake_fd);
    close(loop->epoll_fd);
}
