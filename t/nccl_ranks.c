/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks for tests of the nccl plugin.
 */
#include "config.h"

#include "nccl_ranks.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "standin.h"

enum { CELL_SIZE = 1024, GROUPS = 64, PATIENCE_MS = 30000, T_MS = 30000 };

/* One rank's part of the exchange of one group. */
typedef struct cell {
    atomic_int round;
    size_t size;
    unsigned char bytes[CELL_SIZE];
} cell;

typedef struct shared {
    cell cells[GROUPS][NCCL_RANKS];
} shared;

static shared *shared_get(void)
{
    return ranks_shared(sizeof(shared));
}

static void nap(void)
{
    struct timespec one_ms = {0, 1000000};
    nanosleep(&one_ms, NULL);
}

/* ---- the core's side ---- */

static const char *core_option(const muster_comm_owner *owner, const char *name)
{
    const nccl_group *group = (const nccl_group *)owner;
    for (const char *const *at = group->options; at != NULL && at[0] != NULL; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

static muster_status core_exchange(muster_comm_owner *owner, muster_blob mine,
                                   const muster_blob **all)
{
    nccl_group *group = (nccl_group *)owner;
    cell *cells = shared_get()->cells[group->number];
    cell *my_cell = &cells[group->members[group->rank]];
    deadline end = deadline_in(group->timeout_ms);
    group->rounds++;
    memcpy(my_cell->bytes, mine.data, mine.size);
    my_cell->size = mine.size;
    atomic_store(&my_cell->round, group->rounds);
    for (int r = 0; r < group->size; r++) {
        cell *theirs = &cells[group->members[r]];
        while (atomic_load(&theirs->round) < group->rounds) {
            if (deadline_left_ms(end) == 0)
                return error_set(MUSTER_ERR_TIMEOUT, "rank %d does not come", r);
            nap();
        }
        group->all[r] = (muster_blob){theirs->bytes, theirs->size};
    }
    if (group->after_exchange != NULL)
        group->after_exchange(group);
    *all = group->all;
    return MUSTER_OK;
}

static bool core_cancelled(const muster_comm_owner *owner)
{
    return atomic_load(&((const nccl_group *)owner)->cancelled);
}

static void core_broken(muster_comm_owner *owner, int rank, muster_status status,
                        const char *sentence)
{
    nccl_group *group = (nccl_group *)owner;
    (void)rank;
    if (atomic_load(&group->closed))
        atomic_store(&group->came_late, true);
    pthread_mutex_lock(&group->lock);
    if (group->broken_count++ == 0) {
        group->broken_status = status;
        snprintf(group->broken_sentence, sizeof(group->broken_sentence), "%s", sentence);
    }
    muster_comm *comm = group->comm; /* NULL where open has not returned yet */
    pthread_mutex_unlock(&group->lock);
    if (group->abort_when_broken && comm != NULL)
        nccl_plugin()->abort(comm);
}

/* ---- the plugin ---- */

static void *nothing(void *unused)
{
    return unused;
}

const muster_backend *nccl_plugin(void)
{
    static const muster_backend *table;
    muster_backend_info info = {.size = sizeof(info)};
    if (table != NULL)
        return table;
    /* With the first thread a sanitizer starts one of its own, which is not to be counted. */
    pthread_t first;
    if (pthread_create(&first, NULL, nothing, NULL) == 0)
        pthread_join(first, NULL);
    const char *version = getenv("T_NCCL");
    standin_use(version != NULL ? version : "2.28");
    void *plugin = dlopen(T_NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL)
        bail_out("dlopen: %s", dlerror());
    const muster_backend *found = dlsym(plugin, MUSTER_BACKEND_SYMBOL);
    if (found->probe(&host_functions, &info) != MUSTER_OK)
        bail_out("probe: %s", muster_last_error());
    table = found;
    return table;
}

/* ---- groups ---- */

void nccl_group_init(nccl_group *group, int rank, int size)
{
    nccl_plugin();
    *group = (nccl_group){.owner = {.option = core_option,
                                    .exchange = core_exchange,
                                    .cancelled = core_cancelled,
                                    .broken = core_broken},
                          .rank = rank,
                          .size = size,
                          .device = rank,
                          .timeout_ms = patient(10000),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .abort_when_broken = true};
    for (int r = 0; r < size; r++)
        group->members[r] = r;
}

void nccl_group_init_half(nccl_group *half, const nccl_group *of, int number)
{
    int color = of->rank % 2;
    nccl_group_init(half, of->rank / 2, (of->size + 1 - color) / 2);
    for (int r = 0; r < half->size; r++)
        half->members[r] = of->members[2 * r + color];
    half->device = of->device;
    half->number = number;
    half->color = color;
    half->parent = of->comm;
}

muster_status nccl_try_open(nccl_group *group)
{
    const muster_open_args args = {.size = sizeof(args),
                                   .rank = group->rank,
                                   .num_ranks = group->size,
                                   .group_name = "test",
                                   .timeout_ms = group->timeout_ms,
                                   .address = "127.0.0.1",
                                   .one_host = true,
                                   .ranks_here = group->size,
                                   .cores_here = 4,
                                   .device = group->device,
                                   .parent = group->parent,
                                   .color = group->color};
    muster_comm *comm = NULL;
    atomic_store(&group->closed, false);
    muster_status status = nccl_plugin()->open(&group->owner, &args, &comm);
    pthread_mutex_lock(&group->lock);
    group->comm = comm;
    pthread_mutex_unlock(&group->lock);
    return status;
}

bool nccl_open(nccl_group *group)
{
    muster_status status = nccl_try_open(group);
    return ok(status == MUSTER_OK, "it opens") || (diag("%s", muster_last_error()), false);
}

void nccl_close(nccl_group *group)
{
    nccl_plugin()->close(group->comm);
    pthread_mutex_lock(&group->lock);
    group->comm = NULL;
    pthread_mutex_unlock(&group->lock);
    atomic_store(&group->closed, true);
}

bool nccl_await_broken(nccl_group *group, int64_t timeout_ms)
{
    deadline end = deadline_in(timeout_ms);
    for (;;) {
        pthread_mutex_lock(&group->lock);
        bool broken = group->broken_count > 0;
        pthread_mutex_unlock(&group->lock);
        if (broken || deadline_left_ms(end) == 0)
            return broken;
        nap();
    }
}

/* ---- memory ---- */

static const muster_device_table *table(void)
{
    return nccl_plugin()->devices;
}

void *nccl_stream(const nccl_group *group)
{
    static void *streams[NCCL_RANKS];
    if (streams[group->device] == NULL &&
        table()->stream_open(group->device, false, T_MS, &streams[group->device]) != MUSTER_OK)
        bail_out("stream: %s", muster_last_error());
    return streams[group->device];
}

void *nccl_memory(const nccl_group *group, size_t size)
{
    void *memory = NULL;
    if (table()->alloc_device(group->device, size, T_MS, &memory) != MUSTER_OK)
        bail_out("device memory: %s", muster_last_error());
    return memory;
}

static void copy(const nccl_group *group, void *to, const void *from, size_t size)
{
    muster_copy *one;
    if (table()->copy_start(group->device, nccl_stream(group), to, from, size, T_MS, &one) !=
            MUSTER_OK ||
        table()->copy_wait(one, patient(PATIENCE_MS)) != MUSTER_OK)
        bail_out("copy: %s", muster_last_error());
}

static void *pinned(const nccl_group *group, size_t size)
{
    void *memory = NULL;
    if (table()->alloc_pinned(group->device, size, T_MS, &memory) != MUSTER_OK)
        bail_out("pinned memory: %s", muster_last_error());
    return memory;
}

void nccl_put(const nccl_group *group, void *memory, const void *from, size_t size)
{
    void *between = pinned(group, size);
    memcpy(between, from, size);
    copy(group, memory, between, size);
    table()->free_memory(group->device, between);
}

void nccl_get(const nccl_group *group, void *to, const void *memory, size_t size)
{
    void *between = pinned(group, size);
    copy(group, between, memory, size);
    memcpy(to, between, size);
    table()->free_memory(group->device, between);
}

/* ---- operations ---- */

muster_status nccl_run(nccl_group *group, const muster_call *call, int64_t timeout_ms)
{
    muster_request *request = NULL;
    muster_status status = nccl_plugin()->call(group->comm, call, &request);
    return status == MUSTER_OK ? nccl_plugin()->wait(group->comm, request, timeout_ms) : status;
}

bool nccl_works(nccl_group *group)
{
    int32_t mine = group->rank + 1, sum = 0;
    void *memory = nccl_memory(group, sizeof(mine));
    nccl_put(group, memory, &mine, sizeof(mine));
    const muster_call call = {.size = sizeof(call),
                              .operation = MUSTER_OPERATION_ALL_REDUCE,
                              .type = MUSTER_INT32,
                              .redop = MUSTER_SUM,
                              .count = 1,
                              .send = memory,
                              .receive = memory,
                              .stream = nccl_stream(group)};
    muster_status status = nccl_run(group, &call, patient(PATIENCE_MS));
    if (status == MUSTER_OK)
        nccl_get(group, &sum, memory, sizeof(sum));
    else
        diag("%s", muster_last_error());
    table()->free_memory(group->device, memory);
    return sum == group->size * (group->size + 1) / 2;
}

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

nccl_holdings nccl_held(void)
{
    return (nccl_holdings){count_entries("/proc/self/task"), count_entries("/proc/self/fd")};
}

/* A thread that stays may have descriptors. */
static bool is_more(nccl_holdings now, nccl_holdings before, int more_threads)
{
    return now.threads > before.threads + more_threads ||
           (more_threads == 0 && now.descriptors > before.descriptors);
}

bool nccl_nothing_left(nccl_holdings before, int more_threads)
{
    deadline end = deadline_in(patient(5000));
    nccl_holdings now = nccl_held();
    while (is_more(now, before, more_threads) && deadline_left_ms(end) > 0) {
        nap();
        now = nccl_held();
    }
    if (is_more(now, before, more_threads))
        diag("%d threads before, %d after; %d descriptors before, %d after", before.threads,
             now.threads, before.descriptors, now.descriptors);
    return !is_more(now, before, more_threads);
}

/* ---- time ---- */

int64_t nccl_now_ms(void)
{
    return deadline_now_ns() / 1000000;
}

bool nccl_in_time(int64_t start_ms, int64_t allowed_ms)
{
    int64_t took_ms = nccl_now_ms() - start_ms;
    if (took_ms > patient(allowed_ms))
        diag("it took %lld ms", (long long)took_ms);
    return took_ms <= patient(allowed_ms);
}

nccl_holdings nccl_held_with_device(const nccl_group *group)
{
    nccl_stream(group);
    nccl_plugin()->devices->free_memory(group->device, nccl_memory(group, 64));
    return nccl_held();
}

void nccl_expect_close(nccl_group *group, nccl_holdings before, int more_threads)
{
    int64_t start = nccl_now_ms();
    nccl_close(group);
    ok(nccl_in_time(start, NCCL_CLOSE_MS), "close returns within a second");
    ok(nccl_nothing_left(before, more_threads) && !atomic_load(&group->came_late),
       "nothing is left, and nothing is reported any more");
}
