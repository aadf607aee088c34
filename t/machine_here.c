/* SPDX-License-Identifier: BSD-3-Clause
 *
 * This machine: with hwloc and without, through the variables that name another, quietly, on
 * several threads, and without a trace in the process.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "machine/machine.h"
#include "machine/machine_plain.h"
#ifdef HAVE_HWLOC
#include "machine/quiet.h"
#endif
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void forget_variables(void)
{
    unsetenv("MUSTER_TOPOLOGY_FILE");
    unsetenv("HWLOC_XMLFILE");
}

static machine *here(void)
{
    machine *m = NULL;
    if (machine_load(&m) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    return m;
}

/* The CPUs of sched_getaffinity, by its own macros. */
static cpu_set own_cpus(void)
{
    cpu_set own = {{0}};
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0)
        bail_out("no affinity: %s", strerror(errno));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &mask))
            cpu_set_add(&own, cpu);
    return own;
}

static bool bind_to(const cpu_set *cpus)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int cpu = cpu_set_first(cpus); cpu >= 0 && cpu < CPU_SETSIZE;
         cpu = cpu_set_next(cpus, cpu))
        CPU_SET(cpu, &mask);
    return sched_setaffinity(0, sizeof(mask), &mask) == 0;
}

static void what_is_here(void)
{
    machine *m = here();
    cpu_set own = own_cpus();
    ok(m->this_system, "it is this machine");
    diag("%s", m->seen_by);
#ifdef HAVE_HWLOC
    ok(m->whole && m->num_cores > 0 && m->num_numas > 0, "seen by hwloc");
    has_str(m->seen_by, "hwloc, interface ", "which says so");
#else
    ok(!m->whole && m->num_cores == 0 && m->num_numas == 0, "seen without hwloc");
    has_str(m->seen_by, "nobody: muster was built without hwloc", "and it says so");
#endif
    ok(cpu_set_is_subset(&own, &m->allowed) && cpu_set_is_subset(&m->allowed, &m->cpus),
       "what this process runs on is allowed, and there");
    ok(cpu_set_equal(&m->binding, &own), "its binding is that of the kernel");
    ok(m->bound == !cpu_set_equal(&own, &m->allowed), "and is one where it is less");
    machine_free(m);
}

/* Bound to one CPU the same machine is seen, and the binding. */
static void bound_to_one(void)
{
    cpu_set own = own_cpus(), one = {{0}};
    cpu_set_add(&one, cpu_set_first(&own));
    machine *before = here();
    if (cpu_set_count(&own) < 2 || !bind_to(&one)) {
        skip(3, "there is no second CPU");
        machine_free(before);
        return;
    }
    machine *m = here(), *plain = NULL;
    ok(m->bound && cpu_set_equal(&m->binding, &one), "a process on one CPU is bound");
    ok(cpu_set_equal(&m->cpus, &before->cpus) && m->num_cores == before->num_cores,
       "and sees as much of the machine as before");
    ok(machine_load_plain("a test", &plain) == MUSTER_OK && plain->bound &&
           cpu_set_equal(&plain->binding, &one),
       "without hwloc too");
    bind_to(&own);
    machine_free(plain);
    machine_free(before);
    machine_free(m);
}

static void without_hwloc(void)
{
    machine *m = NULL;
    cpu_set own = own_cpus();
    is_int(machine_load_plain("because a test asked for it", &m), MUSTER_OK, "without hwloc");
    is_str(m->seen_by, "because a test asked for it", "it says why");
    ok(!m->whole && m->this_system && m->num_cores == 0 && m->num_gpus == 0 && m->num_nics == 0,
       "no more than CPUs is known");
    ok(cpu_set_is_subset(&own, &m->allowed) && cpu_set_equal(&m->binding, &own), "these are");
    is_int(machine_find_gpu(m, "0000:01:00.0"), -1, "there is no GPU to be found");
    is_int(machine_numa_of(m, &own), -1, "nor a node");
    machine_free(m);
    cpu_set read = {{0}};
    ok(!machine_kernel_list("/nowhere/at/all", &read), "a list of the kernel that isn't there");
    ok(!machine_kernel_list("/proc/self/stat", &read), "one that is none");
    ok(!machine_kernel_list("/dev/null", &read), "one that is empty");
    is_str(muster_last_error(), "", "leave no error behind");
}

static void variables(void)
{
    machine *m = NULL;
    char good[512];
    snprintf(good, sizeof(good), "%s/mpibind-g4dnmetal.xml", TOPOLOGIES);
    setenv("HWLOC_XMLFILE", "/nowhere/x.xml", 1);
#ifdef HAVE_HWLOC
    setenv("MUSTER_TOPOLOGY_FILE", good, 1);
    m = here();
    ok(m->num_gpus == 8 && !m->this_system && !m->bound, "the machine in MUSTER_TOPOLOGY_FILE");
    has_str(m->seen_by, "mpibind-g4dnmetal.xml", "is said to be from there");
    machine_free(m);
    setenv("MUSTER_TOPOLOGY_FILE", "", 1);
    setenv("HWLOC_XMLFILE", good, 1);
    m = here();
    ok(m->num_gpus == 8 && !m->this_system, "the machine in HWLOC_XMLFILE");
    machine_free(m);
    m = NULL;
#else
    setenv("MUSTER_TOPOLOGY_FILE", good, 1);
    is_int(machine_load(&m), MUSTER_ERR_UNAVAILABLE, "a file can't be read");
    has_str(muster_last_error(), "MUSTER_TOPOLOGY_FILE: muster was built without hwloc", "why");
    ok(m == NULL, "no machine");
#endif
    setenv("MUSTER_TOPOLOGY_FILE", "/nowhere/y.xml", 1);
    is_int(machine_load(&m), MUSTER_ERR_NOT_FOUND, "a file that isn't there is an error");
    has_str(muster_last_error(), "MUSTER_TOPOLOGY_FILE: there is no file '/nowhere/y.xml'", "why");
    unsetenv("MUSTER_TOPOLOGY_FILE");
    setenv("HWLOC_XMLFILE", "/nowhere/x.xml", 1);
    is_int(machine_load(&m), MUSTER_ERR_NOT_FOUND, "hwloc's variable too");
    has_str(muster_last_error(), "HWLOC_XMLFILE: there is no file '/nowhere/x.xml'", "why");
    char *text = NULL;
    is_int(muster_describe_host(false, &text), MUSTER_ERR_NOT_FOUND, "and where it is described");
    ok(m == NULL && text == NULL, "never this machine instead");
    forget_variables();
}

static void described(void)
{
    static const char *const words[] = {"host",  "usable cores", "topology by", "packages",
                                        "cores", "threads",      "NUMA nodes"};
    char *text = NULL, *json = NULL;
    is_int(muster_describe_host(false, &text), MUSTER_OK, "in words");
    for (size_t i = 0; i < COUNT(words); i++)
        has_str(text, words[i], "with %s", words[i]);
    is_int(muster_describe_host(true, &json), MUSTER_OK, "in JSON");
    has_str(json, "\"NUMA_nodes\":", "with its names");
    is_int(muster_describe_host(true, NULL), MUSTER_ERR_ARGUMENT, "no place");
    muster_free(text);
    muster_free(json);
}

/* ---- a cgroup ---- */

static bool put(const char *folder, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    FILE *to = fopen(path, "we");
    if (to == NULL)
        return false;
    fputs(text, to);
    return fclose(to) == 0;
}

static bool sees_one(const machine *m, const cpu_set *one)
{
    return cpu_set_equal(&m->allowed, one) && cpu_set_equal(&m->binding, one) && !m->bound;
}

/* In a child: goes into the group and looks. */
static void look_from_inside(const char *folder, const cpu_set *one, int cores)
{
    machine *plain = NULL;
    if (!put(folder, "tasks", "0"))
        _exit(3);
    machine *m = here();
    bool fine = sees_one(m, one) && m->num_cores == cores &&
                machine_load_plain("a test", &plain) == MUSTER_OK && sees_one(plain, one);
    _exit(fine ? 0 : 1);
}

/* Of what the group takes away the machine still has all, and the one CPU left is no binding. */
static void in_a_cgroup(void)
{
    char folder[] = "/sys/fs/cgroup/cpuset/muster-XXXXXX", number[16];
    cpu_set own = own_cpus(), one = {{0}};
    machine *m = here();
    int cores = m->num_cores, status = -1;
    machine_free(m);
    cpu_set_add(&one, cpu_set_first(&own));
    snprintf(number, sizeof(number), "%d", cpu_set_first(&own));
    if (cpu_set_count(&own) < 2 || mkdtemp(folder) == NULL) {
        skip(1, "no cpuset can be made here");
        return;
    }
    if (put(folder, "cpuset.cpus", number) && put(folder, "cpuset.mems", "0")) {
        pid_t child = fork();
        if (child == 0)
            look_from_inside(folder, &one, cores);
        waitpid(child, &status, 0);
    }
    rmdir(folder);
    if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 3))
        skip(1, "no process can be put into a cpuset here");
    else
        is_int(status, 0, "in a cgroup with one CPU");
}

/* ---- what must not change ---- */

static int count_entries(const char *folder)
{
    int count = 0;
    DIR *open = opendir(folder);
    for (; open != NULL && readdir(open) != NULL; count++)
        ;
    if (open != NULL)
        closedir(open);
    return count;
}

/* Whatever goes to the pipe in place of stdout and stderr, until they are put back. */
static int heard(void (*work)(void *what), void *what)
{
    int ends[2], out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    char noise[4096];
    fflush(stdout);
    if (pipe(ends) != 0 || out < 0 || err < 0)
        bail_out("no pipe: %s", strerror(errno));
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    work(what);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    ssize_t got = read(ends[0], noise, sizeof(noise));
    close(ends[0]);
    return (int)got;
}

#ifdef HAVE_HWLOC
static void write_and_leave_open(void *what)
{
    int *written = what;
    fprintf(stderr, "noise\n");
    *written = (int)write(STDOUT_FILENO, "noise\n", 6);
    if (dup(STDERR_FILENO) < 0)
        *written = -1;
}

static void run_quietly(void *what)
{
    if (quiet_run(write_and_leave_open, what) != MUSTER_OK)
        *(int *)what = -2;
}

static void silenced(void)
{
    int written = 0;
    is_int(heard(run_quietly, &written), 0, "nothing that is written on the quiet thread is heard");
    is_int(written, 6, "though it was written");
}
#else
static void silenced(void)
{
    skip(2, "there is nothing to be silenced without hwloc");
}
#endif

static void load_good_and_bad(void *what)
{
    static const char *const texts[] = {"x", "<topology version=\"9.0\">",
                                        "<topology version=\"2.0\"></topology>"};
    int *statuses = what;
    for (size_t i = 0; i < COUNT(texts); i++) {
        machine *m = NULL;
        *statuses += machine_load_text(texts[i], strlen(texts[i]), &m) != MUSTER_OK ? 1 : 0;
    }
    machine_free(here());
}

/* A thread that has been waited for is listed for a moment more. */
static bool threads_fall_to(int count)
{
    for (long long i = 0; i < patient(200) && count_entries("/proc/self/task") > count; i++)
        usleep(10000);
    return count_entries("/proc/self/task") <= count;
}

static void quiet(void)
{
    int before = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
    int statuses = 0;
    silenced();
    is_int(heard(load_good_and_bad, &statuses), 0, "machines are looked at in silence");
    is_int(statuses, 3, "broken ones too");
    is_int(count_entries("/proc/self/fd"), before, "no descriptor is left open");
    ok(threads_fall_to(threads), "no thread is left");
}

static void no_trace(void)
{
    extern char **environ;
    cpu_set own = own_cpus();
    char **variables_before = environ;
    int count = 0, now = 0;
    while (environ[count] != NULL)
        count++;
    machine_free(here());
    cpu_set after = own_cpus();
    while (environ[now] != NULL)
        now++;
    ok(environ == variables_before && now == count, "the environment is as it was");
    ok(cpu_set_equal(&own, &after), "the affinity is");
}

static void *load_often(void *argument)
{
    int *wrong = argument;
    for (int i = 0; i < 4; i++) {
        machine *m = NULL;
        char path[512];
        snprintf(path, sizeof(path), "%s/mpibind-cts1-pascal.xml", TOPOLOGIES);
        *wrong += machine_load(&m) != MUSTER_OK || !m->this_system ? 1 : 0;
        machine_free(m);
#ifdef HAVE_HWLOC
        m = NULL;
        *wrong += machine_load_file(path, &m) != MUSTER_OK || m->num_cores != 36 ? 1 : 0;
        machine_free(m);
#endif
    }
    return NULL;
}

static void threads(void)
{
    pthread_t running[4];
    int wrong[4] = {0}, sum = 0;
    for (size_t i = 0; i < COUNT(running); i++)
        if (pthread_create(&running[i], NULL, load_often, &wrong[i]) != 0)
            bail_out("no thread");
    for (size_t i = 0; i < COUNT(running); i++) {
        pthread_join(running[i], NULL);
        sum += wrong[i];
    }
    is_int(sum, 0, "four threads look at once");
}

#ifndef SANITIZED
static void in_time(void)
{
    double best = 1e9;
    for (int i = 0; i < 7; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        machine_free(here());
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took =
            (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
        best = took < best ? took : best;
    }
    ok(best < (double)patient(50), "the machine is seen in %.1f ms", best);
}
#else
static void in_time(void)
{
    skip(1, "a sanitizer takes its time");
}
#endif

int main(void)
{
    forget_variables();
    plan(6 + 3 + 1 + 10 + 9 + 11 + 6 + 2 + 1 + 1);
    what_is_here();
    bound_to_one();
    in_a_cgroup();
    without_hwloc();
    variables();
    described();
    quiet();
    no_trace();
    threads();
    in_time();
    return done();
}
