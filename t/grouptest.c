/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of process groups share.
 */
#include "config.h"

#include "grouptest.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool tap_is_status(muster_status got, muster_status expected, const char *file, int line,
                   const char *name, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(words, sizeof(words), name, arguments);
    va_end(arguments);
    bool same =
        tap_is_str(muster_status_name(got), muster_status_name(expected), file, line, "%s", words);
    if (!same)
        diag("last error: %s", muster_last_error());
    return same;
}

muster_group *group_of(const muster_init_args *args)
{
    muster_group *group = NULL;
    if (muster_init_process_group(&group, args) != MUSTER_OK)
        bail_out("no group: %s", muster_last_error());
    return group;
}

muster_group *world_of(const char *name, int64_t timeout_ms)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.backend = getenv("MUSTER_TEST_BACKEND");
    args.group_name = name;
    args.timeout_ms = (int64_t)((double)timeout_ms * ranks_time_factor());
    return group_of(&args);
}

muster_store *common_store(int rank)
{
    muster_tcp_store_args args = MUSTER_TCP_STORE_ARGS_INIT;
    muster_store *store = NULL;
    args.host = "127.0.0.1";
    args.port = atoi(getenv("MASTER_PORT"));
    args.listen = rank == 0;
    args.timeout_ms = 20000;
    if (muster_store_tcp(&store, &args) != MUSTER_OK)
        bail_out("no store: %s", muster_last_error());
    return store;
}

bool group_works(muster_group *group)
{
    int size = muster_group_size(group);
    int32_t mine = muster_group_rank(group) * 7 + size, all[RANKS_MOST] = {0};
    muster_status status = muster_all_gather(group, &mine, all, 1, MUSTER_INT32, NULL);
    if (status != MUSTER_OK) {
        diag("all_gather in '%s': %s", muster_group_name(group), muster_last_error());
        return false;
    }
    for (int r = 0; r < size; r++)
        if (all[r] != r * 7 + size)
            return false;
    return size > 0;
}

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sleep_ms(int64_t ms)
{
    struct timespec nap = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&nap, NULL);
}

bool in_time(int64_t began_ms, int64_t limit_ms)
{
    int64_t took = now_ms() - began_ms;
    bool good = (double)took <= (double)limit_ms * ranks_time_factor();
    if (!good)
        diag("it took %lld ms where %lld are allowed", (long long)took, (long long)limit_ms);
    return good;
}

int entries_of(const char *folder)
{
    int count = 0;
    DIR *opened = opendir(folder);
    if (opened == NULL)
        bail_out("no %s", folder);
    while (readdir(opened) != NULL)
        count++;
    closedir(opened);
    return count;
}
