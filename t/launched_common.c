/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs under real launchers.
 */
#include "config.h"

#include "launched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "muster.h"
#include "ranks_port.h"
#include "tap.h"

struct command launched_last;

bool launched_is_there(const char *program)
{
    char path[4096], file[4200];
    const char *value = getenv("PATH");
    snprintf(path, sizeof(path), "%s:/usr/sbin:/sbin", value == NULL ? "/usr/bin:/bin" : value);
    char *rest = path;
    for (char *folder = strtok_r(path, ":", &rest); folder != NULL;
         folder = strtok_r(NULL, ":", &rest)) {
        snprintf(file, sizeof(file), "%s/%s", folder, program);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

/* A launcher would take /proc/self/exe for itself. */
const char *launched_self(void)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length < 0)
        bail_out("this program can't find itself");
    path[length] = '\0';
    return path;
}

void launched_run(const launched_case *what, const char *const *words)
{
    const char *line[64];
    size_t used = 0;
    for (; what->launcher[used] != NULL; used++)
        line[used] = what->launcher[used];
    for (size_t i = 0; words[i] != NULL; i++)
        line[used++] = words[i];
    line[used] = NULL;
    struct port port = port_reserve();
    char environment[256], number[8];
    snprintf(number, sizeof(number), "%d", port.number);
    const char *at = strchr(what->environment, '@');
    snprintf(environment, sizeof(environment), "%.*s%s%s",
             (int)(at == NULL ? strlen(what->environment) : (size_t)(at - what->environment)),
             what->environment, at == NULL ? "" : number, at == NULL ? "" : at + 1);
    environment_only(environment);
    setenv("MUSTER_LOG", "info", 1);
    setenv("MUSTER_BACKEND_PATH", GLOO_FOLDER, 1);
    /* mpirun and srun of a sanitized program: what the launcher's library leaks is not ours. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
    command_run(&launched_last, NULL, line);
    port_free(&port);
}

int launched_count(const char *text, const char *part)
{
    int times = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        times++;
    return times;
}

/* Launchers put what ranks say on stderr on their own stdout or stderr. */
static int said(const char *part)
{
    return launched_count(launched_last.out, part) + launched_count(launched_last.err, part);
}

static bool show_unless(bool good)
{
    if (!good)
        diag("status %d\n%.3000s\n%.3000s", launched_last.status, launched_last.out,
             launched_last.err);
    return good;
}

void launched_job(const launched_case *what)
{
    char by[80];
    launched_run(what, (const char *[]){TOOLS "/muster-gather", "--timeout", "30", "--group-size",
                                        "2", PROMPTS, NULL});
    snprintf(by, sizeof(by), "of %d by %s;", LAUNCHED_RANKS, what->family);
    ok(show_unless(launched_last.status == 0), "%s: the main job succeeds", what->name);
    ok(strstr(launched_last.out, "every rank received what the file says") != NULL &&
           strstr(launched_last.out, "ranks       4 on 1 host") != NULL,
       "as four ranks of one host");
    ok(show_unless(said(by) == LAUNCHED_RANKS), "each says that it was started by %s",
       what->family);
    is_int(said(what->how), LAUNCHED_RANKS, "and how it found rank 0: %s", what->how);
}

void launched_worlds(const launched_case *what)
{
    launched_run(what, (const char *[]){launched_self(), "--rank", NULL});
    ok(show_unless(launched_last.status == 0), "%s: two worlds in each process", what->name);
    is_int(launched_count(launched_last.out, "6 and 6 of 4"), LAUNCHED_RANKS,
           "with the same ranks");
}

/* Sums the ranks in a world of that name. */
static int sum_ranks(const char *name, int *size, int *rank)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    muster_group *world;
    args.group_name = name;
    args.timeout_ms = 30000;
    if (muster_init_process_group(&world, &args) != MUSTER_OK)
        return -1;
    int32_t mine = muster_group_rank(world), sum = -1;
    *rank = mine;
    *size = muster_group_size(world);
    if (muster_all_reduce(world, &mine, &sum, 1, MUSTER_INT32, MUSTER_SUM, NULL) != MUSTER_OK)
        sum = -1;
    muster_group_free(world);
    return sum;
}

int launched_as_rank(void)
{
    int size = 0, rank = 0;
    int first = sum_ranks("first", &size, &rank);
    int second = first < 0 ? -1 : sum_ranks("second", &size, &rank);
    char line[80];
    int length =
        snprintf(line, sizeof(line), "rank %d: %d and %d of %d\n", rank, first, second, size);
    if (second < 0)
        fprintf(stderr, "%s\n", muster_last_error());
    /* In one piece: what several ranks write at once is not torn. */
    return write(1, line, (size_t)length) != length || second < 0;
}
