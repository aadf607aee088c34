/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks of one host that can't share memory: they agree on Gloo and say why; where local is
 * asked for they are refused for that reason.
 */
#include "config.h"

#include "grouptest.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

enum { T = 20000 };

static muster_status try_group(muster_group **group, const char *name, const char *backend)
{
    muster_init_args args = MUSTER_INIT_ARGS_INIT;
    args.group_name = name;
    args.backend = backend;
    args.timeout_ms = (int64_t)(T * ranks_time_factor());
    *group = NULL;
    return muster_init_process_group(group, &args);
}

/* "auto" goes by Gloo for that reason, and so does Gloo; "local" is refused for it. */
static void falls_back(const char *why)
{
    static const char *const ways[] = {"auto", "gloo"};
    muster_group *group;
    char *text = NULL;
    for (int i = 0; i < 2; i++) {
        is_status(try_group(&group, ways[i], ways[i]), MUSTER_OK, "'%s'", ways[i]);
        is_str(group == NULL ? "" : muster_group_backend(group), "gloo", "is gloo");
        ok(group != NULL && group_works(group), "and works");
        if (group != NULL)
            muster_group_describe(group, false, &text);
        has_str(text == NULL ? "" : text, why, "and says why");
        muster_free(text);
        text = NULL;
        muster_group_free(group);
    }
    is_status(try_group(&group, "local", "local"), MUSTER_ERR_UNAVAILABLE, "'local' is refused");
    has_str(muster_last_error(), why, "for the same reason");
    has_str(muster_last_error(), "put that right, or ask for 'gloo'", "says what to do");
    ranks_barrier();
}

static void other_users(int rank, int size)
{
    (void)size;
    ranks_barrier();
    if (rank == 1 && unshare(CLONE_NEWUSER) != 0)
        ranks_skip_case("no user namespaces here");
    falls_back("shares no memory: it runs as user ");
}

static void refused_memory(int rank, int size)
{
    (void)size;
    if (rank == 1 && !filter_refuse(SYS_memfd_create, EACCES))
        ranks_skip_case("no filters here");
    falls_back("shares no memory: it can't make memory to share (Permission denied)");
}

static void closed(int rank, int size)
{
    (void)size, (void)rank;
    if (geteuid() == 0 && setuid(65534) != 0)
        ranks_skip_case("no other user");
    prctl(PR_SET_DUMPABLE, 0);
    falls_back("shares no memory: its memory is closed to other processes");
}

static void no_proc(int rank, int size)
{
    (void)size, (void)rank;
#ifdef __SANITIZE_THREAD__
    ranks_skip_case(
        "ThreadSanitizer knows no function's name without /proc, nor what to leave out");
#endif
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0)
        ranks_skip_case("/proc can't be hidden here");
    falls_back("shares no memory: no /proc is mounted there");
    umount2("/proc", MNT_DETACH); /* a sanitizer has a use for it in the end */
}

/* What is said of a group on memory that all share, by the name it was asked for with. */
static void shared(int rank, int size)
{
    (void)rank, (void)size;
    static const char *const ways[] = {"gloo", "auto"};
    for (int i = 0; i < 2; i++) {
        muster_group *group;
        char *words = NULL, *json = NULL;
        bool gloo = i == 0;
        is_status(try_group(&group, ways[i], ways[i]), MUSTER_OK, "'%s'", ways[i]);
        if (group == NULL || muster_group_describe(group, false, &words) != MUSTER_OK ||
            muster_group_describe(group, true, &json) != MUSTER_OK)
            bail_out("no group: %s", muster_last_error());
        has_str(words,
                gloo ? "\n  within this host local: shared memory of "
                     : "\n  transport        shared memory of ",
                "says that memory is shared");
        ok((strstr(words, "\n  backend version  0.1.0\n") == NULL) == gloo,
           "the version is that of the backend that it names");
        ok((strstr(json, "\"within_this_host\":\"local: shared memory of ") != NULL) == gloo,
           "in JSON too");
        has_str(words,
                gloo ? "asked for; all ranks are on one host and share its memory\n"
                     : "auto: all 2 ranks are on one host and share its memory; not ",
                "and why");
        muster_free(words);
        muster_free(json);
        muster_group_free(group);
    }
}

int main(int argc, char **argv)
{
    needs_gloo();
    static const struct ranks_case cases[] = {
        {.name = "shared", .size = 2, .points = 10, .body = shared},
        {.name = "another user namespace", .size = 2, .points = 11, .body = other_users},
        {.name = "no memory to share", .size = 3, .points = 11, .body = refused_memory},
        {.name = "processes closed to others", .size = 2, .points = 11, .body = closed},
        {.name = "no /proc", .size = 2, .points = 11, .body = no_proc},
    };
    return ranks_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
