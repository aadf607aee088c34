/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gloo plugin: opening that fails, and what opening and closing leave behind.
 */
#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "opening.h"
#include "tap.h"

enum { OPENED, CLOSED };

/* ---- what this process holds ---- */

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

const char opening_lost[] = "rank"; /* it may be met while dialling, or as no greeting */

/* Waits until as few descriptors and threads are there as before. */
void opening_nothing_left(rank *me, int fds, int threads)
{
    deadline end = deadline_in(3000);
    while ((count_fds() > fds || count_threads() > threads) && deadline_left_ms(end) > 0)
        usleep(2000);
    rank_check(me, count_fds() <= fds, "%d descriptors before, %d after", fds, count_fds());
    rank_check(me, count_threads() <= threads, "%d threads before, %d after", threads,
               count_threads());
}

/* ---- opening fails ---- */

static void two_hang(rank *me)
{
    me->timeout_ms = 1000;
    if (me->number > 0) {
        rank_may_die(me);
        me->after_exchange = hang;
    }
    rank_pid(me, 2);
    rank_check(me, rank_try_open(me) == MUSTER_ERR_TIMEOUT, "%s", muster_last_error());
    rank_check(me,
               strstr(muster_last_error(), " to ranks 1 at 127.0.0.1, 2 at 127.0.0.1 (") != NULL,
               "%s", muster_last_error());
    for (int peer = 1; peer < me->size; peer++)
        kill(rank_pid(me, peer), SIGKILL);
}

static void not_our_address(rank *me)
{
    me->address = "192.0.2.1";
    expect_failure(me, MUSTER_ERR_SYSTEM, MUSTER_ERR_SYSTEM, "192.0.2.1");
    rank_check(me, strstr(muster_last_error(), "gloo.iface") != NULL, "%s", muster_last_error());
}

static void any_address(rank *me)
{
    me->address = me->number == 0 ? "0.0.0.0" : "::";
    expect_failure(me, MUSTER_ERR_ARGUMENT, MUSTER_ERR_ARGUMENT, me->address);
}

static void not_numeric(rank *me)
{
    me->address = "localhost";
    expect_failure(me, MUSTER_ERR_ARGUMENT, MUSTER_ERR_ARGUMENT, "localhost");
}

static void bad_batch(rank *me)
{
    me->batch = "maybe";
    expect_failure(me, MUSTER_ERR_ARGUMENT, MUSTER_ERR_ARGUMENT, "maybe");
}

static void two_families(rank *me)
{
    me->timeout_ms = 2000;
    me->address = me->number == 0 ? "127.0.0.1" : "::1";
    expect_failure(me, MUSTER_ERR_MISMATCH, MUSTER_ERR_MISMATCH, "IPv6");
    rank_check(me, strstr(muster_last_error(), "IPv4") != NULL, "%s", muster_last_error());
}

static void set_limit(rlim_t soft, rlim_t hard)
{
    struct rlimit limit = {soft, hard};
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void few_descriptors(rank *me)
{
    rlim_t now = (rlim_t)count_fds() - 3; /* without "." and ".." and the folder itself */
    set_limit(now + 4, now + 4);
    expect_failure(me, MUSTER_ERR_SYSTEM, MUSTER_ERR_SYSTEM, "descriptors");
    char words[32];
    snprintf(words, sizeof(words), "limit is %d", (int)now + 4);
    rank_check(me, strstr(muster_last_error(), words) != NULL, "no '%s' in: %s", words,
               muster_last_error());
}

static void low_soft_limit(rank *me)
{
    rlim_t now = (rlim_t)count_fds() - 3;
    set_limit(now + 4, now + 100);
    if (rank_open(me)) {
        rank_swap(me, 1 - me->number, 1, 1000);
        rank_close(me);
    }
}

/* ---- what the others publish can't be trusted ---- */

static size_t mangled_size;
static int mangled_byte;

static void cut(rank *me)
{
    me->all[1 - me->number].size = mangled_size;
}

static void flip(rank *me)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)me->all[1 - me->number].data;
    bytes[mangled_byte] ^= 0x55;
}

/* Too short at every length, and each byte of the header wrong. */
static void mangled(rank *me)
{
    me->timeout_ms = 2000;
    me->after_exchange = cut;
    for (mangled_size = 0; mangled_size < 52; mangled_size += 3) {
        muster_status status = rank_try_open(me);
        rank_check(me, status == MUSTER_ERR_PROTOCOL, "cut to %zu: %s: %s", mangled_size,
                   muster_status_name(status), muster_last_error());
    }
    me->after_exchange = flip;
    for (mangled_byte = 0; mangled_byte < 16; mangled_byte++) {
        if (mangled_byte == 7) /* it has no meaning */
            continue;
        muster_status status = rank_try_open(me);
        rank_check(me, status == MUSTER_ERR_PROTOCOL || status == MUSTER_ERR_MISMATCH,
                   "byte %d: %s: %s", mangled_byte, muster_status_name(status),
                   muster_last_error());
    }
}

/* Ranks that have each other's secret wrong are strangers to each other. */
static void wrong_secret(rank *me)
{
    me->timeout_ms = 1000;
    me->after_exchange = flip;
    mangled_byte = 40;
    expect_failure(me, MUSTER_ERR_TIMEOUT, MUSTER_ERR_PEER_LOST, "rank");
}

/* Somebody else says that open is to be given up. */
static void hang_or_be_told(rank *me)
{
    if (me->number == me->size - 1)
        hang(me);
    atomic_store(&me->cancelled, true);
}

static void cancelled(rank *me)
{
    me->after_exchange = hang_or_be_told;
    if (me->number == me->size - 1) {
        rank_may_die(me);
        rank_try_open(me);
    }
    int64_t start = deadline_now_ns();
    expect_failure(me, MUSTER_ERR_FAILED, MUSTER_ERR_PEER_LOST, "given up");
    rank_check(me, deadline_now_ns() - start < patient(3000) * 1000000,
               "it waited for the time-out");
    if (me->number == 0)
        kill(rank_pid(me, me->size - 1), SIGKILL);
}

/* ---- what is left behind ---- */

static void hundred_rounds(rank *me)
{
    int fds = count_fds();
    int threads = count_threads();
    long kb = 0;
    for (int i = 0; i < 110; i++) {
        if (i == 10)
            kb = resident_kb();
        if (!rank_open(me) || !rank_swap(me, 1 - me->number, 1, 10000))
            return;
        rank_close(me);
    }
    opening_nothing_left(me, fds, threads);
    long grown = resident_kb() - kb;
#ifndef SANITIZED
    rank_check(me, grown < 2048, "it has grown by %ld kB", grown);
#endif
    (void)grown;
}

/* Sockets and epolls without close-on-exec. */
static int count_inherited(void)
{
    int count = 0;
    for (int fd = 3; fd < 1024; fd++) {
        char path[40], what[40] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        if (readlink(path, what, sizeof(what) - 1) > 0 &&
            (strncmp(what, "socket:", 7) == 0 || strstr(what, "eventpoll") != NULL))
            count += (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0;
    }
    return count;
}

static void close_on_exec(rank *me)
{
    int before = count_inherited();
    int fds = count_fds();
    if (!rank_open(me))
        return;
    rank_check(me, count_fds() >= fds + me->size - 1, "there are no sockets");
    rank_check(me, count_inherited() == before, "%d descriptors would be inherited",
               count_inherited() - before);
    rank_meet(me, OPENED);
    rank_close(me);
}

/* Reads a line of a thread's status, in hex. */
static unsigned long long blocked_signals(const char *thread)
{
    char path[300], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "SigBlk:", 7) == 0)
            mask = strtoull(line + 7, NULL, 16);
    if (file != NULL)
        fclose(file);
    return mask;
}

/* Of the threads other than the first: those that take signals, and those in SCHED_BATCH. */
static void look_at_threads(int *open_to_signals, int *in_batch)
{
    const unsigned long long ours = 1ULL << (SIGUSR1 - 1) | 1ULL << (SIGPIPE - 1) |
                                    1ULL << (SIGTERM - 1) | 1ULL << (SIGALRM - 1);
    *open_to_signals = *in_batch = 0;
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int number = atoi(entry->d_name);
        if (number == 0 || number == getpid())
            continue;
        *open_to_signals += (blocked_signals(entry->d_name) & ours) != ours;
        *in_batch += sched_getscheduler(number) == SCHED_BATCH;
    }
    if (folder != NULL)
        closedir(folder);
}

/* ASan and TSan may have a thread of their own. */
static void threads_with(rank *me, const char *batch, int expected)
{
    int open_before, batch_before, open_after, batch_after;
    look_at_threads(&open_before, &batch_before);
    me->batch = batch;
    if (!rank_open(me))
        return;
    look_at_threads(&open_after, &batch_after);
    rank_check(me, open_after == open_before, "%d threads take signals", open_after - open_before);
    rank_check(me, batch_after - batch_before == expected, "%d threads are in SCHED_BATCH",
               batch_after - batch_before);
    rank_meet(me, OPENED);
    rank_close(me);
}

static void threads_batch_on(rank *me)
{
    threads_with(me, "on", 1);
}

static void threads_batch_off(rank *me)
{
    threads_with(me, "off", 0);
}

/* Two ranks on four cores: each thread of Gloo has a core. Three: they share. */
static void threads_batch_auto(rank *me)
{
    threads_with(me, "auto", me->size > 2);
}

/* ---- without ranks ---- */

static void test_table(void)
{
    void *plugin = dlopen(T_GLOO_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL)
        bail_out("dlopen: %s", dlerror());
    const muster_backend *gloo = dlsym(plugin, MUSTER_BACKEND_SYMBOL);
    muster_backend_info info = {.size = sizeof(info)};
    is_int(gloo->abi, MUSTER_BACKEND_ABI, "the table has the abi of this library");
    is_int(gloo->size, sizeof(muster_backend), "and its size");
    is_str(gloo->name, "gloo", "and its name");
    int fds = count_fds();
    int threads = count_threads();
    is_int(gloo->probe(&host_functions, &info), MUSTER_OK, "probe works");
    is_str(info.version, "0.5.0", "it tells the version");
    has_str(info.details, "tcp", "and the transport");
    ok(count_fds() == fds && count_threads() == threads, "and leaves no descriptor or thread");

    muster_host old = host_functions;
    old.abi = 0;
    is_int(gloo->probe(&old, &info), MUSTER_ERR_UNAVAILABLE, "a core of another abi is refused");
    old.abi = MUSTER_BACKEND_ABI;
    old.size = 8;
    is_int(gloo->probe(&old, &info), MUSTER_ERR_UNAVAILABLE, "so is one with a shorter table");

    bool fine = true;
    int count = 0;
    for (const muster_option *option = gloo->options; option->name != NULL; option++, count++)
        fine = fine && strncmp(option->name, "gloo.", 5) == 0 && option->help != NULL &&
               strchr(option->help, '\n') == NULL;
    ok(fine && count == 4, "four options have a name of the right form and one line of help");
}

int main(void)
{
    needs_gloo();
    plan(10 + 21);
    test_table();
    ranks_run("a rank never comes", 3, never_comes);
    ranks_run("a rank dies after it has published its addresses", 3, dies_half_way);
    ranks_run("a rank hangs after it has published its addresses", 3, hangs_half_way);
    ranks_run("two ranks hang", 3, two_hang);
    ranks_run("an address of another host", 2, not_our_address);
    ranks_run("an address that is any", 2, any_address);
    ranks_run("an address that is a name", 2, not_numeric);
    ranks_run("a wrong option", 2, bad_batch);
    ranks_run("two families of addresses", 2, two_families);
    ranks_run("too few descriptors", 2, few_descriptors);
    ranks_run("a soft limit that can be raised", 2, low_soft_limit);
    ranks_run("what a peer publishes is mangled", 2, mangled);
    ranks_run("a wrong secret", 2, wrong_secret);
    ranks_run("opening is cancelled", 3, cancelled);
    ranks_run("a hundred rounds leave nothing", 2, hundred_rounds);
    ranks_run("descriptors are close-on-exec", 3, close_on_exec);
    ranks_run_at("::1", "over IPv6 too", 2, close_on_exec);
    ranks_run("gloo.batch=on", 2, threads_batch_on);
    ranks_run("gloo.batch=off", 3, threads_batch_off);
    ranks_run("gloo.batch=auto with a core each", 2, threads_batch_auto);
    ranks_run("gloo.batch=auto with fewer cores", 3, threads_batch_auto);
    return done();
}
