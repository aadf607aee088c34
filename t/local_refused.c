/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups over shared memory where there is no room for it, and where the kernel refuses what it is
 * asked for.
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "filter.h"
#include "local_left.h"
#include "opening.h"
#include "tap.h"

#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { OPENED };

static void refuse(rank *me, int number, int error)
{
    rank_check(me, filter_refuse(number, error), "no filter: %s", strerror(errno));
}

/* ---- full memory ---- */

static void block_xfsz(void)
{
    sigset_t set; /* as the core's threads have it */
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void fail_alone(rank *me, const char *part)
{
    me->timeout_ms = 300;
    if (me->number == 0)
        expect_failure(me, MUSTER_ERR_NO_MEMORY, MUSTER_ERR_NO_MEMORY, part);
}

static void full_by_file_size(rank *me)
{
    struct rlimit limit = {64 << 10, 64 << 10};
    block_xfsz();
    setrlimit(RLIMIT_FSIZE, &limit);
    fail_alone(me, "no room for");
}

/* Others have memory enough, and this one's address space is full. */
static void fill_address_space(rank *me)
{
    static const char line[] = "VmSize:";
    char text[80];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && kib == 0 && fgets(text, sizeof(text), status) != NULL)
        if (strncmp(text, line, sizeof(line) - 1) == 0)
            kib = atol(text + sizeof(line) - 1);
    if (status != NULL)
        fclose(status);
    struct rlimit limit = {(rlim_t)(kib + 256) << 10, RLIM_INFINITY};
    if (me->number == 1)
        setrlimit(RLIMIT_AS, &limit);
}

static void full_address_space(rank *me)
{
    me->timeout_ms = 300;
    me->after_exchange = fill_address_space;
    if (me->number == 1)
        expect_failure(me, MUSTER_ERR_NO_MEMORY, MUSTER_ERR_NO_MEMORY, "ulimit -v");
    else
        rank_try_open(me);
}

/* There is no descriptor left for it. */
static void take_descriptors(rank *me)
{
    const struct rlimit limit = {3, 64};
    if (me->number == 1)
        setrlimit(RLIMIT_NOFILE, &limit);
}

static void no_descriptors(rank *me)
{
    me->timeout_ms = 300;
    me->after_exchange = take_descriptors;
    if (me->number == 1)
        expect_failure(me, MUSTER_ERR_SYSTEM, MUSTER_ERR_SYSTEM, "ulimit -n");
    else
        rank_try_open(me);
    const struct rlimit again = {64, 64}; /* a sanitizer needs some in the end */
    setrlimit(RLIMIT_NOFILE, &again);
}

/* Where there is no memfd the memory is of /dev/shm, which may be small. */
static void full_dev_shm(rank *me)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64k") != 0)
        return;
    refuse(me, SYS_memfd_create, ENOSYS);
    fail_alone(me, "df /dev/shm");
}

/* ---- what the kernel refuses ---- */

static void swap_all(rank *me)
{
    for (int peer = 0; peer < me->size; peer++)
        if (peer != me->number)
            rank_swap(me, peer, 1, 3 << 20);
}

static void expect_described(rank *me, const char *part)
{
    if (!rank_open(me))
        return;
    const char *words = me->ops->describe(me->comm);
    rank_check(me, strstr(words, part) != NULL, "%s", words);
    swap_all(me);
    rank_close(me);
    rank_not_broken(me);
}

static void copied_once(rank *me)
{
    expect_described(me, "copied once");
}

static void no_reading(rank *me)
{
    refuse(me, SYS_process_vm_readv, EPERM);
    expect_described(me, "copied twice");
}

static void one_can_not_read(rank *me)
{
    if (me->number == 1)
        refuse(me, SYS_process_vm_readv, EPERM);
    expect_described(me, me->number == 1 ? "copied twice" : "copied once");
}

/* The program has a filter put in place later. */
static void reading_ends(rank *me)
{
    if (!rank_open(me))
        return;
    swap_all(me);
    refuse(me, SYS_process_vm_readv, EPERM);
    swap_all(me);
    swap_all(me);
    rank_close(me);
    rank_not_broken(me);
}

static void no_memfd(rank *me)
{
    refuse(me, SYS_memfd_create, ENOSYS);
    copied_once(me);
    rank_check(me, count_names() == 0, "a name is left in /dev/shm");
}

/* Then processes are looked at, often enough. */
static void no_pidfd(rank *me)
{
    refuse(me, SYS_pidfd_open, ENOSYS);
    if (!rank_open(me))
        return;
    rank_meet(me, OPENED);
    if (me->number == 1) {
        rank_may_die(me);
        kill(getpid(), SIGKILL);
    }
    int64_t start = deadline_now_ns();
    rank_check(me, rank_wait_broken(me, 5000), "not told");
    rank_check(me, me->broken_rank == 1 && me->broken_status == MUSTER_ERR_PEER_LOST, "%s",
               me->broken_sentence);
    rank_check(me, deadline_now_ns() - start < patient(1000) * 1000000, "told too late");
    rank_close(me);
}

/* Ranks whose memory is closed even to their own user. */
static void not_dumpable(rank *me)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        return;
    prctl(PR_SET_DUMPABLE, 0);
    me->timeout_ms = 300;
    if (me->number == 0)
        expect_failure(me, MUSTER_ERR_TIMEOUT, MUSTER_ERR_UNAVAILABLE, "rank");
    else
        rank_check(me, rank_try_open(me) == MUSTER_ERR_UNAVAILABLE, "%s", muster_last_error());
}

int main(void)
{
    plan(11);
    ranks_run("memory is full", 2, full_by_file_size);
    if (SANITIZED)
        skip(1, "a sanitizer takes the address space");
    else
        ranks_run("the address space is full", 2, full_address_space);
    ranks_run("descriptors are used up", 2, no_descriptors);
    if (geteuid() == 0)
        ranks_run("/dev/shm is full", 2, full_dev_shm);
    else
        skip(1, "mounting takes root");
    ranks_run("messages are copied once", 3, copied_once);
    ranks_run("or twice where nobody may read others' memory", 3, no_reading);
    ranks_run("or one may not", 3, one_can_not_read);
    ranks_run("or none may any longer", 2, reading_ends);
    ranks_run("without memfd_create", 2, no_memfd);
    ranks_run("without pidfd_open", 3, no_pidfd);
    ranks_run("processes that are closed to others", 2, not_dumpable);
    return done();
}
