/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether a process can share memory, in processes of all kinds.
 */
#include "config.h"

#include "net/memory_access.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filter.h"
#include "tap.h"

enum { NOT_ALLOWED = 77 };

static bool can(const memory_access *self)
{
    return *self->why_not == '\0';
}

/* As far from this process as changed() takes a child. */
static void look(const char *name, bool (*changed)(void), const char *why_not, bool same_as)
{
    memory_access here, there;
    int ends[2], status = 0;
    memory_access_get(&here);
    if (pipe(ends) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0) {
        if (!changed())
            _exit(NOT_ALLOWED);
        memory_access_get(&there);
        _exit(write(ends[1], &there, sizeof(there)) != (ssize_t)sizeof(there));
    }
    close(ends[1]);
    bool told = read(ends[0], &there, sizeof(there)) == (ssize_t)sizeof(there);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_ALLOWED) {
        skip(2, "%s: not allowed here", name);
        return;
    }
    ok(told && (*why_not == '\0' ? can(&there) : strstr(there.why_not, why_not) != NULL), "%s: %s",
       name, told ? there.why_not : "nothing was told");
    ok(told && (strcmp(there.as, here.as) == 0) == same_as, "as %s", told ? there.as : "nobody");
}

static bool nothing(void)
{
    return true;
}

static bool no_memfd(void)
{
    return access("/dev/shm", W_OK) == 0 && filter_refuse(SYS_memfd_create, ENOSYS);
}

static bool no_memory_at_all(void)
{
    return filter_refuse(SYS_memfd_create, EACCES);
}

static bool no_descriptors(void)
{
    const struct rlimit none = {3, 3};
    return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

static bool other_users(void)
{
    return unshare(CLONE_NEWUSER) == 0;
}

static bool other_group(void)
{
    return setegid(54321) == 0;
}

static bool closed(void)
{
    return (geteuid() != 0 || setuid(65534) == 0) && prctl(PR_SET_DUMPABLE, 0) == 0;
}

/* Who may look into all processes may look into these. */
static bool closed_among_the_mighty(void)
{
    return geteuid() == 0 && prctl(PR_CAPBSET_READ, 19) == 1 && prctl(PR_SET_DUMPABLE, 0) == 0;
}

static bool no_proc(void)
{
    return (geteuid() == 0 || unshare(CLONE_NEWUSER) == 0) && unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/proc", "tmpfs", 0, NULL) == 0;
}

int main(void)
{
    plan(19);
    memory_access self;
    memory_access_get(&self);
    ok(can(&self) && strncmp(self.as, "user ", 5) == 0, "this process can: %s", self.why_not);
    look("a child", nothing, "", true);
    look("without memfd_create", no_memfd, "", true);
    look("without memory to share", no_memory_at_all, "it can't make memory to share (Perm", true);
    look("without descriptors", no_descriptors, "", true);
    look("another user namespace", other_users, "", false);
    look("another group", other_group, "", false);
    look("closed to others", closed, "its memory is closed to other processes", geteuid() != 0);
    look("closed among those who see all", closed_among_the_mighty, "", true);
    look("without /proc", no_proc, "no /proc is mounted there", false);
    return done();
}
