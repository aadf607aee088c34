/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks for tests of a backend.
 */
#include "config.h"

#include "backend_ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tap.h"

enum { CELL_SIZE = 8192, WORDS = 700, PATIENCE_MS = 60000 };

/* One rank's part of one exchange. Two rounds suffice: nobody ends round n+1 before all have begun
 * it, and they have copied round n by then. */
typedef struct cell {
    atomic_int round;
    size_t size;
    unsigned char bytes[CELL_SIZE];
} cell;

struct ranks_shared {
    cell cells[2][RANKS_MAX];
    atomic_llong flags[FLAGS];
    atomic_int pids[RANKS_MAX];
    atomic_bool may_die[RANKS_MAX];
    atomic_bool ended[RANKS_MAX];
    char failed[RANKS_MAX][WORDS];
};

static void nap(void)
{
    struct timespec one_ms = {0, 1000000};
    nanosleep(&one_ms, NULL);
}

/* ---- the core's side ---- */

static const char *core_option(const muster_comm_owner *owner, const char *name)
{
    const rank *me = (const rank *)owner;
    if (strcmp(name, "local.single_copy") == 0)
        return me->single_copy;
    if (strcmp(name, "gloo.batch") == 0)
        return me->batch;
    const muster_option *one = me->ops->options;
    while (one != NULL && one->name != NULL && strcmp(one->name, name) != 0)
        one++;
    return one != NULL && one->name != NULL ? one->default_value : NULL;
}

static muster_status core_exchange(muster_comm_owner *owner, muster_blob mine,
                                   const muster_blob **all)
{
    rank *me = (rank *)owner;
    static unsigned char copies[RANKS_MAX][CELL_SIZE];
    int round = ++me->rounds;
    cell *cells = me->shared->cells[round % 2];
    deadline end = deadline_in(me->timeout_ms);
    memcpy(cells[me->number].bytes, mine.data, mine.size);
    cells[me->number].size = mine.size;
    atomic_store(&cells[me->number].round, round);
    for (int peer = 0; peer < me->size; peer++) {
        while (atomic_load(&cells[peer].round) < round) {
            if (deadline_left_ms(end) == 0)
                return error_set(MUSTER_ERR_TIMEOUT, "rank %d does not come", peer);
            nap();
        }
        memcpy(copies[peer], cells[peer].bytes, cells[peer].size);
        me->all[peer] = (muster_blob){copies[peer], cells[peer].size};
    }
    if (me->after_exchange != NULL)
        me->after_exchange(me);
    *all = me->all;
    return MUSTER_OK;
}

static bool core_cancelled(const muster_comm_owner *owner)
{
    const rank *me = (const rank *)owner;
    return atomic_load(&me->cancelled);
}

static void core_broken(muster_comm_owner *owner, int number, muster_status status,
                        const char *sentence)
{
    rank *me = (rank *)owner;
    rank_check(me, !atomic_load(&me->closed), "host->broken came after close: %s", sentence);
    pthread_mutex_lock(&me->lock);
    if (me->broken_count++ == 0) {
        me->broken_rank = number;
        me->broken_status = status;
        me->broken_at_ns = deadline_now_ns();
        snprintf(me->broken_sentence, sizeof(me->broken_sentence), "%s", sentence);
    }
    muster_comm *comm = me->comm; /* NULL where open has not returned yet */
    pthread_mutex_unlock(&me->lock);
    if (me->abort_when_broken && comm != NULL)
        me->ops->abort(comm);
}

/* ---- one rank ---- */

bool rank_check(rank *me, bool passed, const char *format, ...)
{
    char *words = me->shared->failed[me->number];
    if (passed || words[0] != '\0')
        return passed;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, WORDS, format, arguments);
    va_end(arguments);
    return passed;
}

void rank_may_die(rank *me)
{
    atomic_store(&me->shared->may_die[me->number], true);
}

muster_status rank_try_open(rank *me)
{
    muster_open_args args = {
        .size = sizeof(args),
        .rank = me->number,
        .num_ranks = me->size,
        .group_name = "test",
        .timeout_ms = me->timeout_ms,
        .address = me->address,
        .one_host = true,
        .ranks_here = me->size,
        .cores_here = me->cores,
    };
    atomic_store(&me->closed, false);
    muster_comm *comm = NULL;
    muster_status status = me->ops->open(&me->owner, &args, &comm);
    pthread_mutex_lock(&me->lock);
    me->comm = comm;
    pthread_mutex_unlock(&me->lock);
    return status;
}

bool rank_open(rank *me)
{
    return rank_check(me, rank_try_open(me) == MUSTER_OK, "open: %s", muster_last_error());
}

void rank_close(rank *me)
{
    me->ops->close(me->comm);
    pthread_mutex_lock(&me->lock);
    me->comm = NULL;
    pthread_mutex_unlock(&me->lock);
    atomic_store(&me->closed, true);
}

bool rank_not_broken(rank *me)
{
    pthread_mutex_lock(&me->lock);
    int count = me->broken_count;
    pthread_mutex_unlock(&me->lock);
    return rank_check(me, count == 0, "host->broken was called: %s", me->broken_sentence);
}

bool rank_wait_broken(rank *me, int64_t timeout_ms)
{
    deadline end = deadline_in(timeout_ms);
    for (;;) {
        pthread_mutex_lock(&me->lock);
        bool broken = me->broken_count > 0;
        pthread_mutex_unlock(&me->lock);
        if (broken || deadline_left_ms(end) == 0)
            return broken;
        nap();
    }
}

atomic_llong *rank_flag(rank *me, int flag)
{
    return &me->shared->flags[flag];
}

bool rank_wait_flag(rank *me, int flag, long long least)
{
    deadline end = deadline_in(PATIENCE_MS / 2);
    while (atomic_load(rank_flag(me, flag)) < least) {
        if (deadline_left_ms(end) == 0)
            return rank_check(me, false, "the others do not come to flag %d", flag);
        nap();
    }
    return true;
}

bool rank_meet(rank *me, int flag)
{
    atomic_fetch_add(rank_flag(me, flag), 1);
    return rank_wait_flag(me, flag, me->size);
}

pid_t rank_pid(rank *me, int number)
{
    while (atomic_load(&me->shared->pids[number]) == 0)
        nap();
    return atomic_load(&me->shared->pids[number]);
}

static unsigned char pattern(size_t i, int from, uint64_t slot)
{
    return (unsigned char)(i * 7 + (size_t)from * 31 + slot);
}

bool rank_swap(rank *me, int peer, uint64_t slot, size_t size)
{
    unsigned char *out = malloc(size);
    unsigned char *in = calloc(1, size);
    muster_request *send = NULL;
    muster_request *recv = NULL;
    for (size_t i = 0; i < size; i++)
        out[i] = pattern(i, me->number, slot);
    bool right =
        rank_check(me,
                   me->ops->post_recv(me->comm, peer, slot, in, size, &recv) == MUSTER_OK &&
                       me->ops->post_send(me->comm, peer, slot, out, size, &send) == MUSTER_OK,
                   "post: %s", muster_last_error());
    if (recv != NULL)
        right &= rank_check(me, me->ops->wait(me->comm, recv, 20000) == MUSTER_OK, "wait: %s",
                            muster_last_error());
    if (send != NULL)
        right &= rank_check(me, me->ops->wait(me->comm, send, 20000) == MUSTER_OK, "wait: %s",
                            muster_last_error());
    for (size_t i = 0; i < size && right; i++)
        right =
            rank_check(me, in[i] == pattern(i, peer, slot), "byte %zu of %zu is wrong", i, size);
    free(in);
    free(out);
    return right;
}

/* ---- all of them ---- */

static void *nothing(void *unused)
{
    return unused;
}

#ifdef T_GLOO_PLUGIN
static const muster_backend *const built_in = NULL;
#else
#define T_GLOO_PLUGIN NULL
extern const muster_backend local_backend;
static const muster_backend *const built_in = &local_backend;
#endif

/* MUSTER_TEST_PLUGIN names the file of another one. */
static const muster_backend *find_backend(rank *me)
{
    const char *file = getenv("MUSTER_TEST_PLUGIN");
    if (file == NULL && built_in != NULL)
        return built_in;
    void *plugin = dlopen(file != NULL ? file : T_GLOO_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        rank_check(me, false, "dlopen: %s", dlerror());
        _exit(1);
    }
    return dlsym(plugin, MUSTER_BACKEND_SYMBOL);
}

static void rank_begin(rank *me)
{
    /* With the first thread a sanitizer starts one of its own, which is not to be counted. */
    pthread_t first;
    if (pthread_create(&first, NULL, nothing, NULL) == 0)
        pthread_join(first, NULL);
    muster_backend_info info = {.size = sizeof(info)};
    me->ops = find_backend(me);
    if (me->ops->probe(&host_functions, &info) != MUSTER_OK) {
        rank_check(me, false, "probe: %s", muster_last_error());
        _exit(1);
    }
}

static void rank_live(struct ranks_shared *shared, int number, int size, const char *address,
                      void (*body)(rank *me))
{
    static rank me;
    me = (rank){
        .owner = {.option = core_option,
                  .exchange = core_exchange,
                  .cancelled = core_cancelled,
                  .broken = core_broken},
        .shared = shared,
        .number = number,
        .size = size,
        .address = address,
        .batch = "auto",
        .cores = 4,
        .timeout_ms = 20000,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .abort_when_broken = true,
    };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    atomic_store(&shared->pids[number], getpid());
    rank_begin(&me);
    body(&me);
    atomic_store(&shared->ended[number], true);
    exit(0);
}

/* Waits for all, and kills those that take too long. */
static void reap(struct ranks_shared *shared, const pid_t *pids, int size, bool *fine)
{
    deadline end = deadline_in(PATIENCE_MS);
    for (int i = 0; i < size; i++) {
        int status = 0;
        pid_t ended;
        while ((ended = waitpid(pids[i], &status, WNOHANG)) == 0 && deadline_left_ms(end) > 0)
            nap();
        if (ended == 0) {
            kill(pids[i], SIGCONT);
            kill(pids[i], SIGKILL);
            waitpid(pids[i], &status, 0);
            diag("rank %d hung and was killed", i);
            *fine = false;
        } else if (atomic_load(&shared->may_die[i])) {
            continue;
        } else if (WIFSIGNALED(status) || !atomic_load(&shared->ended[i])) {
            diag("rank %d ended early: %s %d", i, WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            *fine = false;
        } else if (WEXITSTATUS(status) != 0) {
            diag("rank %d ended with status %d", i, WEXITSTATUS(status));
            *fine = false;
        }
    }
}

void ranks_run_at(const char *address, const char *name, int size, void (*body)(rank *me))
{
    struct ranks_shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        bail_out("mmap: %s", strerror(errno));
    pid_t pids[RANKS_MAX];
    fflush(stdout);
    for (int i = 0; i < size; i++) {
        pids[i] = fork();
        if (pids[i] < 0)
            bail_out("fork: %s", strerror(errno));
        if (pids[i] == 0)
            rank_live(shared, i, size, address, body);
    }
    bool fine = true;
    reap(shared, pids, size, &fine);
    for (int i = 0; i < size; i++)
        if (shared->failed[i][0] != '\0') {
            diag("rank %d: %s", i, shared->failed[i]);
            fine = false;
        }
    ok(fine, "%s", name);
    munmap(shared, sizeof(*shared));
}

void ranks_run(const char *name, int size, void (*body)(rank *me))
{
    ranks_run_at("127.0.0.1", name, size, body);
}
