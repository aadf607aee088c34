/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank that has no memory left at all still fails and frees its group, and its process goes on.
 */
#include "config.h"

#include "grouptest.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef SANITIZED

enum { T = 2000 };

/* Takes all memory that there is, and lets no more be had. */
static void starve(void)
{
    struct rlimit limit;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        bail_out("/proc/self/statm can't be read");
    fclose(file);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    setrlimit(RLIMIT_AS, &limit);
    for (size_t size = 1 << 16; size >= 16; size /= 2) {
        char *volatile taken;
        do
            taken = malloc(size);
        while (taken != NULL);
    }
}

static void feed(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
}

static void free_starved(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    is_status(muster_barrier(group, NULL), MUSTER_OK, "the group works");
    ranks_barrier();
    if (rank == 1)
        starve();
    muster_group_free(group);
    if (rank == 1)
        feed();
    ok(true, "it is freed without memory");
    ranks_barrier();
}

static void fail_starved(int rank, int size)
{
    (void)size;
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.options = "gloo.shared_memory=off";
    args.timeout_ms = T;
    muster_group *group = group_of(&args);
    ranks_barrier();
    if (rank == 1)
        starve();
    muster_status status = muster_barrier(group, NULL);
    if (rank == 1)
        feed();
    ok(status != MUSTER_OK, "an operation for which there is no memory ends: %s",
       muster_status_name(status));
    muster_group_free(group);
    ranks_barrier();
}

/* Over shared memory a barrier needs none of its own. */
static void works_starved(int rank, int size)
{
    (void)size;
    muster_group *group = world_of("world", T);
    ranks_barrier();
    if (rank == 1)
        starve();
    muster_status status = muster_barrier(group, NULL);
    if (rank == 1)
        feed();
    is_status(status, MUSTER_OK, "a barrier takes no memory");
    muster_group_free(group);
    ranks_barrier();
}

#endif

int main(int argc, char **argv)
{
#ifdef SANITIZED
    (void)argc;
    (void)argv;
    plan_skip_all("a sanitizer has more address space than it could be allowed");
#else
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "free", .size = 3, .points = 2, .body = free_starved},
        {.name = "fail", .size = 3, .points = 1, .body = fail_starved},
        {.name = "work", .size = 3, .points = 1, .body = works_starved},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
#endif
}
