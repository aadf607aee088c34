/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rank's side of a test with several ranks.
 */
#include "config.h"

#include "ranks_self.h"
#include "ranks_report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct self process_self;
static _Thread_local struct self thread_self;
static int report_pipe = -1;

void self_set(const struct self *self)
{
    thread_self = *self;
}

/* Other threads of a rank's process speak for it. */
static struct self *self_get(void)
{
    return thread_self.meeting != NULL ? &thread_self : &process_self;
}

double ranks_time_factor(void)
{
    const char *text = getenv("MUSTER_TEST_TIMEOUT_FACTOR");
    double factor = text == NULL ? 1 : strtod(text, NULL);
    return factor > 0 && factor < 10000 ? factor : 1;
}

static double self_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void ranks_barrier_among(int count)
{
    struct self *self = self_get();
    struct meeting *meeting = self->meeting;
    uint32_t generation = atomic_load(&meeting->generation);
    double end = self_seconds() + 30 * ranks_time_factor();
    if (atomic_fetch_add(&meeting->arrived, 1) + 1 == count) {
        atomic_store(&meeting->arrived, 0);
        atomic_fetch_add(&meeting->generation, 1);
        syscall(SYS_futex, &meeting->generation, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
    while (atomic_load(&meeting->generation) == generation) {
        struct timespec second = {1, 0};
        syscall(SYS_futex, &meeting->generation, FUTEX_WAIT, generation, &second, NULL, 0);
        if (self_seconds() < end)
            continue;
        tap_make(TAP_FAILED, "a barrier of the test", "timed out: some rank did not come");
        fprintf(stderr, "rank %d waited in vain at a barrier of the test\n", self->rank);
        _exit(1);
    }
}

void ranks_barrier(void)
{
    ranks_barrier_among(self_get()->size);
}

/* Maps a file of the case's folder that all ranks make alike. */
static void *self_map(const char *name, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", getenv("MUSTER_TEST_DIR"), name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        bail_out("%s: %s", path, strerror(errno));
    close(file);
    return memory;
}

void *ranks_shared(size_t size)
{
    static void *area;
    if (area == NULL)
        area = self_map("shared", size);
    return area;
}

void ranks_kill(int rank, int signal)
{
    int pid = atomic_load(&self_get()->meeting->pids[rank]);
    if (pid <= 0 || kill(pid, signal) != 0)
        bail_out("rank %d can't be sent signal %d", rank, signal);
}

void ranks_skip_case(const char *reason, ...)
{
    char words[1024];
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(words, sizeof(words), reason, arguments);
    va_end(arguments);
    report_send(&report_pipe, (enum tap_kind)REPORT_SKIP_CASE, words, "");
    exit(0);
}

bool self_is_rank(void)
{
    return getenv("MUSTER_TEST_RANK") != NULL;
}

static int self_number(const char *name)
{
    const char *text = getenv(name);
    if (text == NULL) {
        fprintf(stderr, "%s is missing\n", name);
        exit(98);
    }
    return atoi(text);
}

#ifdef __SANITIZE_ADDRESS__
static int self_count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* The search for leaks at the end of a process holds all of its threads, and may hang where one of
 * them is just about to end, as those of a group that has failed are. */
static void self_let_threads_end(void)
{
    enum { NAP_MS = 20, QUIET_NAPS = 5, MOST_NAPS = 100 };
    int before = 0, quiet = 0;
    for (int i = 0; i < MOST_NAPS && quiet < QUIET_NAPS; i++) {
        int now = self_count_threads();
        quiet = now == before ? quiet + 1 : 0;
        before = now;
        nanosleep(&(struct timespec){0, NAP_MS * 1000000L}, NULL);
    }
}
#else
static void self_let_threads_end(void)
{
}
#endif

int self_main(const struct ranks_case *cases, size_t count)
{
    size_t number = (size_t)self_number("MUSTER_TEST_CASE");
    process_self.rank = self_number("MUSTER_TEST_RANK");
    process_self.size = self_number("MUSTER_TEST_SIZE");
    report_pipe = self_number("MUSTER_TEST_PIPE");
    if (number >= count || fcntl(report_pipe, F_SETFD, FD_CLOEXEC) != 0)
        exit(98);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    tap_set_process_sink(report_send, &report_pipe);
    process_self.meeting = self_map("meeting", sizeof(struct meeting));
    atomic_store(&process_self.meeting->pids[process_self.rank], (int)getpid());
    /* What a rank starts is not a rank of the test. */
    unsetenv("MUSTER_TEST_RANK");
    cases[number].body(process_self.rank, process_self.size);
    report_send(&report_pipe, (enum tap_kind)REPORT_FINISHED, "", "");
    self_let_threads_end();
    return 0;
}
