/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks on two hosts, as far as network namespaces are hosts. User cases 8, 11, 14 and 16. Skipped
 * where an ordinary user may not make namespaces.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "net/interface.h"
#include "launch/rendezvous.h"
#include "store/store.h"
#include "tap.h"

enum { TIMEOUT = 1500, QUICK = 1000 };

/* The hosts: this process's namespace is A, that of a sleeping child is B. */
static pid_t host_b;

static bool run(const char *format, ...) TAP_PRINTF(1, 2);
static bool run(const char *format, ...)
{
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(command, sizeof(command) - 20, format, arguments);
    va_end(arguments);
    strcpy(command + used, " >/dev/null 2>&1");
    return system(command) == 0;
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

static bool own_namespaces(void)
{
    char map[64];
    unsigned user = getuid(), group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS) != 0)
        return false;
    snprintf(map, sizeof(map), "0 %u 1", user);
    if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof(map), "0 %u 1", group);
    return write_file("/proc/self/gid_map", map) &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && run("ip link set lo up");
}

static bool second_host(void)
{
    int ready[2];
    char byte;
    if (pipe(ready) != 0 || (host_b = fork()) < 0)
        return false;
    if (host_b == 0) {
        if (unshare(CLONE_NEWNET) != 0 || !run("ip link set lo up") || write(ready[1], "x", 1) != 1)
            _exit(1);
        alarm(120);
        pause();
        _exit(0);
    }
    close(ready[1]);
    bool good = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return good && run("ip link add va type veth peer name vb netns %d", host_b) &&
           run("ip addr add 10.77.0.1/24 dev va && ip addr add fd77::1/64 dev va nodad && "
               "ip link set va up") &&
           run("nsenter -t %d -n sh -c 'ip addr add 10.77.0.2/24 dev vb && "
               "ip addr add fd77::2/64 dev vb nodad && ip link set vb up'",
               host_b);
}

typedef struct scene {
    const char *method;
    const char *master;   /* with env:// */
    const char *hosts[2]; /* what /etc/hosts says to each rank */
    bool same;            /* rank 1 is on host A too */
} scene;

static void scene_hosts(const char *text)
{
    char path[] = "/tmp/muster-hosts-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || unshare(CLONE_NEWNS) != 0 || !write_file(path, text) ||
        mount(path, "/etc/hosts", NULL, MS_BIND, NULL) != 0)
        _exit(99);
    close(fd);
    unlink(path);
}

static void scene_enter(int rank, const scene *what)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/net", host_b);
    int fd = rank == 1 && !what->same ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && setns(fd, CLONE_NEWNET) != 0)
        _exit(98);
    if (fd >= 0)
        close(fd);
    if (what->hosts[rank] != NULL)
        scene_hosts(what->hosts[rank]);
    if (what->master != NULL) {
        setenv("MASTER_ADDR", what->master, 1);
        setenv("MASTER_PORT", "29511", 1);
        setenv("MUSTER_JOB_ID", "m", 1);
    }
}

static void count_warning(void *user, muster_log_level level, const char *line)
{
    volatile child_report *report = user;
    report->number += level == MUSTER_LOG_WARNING && strstr(line, "ranks on other hosts") != NULL;
}

/* The sentence is the address from which the store is reached, or the error. number counts the
 * warnings of rank 0. */
static int scene_rank(int rank, void *argument, volatile child_report *reports)
{
    const scene *what = argument;
    rendezvous joined;
    char text[sizeof(reports->sentence)] = "";
    scene_enter(rank, what);
    muster_set_log(count_warning, (void *)&reports[rank], MUSTER_LOG_INFO);
    muster_status status = rendezvous_join(what->method, rank, 2, TIMEOUT, &joined);
    muster_blob own = muster_str(rank == 0 ? "0" : "1"), other = muster_str(rank == 0 ? "1" : "0");
    if (status == MUSTER_OK)
        status = muster_store_set(joined.store, own, own);
    if (status == MUSTER_OK)
        status = muster_store_wait(joined.store, &other, 1, TIMEOUT);
    snprintf(text, sizeof(text), "%s", status == MUSTER_OK ? "" : muster_last_error());
    if (status == MUSTER_OK)
        store_local_address(joined.store, text, sizeof(text));
    memcpy((char *)reports[rank].sentence, text, sizeof(text));
    /* The server ends with rank 0, so rank 0 stays until rank 1 has seen its key. */
    if (status == MUSTER_OK && rank == 1)
        muster_store_set(joined.store, muster_str("bye"), own);
    muster_blob bye = muster_str("bye");
    if (status == MUSTER_OK && rank == 0)
        status = muster_store_wait(joined.store, &bye, 1, TIMEOUT);
    muster_store_free(joined.store);
    return status;
}

static bool scene_play(scene what, child_report reports[2])
{
    children_run(2, scene_rank, &what, reports);
    bool good = true;
    for (int i = 0; i < 2; i++)
        good =
            good && reports[i].ended && reports[i].status == MUSTER_OK && reports[i].millis < QUICK;
    return good;
}

static void scene_show(const child_report reports[2])
{
    for (int i = 0; i < 2; i++)
        diag("rank %d: ended %d, status %d, %d ms, %s", i, reports[i].ended, reports[i].status,
             reports[i].millis, reports[i].sentence);
}

/* User case 11. */
static void master_elsewhere(void)
{
    child_report reports[2];
    scene_play((scene){.method = "tcp://10.77.0.2:29510"}, reports);
    is_int(reports[0].status, MUSTER_ERR_NOT_FOUND, "rank 0 does not serve an address of rank 1's");
    ok(reports[0].millis < QUICK, "and says so within a second");
    has_str(reports[0].sentence, "\"10.77.0.2\" (10.77.0.2) is not an address of this machine",
            "it names the address");
    has_str(reports[0].sentence, "va 10.77.0.1", "and lists those it has");
    ok(reports[1].ended && reports[1].status > 0 && reports[1].millis < TIMEOUT + 1000,
       "rank 1 has an error in time");
    has_str(reports[1].sentence, "10.77.0.2", "that names the address");
}

/* User case 14. */
static void own_address(void)
{
    child_report reports[2];
    char name[64] = "", hosts[128];
    gethostname(name, sizeof(name) - 1);
    snprintf(hosts, sizeof(hosts), "127.0.0.1 localhost\n127.0.1.1 %.63s\n", name);
    scene what = {.method = "env://", .master = "10.77.0.1", .hosts = {"\n", hosts}};
    if (!ok(scene_play(what, reports), "whatever its own name resolves to, a rank joins"))
        scene_show(reports);
    is_str(reports[1].sentence, "10.77.0.2",
           "and knows the address from which it reaches the store");
    what.master = "fd77::1";
    if (!ok(scene_play(what, reports), "over IPv6 as well"))
        scene_show(reports);
    is_str(reports[1].sentence, "fd77::2", "with an IPv6 address");
    /* A name that is the loopback on rank 0's machine only: rank 1 could not come from elsewhere.
     */
    what = (scene){.method = "tcp://muster-node:29512",
                   .hosts = {"127.0.1.1 muster-node\n", "127.0.1.1 muster-node\n"},
                   .same = true};
    if (!ok(scene_play(what, reports), "a name that is the loopback works on one machine"))
        scene_show(reports);
    is_int(reports[0].number, 1, "and rank 0 warns of it");
}

/* User case 8. What the machines of rank 0 and of rank 1 take the name for. */
static void families(void)
{
    static const struct {
        const char *hosts[2];
        const char *what;
    } names[] = {
        {{"10.77.0.1 muster-node\n"}, "IPv4 alone"},
        {{"fd77::1 muster-node\n"}, "IPv6 alone"},
        {{"2001:db8::1 muster-node\n10.77.0.1 muster-node\n"}, "a dead IPv6 address and IPv4"},
        {{"192.0.2.1 muster-node\nfd77::1 muster-node\n"}, "a dead IPv4 address and IPv6"},
        {{"fd77::1 muster-node\n10.77.0.1 muster-node\n"}, "both families"},
        {{"fd77::1 muster-node\n10.77.0.1 muster-node\n", "10.77.0.1 muster-node\n"},
         "both families where rank 0 is and IPv4 elsewhere"},
        {{"fd77::1 muster-node\n10.77.0.1 muster-node\n", "fd77::1 muster-node\n"},
         "both families where rank 0 is and IPv6 elsewhere"},
        {{"127.0.1.1 muster-node\n10.77.0.1 muster-node\n", "10.77.0.1 muster-node\n"},
         "the loopback too where rank 0 is"},
    };
    child_report reports[2];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char method[64];
        const char *first = names[i].hosts[0], *second = names[i].hosts[1];
        snprintf(method, sizeof(method), "tcp://muster-node:%d", 29520 + (int)i);
        scene what = {.method = method, .hosts = {first, second == NULL ? first : second}};
        if (!ok(scene_play(what, reports), "a name with %s works within a second", names[i].what))
            scene_show(reports);
        is_int(reports[0].number, 0, "without a warning");
    }
}

static void without_ipv6(void)
{
    static const char *const methods[] = {"tcp://127.0.0.1:29530", "tcp://localhost:29531",
                                          "tcp://[::ffff:127.0.0.1]:29532"};
    child_report reports[2];
    if (!write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"))
        return skip(3, "IPv6 can't be switched off here");
    for (int i = 0; i < 3; i++)
        if (!ok(scene_play((scene){.method = methods[i], .same = true}, reports),
                "without IPv6 %s works within a second", methods[i]))
            scene_show(reports);
    write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "0");
}

static bool many_interfaces(void)
{
    for (int i = 0; i < 20; i++)
        if (!run("ip link add br%d type bridge && ip addr add 10.78.%d.1/24 dev br%d", i, i, i) ||
            (i % 4 != 0 && !run("ip link set br%d up", i)))
            return false;
    return true;
}

/* User case 16. */
static void laptop(void)
{
    child_report reports[2];
    interface_address *list, chosen;
    size_t count;
    if (!many_interfaces())
        return skip(6, "no bridges can be made here");
    interface_list(&list, &count);
    ok(count >= 22, "all of twenty interfaces are listed");
    ok(interface_match("10.78.3.0/24", AF_UNSPEC, list, count, &chosen) == MUSTER_OK &&
           strcmp(chosen.name, "br3") == 0,
       "a network chooses the interface in it");
    ok(interface_match("^lo,br", AF_UNSPEC, list, count, &chosen) == MUSTER_OK &&
           strcmp(chosen.address, "10.77.0.1") == 0,
       "what is left out leaves the one that works");
    is_int(interface_match("=br4", AF_UNSPEC, list, count, &chosen), MUSTER_ERR_NOT_FOUND,
           "one that is down is not chosen");
    has_str(muster_last_error(), "br4 10.78.4.1 (down)", "and is said to be down");
    free(list);
    if (!ok(scene_play((scene){.method = "tcp://127.0.0.1:29540", .same = true}, reports),
            "two ranks of this machine meet within a second"))
        scene_show(reports);
}

int main(void)
{
    if (!own_namespaces())
        plan_skip_all("network namespaces are not allowed here, or there is no ip");
    if (!second_host())
        plan_skip_all("two namespaces can't be connected here");
    plan(6 + 6 + 16 + 3 + 6);
    master_elsewhere();
    own_address();
    families();
    without_ipv6();
    laptop();
    kill(host_b, SIGKILL);
    waitpid(host_b, NULL, 0);
    return done();
}
