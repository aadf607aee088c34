/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who this process is, and whether another one lives.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "net/host_identity.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static void this_process(void)
{
    host_identity self, again;
    is_int(host_identity_get(NULL), MUSTER_ERR_ARGUMENT, "no place for the result is refused");
    is_int(host_identity_get(&self), MUSTER_OK, "this process is somebody");
    host_identity_get(&again);
    is_str(again.host_id, self.host_id, "and the same when asked again");
    is_int((long long)strlen(self.host_id), 48, "a host id has 48 digits");
    is_int((long long)strspn(self.host_id, "0123456789abcdef"), 48, "hexadecimal ones");
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    is_str(self.host_name, name, "the host name is the system's");
    is_int(self.pid, getpid(), "the process number too");
    ok(self.start_time != 0 && self.start_time == again.start_time, "it has a time of start");
    ok(self.pid_namespace != 0, "and a pid namespace");
    ok(host_identity_alive(self.pid_namespace, self.pid, self.start_time), "this process lives");
    ok(host_identity_alive(self.pid_namespace, self.pid, 0), "also where its start is not known");
    ok(!host_identity_alive(self.pid_namespace, self.pid, self.start_time + 1),
       "one of the same number that started at another time does not");
    ok(!host_identity_alive(self.pid_namespace, 0, 0), "process 0 does not live");
    ok(!host_identity_alive(self.pid_namespace, -1, 0), "nor does -1, which kill takes for all");
    ok(!host_identity_alive(self.pid_namespace, INT64_C(1) << 32, 0), "nor one over 32 bits");
    ok(host_identity_alive(self.pid_namespace + 1, self.pid, self.start_time + 1),
       "of another pid namespace nothing is known, so it counts as living");
}

static void cores(void)
{
    host_identity self;
    cpu_set_t before, one;
    host_identity_get(&self);
    sched_getaffinity(0, sizeof(before), &before);
    is_int(self.cores, CPU_COUNT(&before), "all cores of the affinity are counted");
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    sched_setaffinity(0, sizeof(one), &one);
    host_identity_get(&self);
    is_int(self.cores, 1, "and one where there is one");
    sched_setaffinity(0, sizeof(before), &before);
}

/* A child that stands still until its standard input is closed. */
static pid_t child_start(int *hold)
{
    int ends[2];
    if (pipe(ends) != 0)
        bail_out("no pipe");
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(ends[1]);
        /* A name that would mislead whoever counts fields from the first parenthesis. */
        prctl(PR_SET_NAME, "a) Z 1 (b", 0, 0, 0);
        _exit(read(ends[0], &byte, 1) < 0);
    }
    close(ends[0]);
    *hold = ends[1];
    return child;
}

static void other_process(void)
{
    host_identity self;
    int hold;
    host_identity_get(&self);
    pid_t child = child_start(&hold);
    usleep(50000); /* until it has its name */
    ok(host_identity_alive(self.pid_namespace, child, 0), "a child lives, whatever it is called");
    ok(!host_identity_alive(self.pid_namespace, child, 1), "unless it started at another time");
    close(hold);
    siginfo_t info;
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    ok(!host_identity_alive(self.pid_namespace, child, 0), "one that has ended does not");
    waitpid(child, NULL, 0);
    ok(!host_identity_alive(self.pid_namespace, child, 0), "nor one that was waited for");
}

enum { NOT_ALLOWED = 77 };

/* In the child: a private place where something can be put over /proc or the network. */
static void child_unshare(int more)
{
    if (unshare(CLONE_NEWUSER | more) != 0)
        _exit(NOT_ALLOWED);
}

static int child_status(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void other_network(void)
{
    host_identity self, other;
    host_identity_get(&self);
    pid_t child = fork();
    if (child == 0) {
        child_unshare(CLONE_NEWNET);
        host_identity_get(&other);
        _exit(strcmp(self.host_id, other.host_id) == 0 ||
              strncmp(self.host_id, other.host_id, 32) != 0);
    }
    int status = child_status(child);
    if (status == NOT_ALLOWED)
        skip(1, "user namespaces are not allowed here");
    else
        is_int(status, 0, "in another network the host id has its first 32 digits in common");
}

static void without_proc(void)
{
    pid_t child = fork();
    if (child == 0) {
        host_identity self, again;
        child_unshare(CLONE_NEWNS);
        if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", "/proc", "tmpfs", 0, NULL) != 0)
            _exit(NOT_ALLOWED);
        bool same = host_identity_get(&self) == MUSTER_OK && host_identity_get(&again) == MUSTER_OK;
        _exit(!same || strlen(self.host_id) != 48 || strcmp(self.host_id, again.host_id) != 0 ||
              self.start_time != 0 || self.pid_namespace != 0 || self.cores < 1 ||
              !host_identity_alive(0, self.pid, 0) || !host_identity_alive(0, self.pid, 5) ||
              host_identity_alive(0, INT32_MAX, 0));
    }
    int status = child_status(child);
    if (status == NOT_ALLOWED)
        skip(1, "a mount over /proc is not allowed here");
    else
        is_int(status, 0, "without /proc there still is a host id, and the living are told apart");
}

/* One that can't find out is not another host. */
static void without_descriptors(void)
{
    host_identity self;
    struct rlimit before, none;
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    muster_status status = host_identity_get(&self);
    setrlimit(RLIMIT_NOFILE, &before);
    is_int(status, MUSTER_ERR_SYSTEM, "without a descriptor there is no identity");
    has_str(muster_last_error(), "boot_id: Too many open files", "and why is said");
}

int main(void)
{
    plan(26);
    this_process();
    cores();
    other_process();
    other_network();
    without_proc();
    without_descriptors();
    return done();
}
