/* SPDX-License-Identifier: BSD-3-Clause */
#include "children.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static long children_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void children_body(int index, child_fn fn, void *argument, volatile child_report *reports)
{
    alarm(20);
    long start = children_now_ms();
    reports[index].status = fn(index, argument, reports);
    reports[index].millis = (int)(children_now_ms() - start);
    _exit(0);
}

bool children_run(int count, child_fn fn, void *argument, child_report *reports)
{
    size_t size = sizeof(child_report) * CHILDREN_MOST;
    pid_t children[CHILDREN_MOST];
    bool all = true;
    child_report *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || count > CHILDREN_MOST)
        bail_out("no room for %d children", count);
    for (int i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            bail_out("no fork");
        if (children[i] == 0)
            children_body(i, fn, argument, shared);
    }
    for (int i = 0; i < count; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        shared[i].ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        all = all && shared[i].ended;
    }
    memcpy(reports, shared, sizeof(*reports) * (size_t)count);
    munmap(shared, size);
    return all;
}
