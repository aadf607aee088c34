/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening a group over shared memory: what makes it fail, what strangers can do, what the kernel
 * may refuse, and what is left behind.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "backend_ranks.h"
#include "base/error.h"
#include "card.h"
#include "filter.h"
#include "segment.h"
#include "tap.h"

#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { OPENED, KILLED, CLOSED };

/* ---- what this process holds ---- */

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

static int count_fds(void)
{
    return count_entries("/proc/self/fd");
}

/* Lines of this process's maps that speak of memory of ours. */
static int count_mappings(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        count += strstr(line, "muster") != NULL &&
                 (strstr(line, "memfd:") != NULL || strstr(line, "/dev/shm/") != NULL);
    if (maps != NULL)
        fclose(maps);
    return count;
}

static int count_names(void)
{
    int count = 0;
    DIR *folder = opendir("/dev/shm");
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        count += strncmp(entry->d_name, "muster", 6) == 0;
    if (folder != NULL)
        closedir(folder);
    return count;
}

static void expect_nothing_left(rank *me, int fds, int threads)
{
    rank_check(me, count_fds() <= fds, "%d descriptors before, %d after", fds, count_fds());
    int now = count_entries("/proc/self/task");
    rank_check(me, now <= threads, "%d threads before, %d after", threads, now);
    rank_check(me, count_mappings() == 0, "memory is left mapped");
    rank_check(me, count_names() == 0, "a name is left in /dev/shm");
}

/* ---- opening fails ---- */

/* Opens, which must fail in time with one of two statuses and leave nothing; part is in the
 * sentence. */
static void expect_failure(rank *me, muster_status one, muster_status other, const char *part)
{
    int fds = count_fds(), threads = count_entries("/proc/self/task");
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
    expect_nothing_left(me, fds, threads);
}

static void die(rank *me)
{
    (void)me;
    _exit(0);
}

static void hang(rank *me)
{
    (void)me;
    for (;;)
        pause();
}

static void never_comes(rank *me)
{
    me->timeout_ms = 300;
    if (me->number != 1)
        expect_failure(me, MUSTER_ERR_TIMEOUT, MUSTER_ERR_TIMEOUT, "rank 1");
}

static void without_last(rank *me, void (*last)(rank *me))
{
    me->timeout_ms = 600;
    if (me->number == me->size - 1) {
        rank_may_die(me);
        me->after_exchange = last;
        rank_try_open(me);
    }
    expect_failure(me, MUSTER_ERR_PEER_LOST, MUSTER_ERR_TIMEOUT, "rank 2");
    if (me->number == 0)
        kill(rank_pid(me, me->size - 1), SIGKILL);
}

static void dies_half_way(rank *me)
{
    without_last(me, die);
}

static void hangs_half_way(rank *me)
{
    rank_pid(me, me->size - 1);
    without_last(me, hang);
}

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

static void refuse(rank *me, int number, int error);

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

static void refuse(rank *me, int number, int error)
{
    rank_check(me, filter_refuse(number, error), "no filter: %s", strerror(errno));
}

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
    int fds = count_fds(), threads = count_entries("/proc/self/task");
    for (int i = 0; i < 100; i++) {
        if (!rank_open(me) || !rank_swap(me, 1 - me->number, 1, 10000))
            return;
        rank_check(me, count_mappings() > 0, "no memory is mapped");
        rank_close(me);
    }
    expect_nothing_left(me, fds, threads);
}

/* One for each other process and an ear, however many groups there are, all close-on-exec. */
static void few_descriptors(rank *me)
{
    enum { GROUPS = 5 };
    muster_comm *comms[GROUPS];
    int fds = count_fds(), threads = count_entries("/proc/self/task");
    for (int i = 0; i < GROUPS; i++) {
        if (!rank_open(me))
            return;
        comms[i] = me->comm;
    }
    rank_check(me, count_fds() - fds <= me->size, "%d groups of %d have %d descriptors", GROUPS,
               me->size, count_fds() - fds);
    int now = count_entries("/proc/self/task");
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
    expect_nothing_left(me, fds, threads);
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
    plan(29);
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
