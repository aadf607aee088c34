/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that die, stop, break off or leave, over the backend that this is compiled for.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend_ranks.h"
#include "tap.h"

enum { OPENED, SETTLED, KILLED };

/* The time of the kill, for all to see. */
static void kill_rank(rank *me, int number, int signal)
{
    atomic_store(rank_flag(me, KILLED), deadline_now_ns());
    kill(rank_pid(me, number), signal);
}

/* Told within a second of the kill, by name. */
static void expect_lost(rank *me, int number)
{
    if (!rank_check(me, rank_wait_broken(me, 5000), "host->broken does not come"))
        return;
    int64_t after_ms = (me->broken_at_ns - atomic_load(rank_flag(me, KILLED))) / 1000000;
    rank_check(me, after_ms < patient(1000), "told after %lld ms only", (long long)after_ms);
    rank_check(me, me->broken_rank == number && me->broken_status == MUSTER_ERR_PEER_LOST,
               "told that rank %d has %s: %s", me->broken_rank,
               muster_status_name(me->broken_status), me->broken_sentence);
    char words[24];
    snprintf(words, sizeof(words), "rank %d", number);
    rank_check(me, strstr(me->broken_sentence, words) != NULL, "%s", me->broken_sentence);
    for (int other = 0; other < me->size; other++)
        rank_check(me,
                   other == me->number || me->ops->suspects(me->comm, other) == (other == number),
                   "rank %d is suspected, or not", other);
}

/* The last rank waits to be killed by rank 0. */
static bool victim(rank *me)
{
    if (me->number != me->size - 1)
        return false;
    rank_may_die(me);
    rank_meet(me, OPENED);
    for (;;)
        pause();
}

static void killed_idle(rank *me)
{
    int last = me->size - 1;
    if (!rank_open(me) || victim(me) || !rank_meet(me, OPENED))
        return;
    if (me->number == 0)
        kill_rank(me, last, SIGKILL);
    expect_lost(me, last);
    rank_close(me);
}

/* Rank 0 waits for the first message of the last rank, the others for nobody. */
static void killed_before_message(rank *me)
{
    int last = me->size - 1;
    char byte;
    muster_request *request;
    if (!rank_open(me))
        return;
    if (me->number == 0)
        me->ops->post_recv(me->comm, last, 5, &byte, 1, &request);
    if (victim(me) || !rank_meet(me, OPENED))
        return;
    if (me->number == 0) {
        kill_rank(me, last, SIGKILL);
        muster_status status = me->ops->wait(me->comm, request, 10000);
        rank_check(me, status == MUSTER_ERR_PEER_LOST, "wait: %s: %s", muster_status_name(status),
                   muster_last_error());
        rank_check(me, strstr(muster_last_error(), "rank 2") != NULL, "%s", muster_last_error());
        rank_check(me,
                   deadline_now_ns() - atomic_load(rank_flag(me, KILLED)) < patient(1000) * 1000000,
                   "the wait took too long");
        rank_check(me,
                   me->ops->post_recv(me->comm, 1, 5, &byte, 1, &request) == MUSTER_ERR_PEER_LOST,
                   "a later post was taken");
    }
    expect_lost(me, last);
    rank_close(me);
}

enum { MANY = 6, BIG = 64 << 20 };

/* Rank 0 and the last rank exchange far more than goes through in the time until the kill. */
static void half_way(rank *me, bool victim_sends)
{
    int last = me->size - 1;
    bool sends = victim_sends == (me->number == last);
    static char *data[MANY];
    muster_request *requests[MANY];
    if (!rank_open(me))
        return;
    if (me->number == 0 || me->number == last)
        /* The last has one message less, so that not all can go through before the kill. */
        for (int i = 0; i < MANY - (me->number == last); i++) {
            data[i] = calloc(1, BIG);
            int peer = last - me->number;
            muster_status status =
                sends ? me->ops->post_send(me->comm, peer, (uint64_t)i, data[i], BIG, &requests[i])
                      : me->ops->post_recv(me->comm, peer, (uint64_t)i, data[i], BIG, &requests[i]);
            rank_check(me, status == MUSTER_OK, "post: %s", muster_last_error());
        }
    if (victim(me) || !rank_meet(me, OPENED))
        return;
    if (me->number == 0) {
        usleep(5000);
        kill_rank(me, last, SIGKILL);
        muster_status status = MUSTER_OK;
        for (int i = 0; i < MANY; i++) {
            muster_status got = me->ops->wait(me->comm, requests[i], 10000);
            status = got == MUSTER_OK ? status : got;
        }
        rank_check(me, status == MUSTER_ERR_PEER_LOST, "waits: %s", muster_status_name(status));
        rank_check(me,
                   deadline_now_ns() - atomic_load(rank_flag(me, KILLED)) < patient(1000) * 1000000,
                   "the waits took too long");
    }
    expect_lost(me, last);
    rank_close(me);
    for (int i = 0; i < MANY; i++)
        free(data[i]);
}

static void killed_sending(rank *me)
{
    half_way(me, true);
}

static void killed_receiving(rank *me)
{
    half_way(me, false);
}

/* user case: a rank hangs; the others must not wait longer than they were told. */
static void stopped(rank *me)
{
    static char bytes[1 << 20]; /* a short one may have gone out before it is waited for */
    muster_request *request;
    if (!rank_open(me) || !rank_meet(me, OPENED))
        return;
    if (me->number == 1) {
        rank_check(me, rank_wait_broken(me, 5000), "not told after it went on");
        rank_check(me, me->broken_rank == 0, "told of rank %d: %s", me->broken_rank,
                   me->broken_sentence);
        rank_close(me);
        return;
    }
    kill_rank(me, 1, SIGSTOP);
    me->ops->post_send(me->comm, 1, 5, bytes, sizeof(bytes), &request);
    int64_t start = deadline_now_ns();
    muster_status status = me->ops->wait(me->comm, request, 300);
    int64_t took_ms = (deadline_now_ns() - start) / 1000000;
    rank_check(me, status == MUSTER_ERR_TIMEOUT, "wait: %s: %s", muster_status_name(status),
               muster_last_error());
    rank_check(me, strstr(muster_last_error(), "rank 1") != NULL, "%s", muster_last_error());
    rank_check(me, took_ms >= 300 && took_ms < patient(900), "it took %lld ms", (long long)took_ms);
    status = me->ops->post_send(me->comm, 1, 5, bytes, sizeof(bytes), &request);
    rank_check(me, status == MUSTER_ERR_FAILED, "a later post: %s", muster_status_name(status));
    rank_not_broken(me);
    kill(rank_pid(me, 1), SIGCONT);
    rank_close(me);
}

/* All ranks wait for a message of each other that never comes; then rank 1 breaks off. */
static void abort_reaches_all(rank *me)
{
    char bytes[RANKS_MAX];
    muster_request *requests[RANKS_MAX];
    if (!rank_open(me))
        return;
    for (int peer = 0; peer < me->size; peer++)
        if (peer != me->number)
            me->ops->post_recv(me->comm, peer, 5, &bytes[peer], 1, &requests[peer]);
    rank_meet(me, OPENED);
    if (me->number == 1) {
        usleep(20000);
        for (int i = 0; i < 3; i++)
            me->ops->abort(me->comm);
    }
    int64_t start = deadline_now_ns();
    for (int peer = 0; peer < me->size; peer++)
        if (peer != me->number) {
            muster_status status = me->ops->wait(me->comm, requests[peer], 10000);
            rank_check(me, status == MUSTER_ERR_FAILED, "wait: %s: %s", muster_status_name(status),
                       muster_last_error());
            rank_check(me, me->number == 1 || strstr(muster_last_error(), "rank 1") != NULL, "%s",
                       muster_last_error());
        }
    rank_check(me, deadline_now_ns() - start < patient(1000) * 1000000, "it took too long");
    if (me->number == 1) {
        usleep(50000);
        rank_not_broken(me);
    } else {
        rank_check(me, rank_wait_broken(me, 1000), "not told");
        rank_check(me, me->broken_rank == 1 && me->broken_status == MUSTER_ERR_REMOTE,
                   "told that rank %d has %s: %s", me->broken_rank,
                   muster_status_name(me->broken_status), me->broken_sentence);
    }
    rank_close(me);
}

/* The last rank leaves; the others go on. */
static void goodbye(rank *me)
{
    int last = me->size - 1;
    char byte;
    muster_request *request;
    muster_request *pending;
    if (!rank_open(me))
        return;
    if (me->number == 0)
        me->ops->post_recv(me->comm, last, 9, &byte, 1, &pending);
    rank_meet(me, OPENED);
    if (me->number == last) {
        rank_close(me);
        rank_meet(me, SETTLED);
        return;
    }
    usleep(100000);
    rank_check(me,
               me->ops->post_send(me->comm, last, 5, &byte, 1, &request) == MUSTER_ERR_PEER_LOST,
               "a message to a rank that left was taken");
    rank_check(me, strstr(muster_last_error(), "has left") != NULL, "%s", muster_last_error());
    rank_swap(me, 1 - me->number, 5, 100000);
    rank_not_broken(me);
    rank_meet(me, SETTLED);
    if (me->number == 0) {
        muster_status status = me->ops->wait(me->comm, pending, 5000);
        rank_check(me, status == MUSTER_ERR_PEER_LOST, "wait: %s: %s", muster_status_name(status),
                   muster_last_error());
        rank_check(me, strstr(muster_last_error(), "has left") != NULL, "%s", muster_last_error());
    }
    rank_close(me);
}

/* The last rank leaves, which fails rank 0; rank 1 stands meanwhile, and hears of it from rank 0
 * first. */
static void goodbye_hearsay(rank *me)
{
    char byte;
    muster_request *request;
    if (!rank_open(me))
        return;
    if (me->number == 0)
        me->ops->post_recv(me->comm, 2, 9, &byte, 1, &request);
    rank_meet(me, OPENED);
    if (me->number == 0) {
        kill(rank_pid(me, 1), SIGSTOP);
        atomic_store(rank_flag(me, KILLED), 1);
        rank_check(me, me->ops->wait(me->comm, request, 10000) == MUSTER_ERR_PEER_LOST, "%s",
                   muster_last_error());
        kill(rank_pid(me, 1), SIGCONT);
    }
    if (me->number == 2)
        rank_wait_flag(me, KILLED, 1);
    if (me->number == 1) {
        rank_check(me, rank_wait_broken(me, 5000), "not told");
        rank_check(me, strcmp(me->broken_sentence, "rank 2 has left the group") == 0, "%s",
                   me->broken_sentence);
        rank_check(me, !me->ops->suspects(me->comm, 2), "rank 2 is suspected");
    }
    rank_close(me);
}

/* Leaving with a message that nobody has waited for is not good order. */
static void close_in_flight(rank *me)
{
    static char big[1 << 20];
    muster_request *request;
    if (!rank_open(me))
        return;
    if (me->number == 0)
        me->ops->post_send(me->comm, 1, 5, big, sizeof(big), &request);
    rank_meet(me, OPENED);
    if (me->number == 1) {
        rank_check(me, rank_wait_broken(me, 5000), "not told");
        rank_check(me, me->broken_rank == 0, "told of rank %d", me->broken_rank);
    }
    rank_close(me);
}

/* Small messages all the time, SIGPIPE as the system has it, and a peer that is killed. */
static void no_sigpipe(rank *me)
{
    signal(SIGPIPE, SIG_DFL);
    muster_request *request;
    char byte = 0;
    if (!rank_open(me))
        return;
    if (me->number == 1) {
        rank_may_die(me);
        rank_meet(me, OPENED);
        for (;;) {
            if (me->ops->post_recv(me->comm, 0, 5, &byte, 1, &request) != MUSTER_OK ||
                me->ops->wait(me->comm, request, 5000) != MUSTER_OK)
                pause();
        }
    }
    rank_meet(me, OPENED);
    deadline kill_at = deadline_in(20);
    muster_status status = MUSTER_OK;
    bool killed = false;
    while (status == MUSTER_OK) {
        if (!killed && deadline_left_ms(kill_at) == 0) {
            kill_rank(me, 1, SIGKILL);
            killed = true;
        }
        status = me->ops->post_send(me->comm, 1, 5, &byte, 1, &request);
        if (status == MUSTER_OK)
            status = me->ops->wait(me->comm, request, 5000);
    }
    rank_check(me, status == MUSTER_ERR_PEER_LOST, "%s: %s", muster_status_name(status),
               muster_last_error());
    sigset_t pending;
    sigpending(&pending);
    rank_check(me, !sigismember(&pending, SIGPIPE), "a SIGPIPE is left");
    rank_close(me);
}

/* The same without waiting, so that the peer's death is met by posts. */
static void no_sigpipe_posting(rank *me)
{
    enum { POSTS = 3000 };
    static muster_request *requests[POSTS];
    static char bytes[POSTS];
    signal(SIGPIPE, SIG_DFL);
    if (!rank_open(me) || victim(me))
        return;
    rank_meet(me, OPENED);
    int posted = 0;
    while (posted < POSTS && me->ops->post_send(me->comm, 1, (uint64_t)posted, &bytes[posted], 1,
                                                &requests[posted]) == MUSTER_OK) {
        if (posted++ == 200)
            kill_rank(me, 1, SIGKILL);
    }
    expect_lost(me, 1);
    for (int i = 0; i < posted; i++)
        rank_check(me, me->ops->wait(me->comm, requests[i], 1000) == MUSTER_ERR_PEER_LOST,
                   "wait %d: %s", i, muster_last_error());
    rank_close(me);
}

/* Two at once, while the others stand. Which of them these find first is open; that it is none of
 * the others is not. */
static void two_killed(rank *me)
{
    if (!rank_open(me))
        return;
    if (me->number >= 2)
        rank_may_die(me);
    rank_meet(me, OPENED);
    while (me->number >= 2)
        pause();
    pid_t striker = me->number == 0 ? fork() : -1;
    if (striker == 0) {
        for (int number = 0; number < 4; number++)
            kill(rank_pid(me, number), number < 2 ? SIGSTOP : SIGKILL);
        usleep(100000);
        kill(rank_pid(me, 1), SIGCONT);
        _exit(kill(rank_pid(me, 0), SIGCONT));
    }
    rank_check(me, rank_wait_broken(me, 5000), "host->broken does not come");
    rank_check(me, me->broken_status == MUSTER_ERR_PEER_LOST && me->broken_rank >= 2,
               "told that rank %d has %s: %s", me->broken_rank,
               muster_status_name(me->broken_status), me->broken_sentence);
    for (int number = 0; number < 2; number++)
        rank_check(me, number == me->number || !me->ops->suspects(me->comm, number),
                   "rank %d is suspected", number);
    rank_check(me, me->ops->suspects(me->comm, 2) || me->ops->suspects(me->comm, 3),
               "nobody is suspected");
    if (striker > 0)
        waitpid(striker, NULL, 0);
    rank_close(me);
}

/* A peer dies while this rank closes: host->broken comes before close returns, or never. */
static void close_while_lost(rank *me)
{
    if (!rank_open(me))
        return;
    if (me->number == 1) {
        rank_may_die(me);
        rank_meet(me, OPENED);
        kill(getpid(), SIGKILL);
    }
    rank_meet(me, OPENED);
    usleep((useconds_t)(getpid() % 7) * 100);
    rank_close(me);
    usleep(20000);
}

/* A child of fork frees the parent's group and makes one of its own; the parent's goes on. */
static void forget(rank *me)
{
    if (!rank_open(me))
        return;
    rank_swap(me, 1 - me->number, 1, 1000);
    pid_t child = fork();
    if (child == 0) {
        me->ops->forget(me->comm);
        if (rank_open(me)) {
            rank_swap(me, 1 - me->number, 1, 1000);
            rank_close(me);
        }
        _exit(0);
    }
    int status = 0;
    rank_check(me, waitpid(child, &status, 0) == child && WIFEXITED(status), "the child died");
    rank_swap(me, 1 - me->number, 1, 1000);
    rank_close(me);
    rank_not_broken(me);
}

int main(void)
{
#ifdef T_GLOO_PLUGIN
    needs_gloo();
#endif
    plan(20);
    ranks_run("a rank is killed while idle", 3, killed_idle);
    ranks_run("all survivors of five name the same rank", 5, killed_idle);
    ranks_run("a rank is killed before its first message", 3, killed_before_message);
    ranks_run("a rank is killed in the middle of sending", 3, killed_sending);
    ranks_run("a rank is killed in the middle of receiving", 3, killed_receiving);
    ranks_run("two are killed at once", 4, two_killed);
    ranks_run("a rank is stopped", 2, stopped);
    ranks_run("an abort reaches all", 4, abort_reaches_all);
    ranks_run("a goodbye is not a failure", 3, goodbye);
    ranks_run("nor is it one that others tell of", 3, goodbye_hearsay);
    ranks_run("closing with a message in flight is", 2, close_in_flight);
    for (int i = 0; i < 4; i++)
        ranks_run("no SIGPIPE under steady traffic", 2, no_sigpipe);
    ranks_run("no SIGPIPE when only posting", 2, no_sigpipe_posting);
    for (int i = 0; i < 3; i++)
        ranks_run("host->broken does not come after close", 2, close_while_lost);
    ranks_run("after fork", 2, forget);
    return done();
}
