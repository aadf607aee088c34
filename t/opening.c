/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Openings of a backend that fail.
 */
#include "config.h"

#include "opening.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tap.h"

static int count_entries(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

int count_fds(void)
{
    return count_entries("/proc/self/fd");
}

int count_threads(void)
{
    return count_entries("/proc/self/task");
}

void expect_failure(rank *me, muster_status one, muster_status other, const char *part)
{
    int fds = count_fds(), threads = count_threads();
    int64_t start = deadline_now_ns();
    muster_status status = rank_try_open(me);
    int64_t took_ms = (deadline_now_ns() - start) / 1000000;
    rank_check(me, status == one || status == other, "open: %s: %s", muster_status_name(status),
               muster_last_error());
    rank_check(me, strstr(muster_last_error(), part) != NULL, "no '%s' in: %s", part,
               muster_last_error());
    rank_check(me, took_ms < patient(me->timeout_ms * 3 / 2 + 200), "it took %lld ms",
               (long long)took_ms);
    rank_check(me, me->comm == NULL, "comm was touched");
    opening_nothing_left(me, fds, threads);
}

static void die(rank *me)
{
    (void)me;
    _exit(0);
}

void hang(rank *me)
{
    (void)me;
    for (;;)
        pause();
}

void never_comes(rank *me)
{
    me->timeout_ms = 400;
    if (me->number != 1)
        expect_failure(me, MUSTER_ERR_TIMEOUT, MUSTER_ERR_TIMEOUT, "rank 1");
}

/* The one that dies may be met while dialling, or as a greeting that does not come. */
static void without_last(rank *me, void (*last)(rank *me))
{
    me->timeout_ms = 1000;
    if (me->number == me->size - 1) {
        rank_may_die(me);
        me->after_exchange = last;
        rank_try_open(me);
    }
    expect_failure(me, MUSTER_ERR_PEER_LOST, MUSTER_ERR_TIMEOUT, opening_lost);
    if (me->number == 0)
        kill(rank_pid(me, me->size - 1), SIGKILL);
}

void dies_half_way(rank *me)
{
    without_last(me, die);
}

void hangs_half_way(rank *me)
{
    rank_pid(me, me->size - 1);
    without_last(me, hang);
}
