/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that meet in a hall.
 */
#include "config.h"

#include "hall_ranks.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/host.h"
#include "tap.h"

#ifdef __SANITIZE_THREAD__
enum { PROCESSES = 0 };
#else
enum { PROCESSES = 1 };
#endif

typedef struct shared {
    hall_report reports[HALL_RANKS_MOST];
    atomic_int opened;
} shared;

/* One rank on its thread or in its process. */
typedef struct runner {
    const hall_case *all;
    shared *common;
    void *base;
    int rank;
    pthread_t thread;
} runner;

bool hall_ranks_are_processes(void)
{
    return PROCESSES;
}

int hall_wrong(hall_rank *me, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(me->reports[me->rank].sentence, sizeof(me->reports[0].sentence), format, arguments);
    va_end(arguments);
    return 1;
}

static hall *open_hall(const runner *one)
{
    const hall_case *all = one->all;
    hall *made = NULL;
    hall_place place = {
        .host = &host_functions,
        .rank = one->rank,
        .size = all->size,
        .base = one->base,
        .cores_for_all = all->cores_for_all,
    };
    if (hall_open(&made, &place) != MUSTER_OK)
        bail_out("no hall: %s", muster_last_error());
    made->number = made->turns = made->all_passed = made->told = all->start;
    for (int r = 0; r < all->size; r++)
        made->passed[r] = all->start;
    return made;
}

/* As if so many operations had been. */
static void count_from(hall_room *room, uint32_t start)
{
    for (int i = 0; i < HALL_SLOTS; i++)
        atomic_store(&room->slots[i].stamp, start);
    atomic_store(&room->steps.in, start);
    atomic_store(&room->steps.mid, start);
    atomic_store(&room->steps.out, start);
    atomic_store(&room->steps.done, start);
}

static void *run_rank(void *argument)
{
    runner *one = argument;
    shared *common = one->common;
    common->reports[one->rank].pid = getpid();
    hall_rank me = {open_hall(one), one->rank, one->all->size, one->all->argument, common->reports};
    count_from(hall_my_room(me.hall), one->all->start);
    atomic_fetch_add(&common->opened, 1);
    while (atomic_load(&common->opened) < me.size)
        usleep(200);
    int64_t begin = deadline_now_ns();
    int answer = one->all->body(&me);
    hall_report *report = &common->reports[one->rank];
    report->millis = (long)((deadline_now_ns() - begin) / 1000000);
    report->answer = answer;
    report->ended = true;
    hall_close(me.hall);
    return NULL;
}

static void start(runner *one)
{
    if (!PROCESSES) {
        if (pthread_create(&one->thread, NULL, run_rank, one) != 0)
            bail_out("no thread");
        return;
    }
    pid_t pid = fork();
    if (pid < 0)
        bail_out("no process");
    if (pid == 0) {
        alarm((unsigned)(patient(60000) / 1000));
        run_rank(one);
        _exit(0);
    }
    one->common->reports[one->rank].pid = pid;
}

static void finish(runner *one)
{
    if (PROCESSES)
        waitpid(one->common->reports[one->rank].pid, NULL, 0);
    else
        pthread_join(one->thread, NULL);
}

static void *map(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        bail_out("no memory to share");
    return base;
}

static void run_beside(const hall_case *all, shared *common, void *base)
{
    if (all->beside == NULL)
        return;
    const runner watcher = {all, common, base, 0, 0};
    while (atomic_load(&common->opened) < all->size)
        usleep(1000);
    hall *whole = open_hall(&watcher);
    all->beside(whole, common->reports, all);
    hall_close(whole);
}

bool hall_ranks_run(const hall_case *all, hall_report *reports)
{
    shared *common = map(sizeof(*common));
    void *base = map(hall_bytes(all->size));
    runner runners[HALL_RANKS_MOST];
    bool well = true;
    for (int r = 0; r < all->size; r++) {
        runners[r] = (runner){all, common, base, r, 0};
        start(&runners[r]);
    }
    run_beside(all, common, base);
    for (int r = 0; r < all->size; r++) {
        finish(&runners[r]);
        const hall_report *report = &common->reports[r];
        well = well && report->ended && report->answer == 0;
        if (reports == NULL && !(report->ended && report->answer == 0))
            diag("rank %d of %d%s: %s", r, all->size, report->ended ? "" : " did not end",
                 report->sentence);
    }
    if (reports != NULL)
        memcpy(reports, common->reports, sizeof(common->reports));
    munmap(base, hall_bytes(all->size));
    munmap(common, sizeof(*common));
    return well;
}

muster_call hall_call(muster_operation operation, muster_type type, muster_reduction redop,
                      int root, size_t count, const void *send, void *receive)
{
    return (muster_call){.size = sizeof(muster_call),
                         .operation = operation,
                         .type = type,
                         .redop = redop,
                         .scalar = 1,
                         .root = root,
                         .count = count,
                         .send = send,
                         .receive = receive,
                         .uniform = true};
}

muster_status hall_try(hall_rank *me, muster_call call, int64_t timeout_ms, int *other_rank,
                       void *other)
{
    unsigned char theirs[MUSTER_LABEL_MAX];
    int who = -2;
    const uint64_t label[5] = {call.operation, call.type, call.redop, (uint64_t)call.root,
                               call.uniform ? call.count : 0};
    call.label = label;
    call.label_size = sizeof(label);
    call.other_label = other != NULL ? other : theirs;
    call.other_rank = other_rank != NULL ? other_rank : &who;
    return hall_run(me->hall, &call, timeout_ms);
}
