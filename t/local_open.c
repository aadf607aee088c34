/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a group over shared memory: what makes it fail, what strangers can do, and what is left
 * behind.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "card.h"
#include "local_left.h"
#include "opening.h"
#include "segment.h"
#include "tap.h"

enum { OPENED };

/* ---- opening fails ---- */

static void be_told(rank *me)
{
    if (me->number == me->size - 1)
        hang(me);
    atomic_store(&me->cancelled, true);
}

static void cancelled(rank *me)
{
    me->after_exchange = be_told;
    if (me->number == me->size - 1) {
        rank_may_die(me);
        rank_try_open(me);
    }
    int64_t start = deadline_now_ns();
    expect_failure(me, MUSTER_ERR_FAILED, MUSTER_ERR_PEER_LOST, "another rank");
    rank_check(me, deadline_now_ns() - start < patient(3000) * 1000000,
               "it waited for the time-out");
    if (me->number == 0)
        kill(rank_pid(me, me->size - 1), SIGKILL);
}

/* ---- what the others publish can't be trusted ---- */

static size_t mangled_byte, mangled_size;
static int mangled_rank;

static void cut(rank *me)
{
    me->all[mangled_rank].size = mangled_size;
}

static void flip(rank *me)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)me->all[mangled_rank].data;
    bytes[mangled_byte] ^= 0x55;
}

static void expect_mangled(rank *me, int whose, size_t byte, muster_status status, const char *part)
{
    me->timeout_ms = 500;
    me->after_exchange = flip;
    mangled_rank = whose;
    mangled_byte = byte;
    expect_failure(me, status, status, part);
}

static void mangled(rank *me)
{
    me->timeout_ms = 500;
    me->after_exchange = cut;
    mangled_rank = 1;
    for (mangled_size = 0; mangled_size < sizeof(card); mangled_size += 7)
        expect_failure(me, MUSTER_ERR_PROTOCOL, MUSTER_ERR_MISMATCH, "rank 1");
    expect_mangled(me, 1, offsetof(card, magic), MUSTER_ERR_MISMATCH, "same version");
    expect_mangled(me, 1, offsetof(card, rank), MUSTER_ERR_PROTOCOL, "at the place of rank 1");
    expect_mangled(me, 1, offsetof(card, size), MUSTER_ERR_PROTOCOL, "at the place of rank 1");
    expect_mangled(me, 1, sizeof(((card *)NULL)->ear) - 1 + offsetof(card, ear),
                   MUSTER_ERR_PROTOCOL, "at the place of rank 1");
}

/* Containers of one host that do not see each other: every rank says so at once, alike. */
static void namespaces(rank *me)
{
    expect_mangled(me, 1, offsetof(card, pid_space), MUSTER_ERR_UNAVAILABLE, "different pid name");
    expect_mangled(me, 1, offsetof(card, net_space), MUSTER_ERR_UNAVAILABLE,
                   "different network name");
    expect_mangled(me, 1, offsetof(card, user), MUSTER_ERR_UNAVAILABLE, "as user");
}

/* What is found there is not the memory that rank 0 made. */
static void wrong_memory(rank *me)
{
    size_t at[] = {offsetof(card, segment), offsetof(card, nonce)};
    for (size_t i = 0; i < 2; i++) {
        me->timeout_ms = 300;
        me->after_exchange = flip;
        mangled_rank = 0;
        mangled_byte = at[i];
        if (me->number == 1)
            expect_failure(me, MUSTER_ERR_UNAVAILABLE, MUSTER_ERR_PEER_LOST, "rank 0 (pid");
        else
            expect_failure(me, MUSTER_ERR_TIMEOUT, MUSTER_ERR_TIMEOUT, "rank 1");
        rank_meet(me, (int)i);
    }
    if (me->number == 1)
        expect_mangled(me, 0, offsetof(card, bytes), MUSTER_ERR_MISMATCH, "same version");
    else
        rank_try_open(me);
}

/* A rank has mapped something, but its proof is not what its card said. */
static void wrong_proof(rank *me)
{
    if (me->number == 0)
        expect_mangled(me, 1, offsetof(card, nonce), MUSTER_ERR_PROTOCOL, "rank 1");
    else if (rank_open(me))
        rank_close(me);
}

/* Its pid is another's by now. */
static void wrong_start(rank *me)
{
    me->timeout_ms = 1000;
    me->after_exchange = flip;
    mangled_rank = 1;
    mangled_byte = offsetof(card, process) + offsetof(process, start);
    if (me->number == 0)
        expect_failure(me, MUSTER_ERR_PEER_LOST, MUSTER_ERR_PEER_LOST, "rank 1 has ended");
    else
        rank_try_open(me);
}

/* ---- strangers ---- */

static char ear[sizeof(((card *)NULL)->ear)];

static void learn_ear(rank *me)
{
    const card *other = me->all[1 - me->number].data;
    memcpy(ear, other->ear, sizeof(ear));
}

/* Somebody speaks to the ears all the time, in all lengths. */
static void strangers(rank *me)
{
    static char noise[3000];
    me->after_exchange = learn_ear;
    if (!rank_open(me))
        return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path + 1, ear);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(ear));
    int heard = 0;
    for (size_t i = 0; i < sizeof(noise); i++) {
        heard += sendto(fd, noise, i, MSG_DONTWAIT, (struct sockaddr *)&address, size) >= 0;
        if (i % 500 == 0)
            rank_swap(me, 1 - me->number, 1, 1000);
    }
    rank_check(me, heard > 0, "nobody listens");
    rank_not_broken(me);
    rank_meet(me, OPENED);
    if (me->number == 0)
        me->ops->abort(me->comm);
    else
        rank_check(me, rank_wait_broken(me, 2000), "an abort is not heard any more");
    rank_close(me);
    close(fd);
}

/* ---- what is left behind ---- */

static void hundred_rounds(rank *me)
{
    int fds = count_fds(), threads = count_threads();
    for (int i = 0; i < 100; i++) {
        if (!rank_open(me) || !rank_swap(me, 1 - me->number, 1, 10000))
            return;
        rank_check(me, count_mappings() > 0, "no memory is mapped");
        rank_close(me);
    }
    opening_nothing_left(me, fds, threads);
}

/* One for each other process and an ear, however many groups there are, all close-on-exec. */
static void few_descriptors(rank *me)
{
    enum { GROUPS = 5 };
    muster_comm *comms[GROUPS];
    int fds = count_fds(), threads = count_threads();
    for (int i = 0; i < GROUPS; i++) {
        if (!rank_open(me))
            return;
        comms[i] = me->comm;
    }
    rank_check(me, count_fds() - fds <= me->size, "%d groups of %d have %d descriptors", GROUPS,
               me->size, count_fds() - fds);
    int now = count_threads();
    rank_check(me, now - threads <= 1, "and %d threads", now - threads);
    for (int fd = 3; fd < 1024; fd++) {
        char path[40], what[64] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, what, sizeof(what) - 1) > 0 &&
            (strncmp(what, "socket:", 7) == 0 || strstr(what, "pidfd") != NULL))
            rank_check(me, (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "%s would be inherited", what);
    }
    rank_meet(me, OPENED);
    for (int i = 0; i < GROUPS; i++) {
        me->comm = comms[i];
        rank_close(me);
    }
    opening_nothing_left(me, fds, threads);
}

/* Killed without more ado: nothing of the memory has a name that could stay. */
static void killed_all(rank *me)
{
    if (!rank_open(me))
        return;
    rank_may_die(me);
    rank_meet(me, OPENED);
    rank_check(me, count_names() == 0, "there is a name in /dev/shm");
    kill(getpid(), SIGKILL);
}

static void many(rank *me)
{
    int64_t start = deadline_now_ns();
    if (!rank_open(me))
        return;
    int64_t took_ms = (deadline_now_ns() - start) / 1000000;
    rank_check(me, took_ms < patient(5000), "it took %lld ms", (long long)took_ms);
    rank_swap(me, me->number ^ 1, 1, 1000);
    rank_meet(me, OPENED);
    rank_close(me);
    rank_not_broken(me);
}

/* Rings become smaller and the whole stays in bounds. */
static void test_measures(void)
{
    bool right = true;
    for (int size = 2; size <= 256; size *= 2) {
        segment it = segment_measure(size);
        segment_ring *last = (it.base = NULL, segment_at_ring(&it, size - 1, size - 2));
        size_t end = (size_t)((unsigned char *)last - it.base) + sizeof(*last) + it.ring_bytes;
        size_t hall = (size_t)((unsigned char *)segment_at_hall(&it) - it.base);
        right = right && it.ring_bytes >= 2048 && end <= hall && hall < it.bytes &&
                hall % 4096 == 0 && (it.ring_bytes & (it.ring_bytes - 1)) == 0;
    }
    ok(right, "the measures of segments");
}

int main(void)
{
    plan(18);
    test_measures();
    ranks_run("a rank does not come", 3, never_comes);
    ranks_run("a rank dies after the exchange", 3, dies_half_way);
    ranks_run("a rank hangs there", 3, hangs_half_way);
    ranks_run("the others have failed", 3, cancelled);
    ranks_run("cards that are mangled", 2, mangled);
    ranks_run("ranks that can't see each other", 2, namespaces);
    ranks_run("memory that is not rank 0's", 2, wrong_memory);
    ranks_run("a proof that is wrong", 2, wrong_proof);
    ranks_run("a pid that is another's", 2, wrong_start);
    ranks_run("strangers", 2, strangers);
    ranks_run("a hundred rounds leave nothing", 2, hundred_rounds);
    ranks_run("descriptors of five groups of 2", 2, few_descriptors);
    ranks_run("and of 8", 8, few_descriptors);
    ranks_run("all are killed", 4, killed_all);
    is_int(count_names(), 0, "nothing is left in /dev/shm");
    is_int(count_mappings(), 0, "nor mapped");
    ranks_run("64 ranks", 64, many);
    return done();
}
