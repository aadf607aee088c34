/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 64 };

struct host {
    pid_t pid;
    int names; /* its /etc/hosts */
};

static struct host hosts[HOSTS_MOST];
static int num_hosts;

static bool hosts_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

static bool hosts_shell(const char *before, const char *words, va_list arguments)
{
    char command[1024];
    int used = snprintf(command, sizeof(command), "%s ip ", before);
    used += vsnprintf(command + used, sizeof(command) - (size_t)used, words, arguments);
    if ((size_t)used + 20 > sizeof(command))
        bail_out("a command is too long: %s", command);
    strcpy(command + used, " >/dev/null 2>&1");
    return system(command) == 0;
}

bool hosts_switch_ip(const char *words, ...)
{
    va_list arguments;
    va_start(arguments, words);
    bool good = hosts_shell("", words, arguments);
    va_end(arguments);
    return good;
}

bool hosts_ip(int host, const char *words, ...)
{
    char before[64];
    va_list arguments;
    va_start(arguments, words);
    snprintf(before, sizeof(before), "nsenter -t %d -n", hosts[host].pid);
    bool good = hosts_shell(before, words, arguments);
    va_end(arguments);
    return good;
}

/* An ordinary user is root in a user namespace of his own. */
static bool hosts_become_root(void)
{
    char map[64];
    unsigned user = getuid(), group = getgid();
    if (unshare(CLONE_NEWUSER) != 0)
        return user == 0;
    snprintf(map, sizeof(map), "0 %u 1", user);
    if (!hosts_write("/proc/self/setgroups", "deny") || !hosts_write("/proc/self/uid_map", map))
        return false;
    snprintf(map, sizeof(map), "0 %u 1", group);
    return hosts_write("/proc/self/gid_map", map);
}

/* A file that is gone from its folder, and stays while somebody has it. */
static int hosts_file(char *path, size_t size)
{
    const char *where = getenv("TMPDIR");
    snprintf(path, size, "%s/muster-hosts-XXXXXX",
             where == NULL || *where == '\0' ? "/tmp" : where);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        bail_out("%s: %s", path, strerror(errno));
    return fd;
}

static void hosts_sleep(int ready, const char *names, int number)
{
    char name[16] = "host-a";
    name[5] = (char)('a' + number);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool good = unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS) == 0 &&
                mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                mount(names, "/etc/hosts", NULL, MS_BIND, NULL) == 0 &&
                sethostname(name, strlen(name)) == 0 && hosts_switch_ip("link set lo up") &&
                write(ready, "", 1) == 1;
    while (good)
        pause();
    _exit(1);
}

static bool hosts_add(int number)
{
    char path[512], byte;
    int ready[2];
    struct host *host = &hosts[number];
    host->names = hosts_file(path, sizeof(path));
    if (pipe2(ready, O_CLOEXEC) != 0)
        return false;
    host->pid = fork();
    if (host->pid == 0)
        hosts_sleep(ready[1], path, number);
    close(ready[1]);
    bool good = host->pid > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    unlink(path);
    num_hosts++;
    hosts_names(number, "127.0.0.1 localhost\n::1 localhost\n");
    return good;
}

const char *hosts_make(int count)
{
    if (system("ip -V >/dev/null 2>&1 && nsenter -V >/dev/null 2>&1") != 0)
        return "there is no ip(8), or no nsenter(1)";
    if (!hosts_become_root())
        return "this user may make no user namespaces";
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0)
        return "no network namespaces can be made here";
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "no mounts can be made here";
    for (int i = 0; i < count; i++)
        if (!hosts_add(i))
            return "no network namespace with a host name of its own can be made here";
    if (!hosts_switch("probe") || !hosts_plug(0, "probe0", "probe", "192.0.2.1/24", NULL) ||
        !hosts_switch_ip("link delete probe-0") || !hosts_switch_ip("link delete probe"))
        return "no bridge with a host plugged into it can be made here";
    return NULL;
}

void hosts_end(void)
{
    while (num_hosts > 0) {
        struct host *host = &hosts[--num_hosts];
        kill(host->pid, SIGKILL);
        waitpid(host->pid, NULL, 0);
        close(host->names);
    }
}

bool hosts_switch(const char *name)
{
    return hosts_switch_ip("link add %s type bridge", name) &&
           hosts_switch_ip("link set %s up", name);
}

/* nodad: an IPv6 address can be used at once. */
static bool hosts_address(int host, const char *interface, const char *address)
{
    return address == NULL || hosts_ip(host, "addr add %s dev %s %s", address, interface,
                                       strchr(address, ':') != NULL ? "nodad" : "");
}

bool hosts_plug(int host, const char *interface, const char *into, const char *address,
                const char *second)
{
    return hosts_switch_ip("link add %s-%d type veth peer name %s netns %d", into, host, interface,
                           hosts[host].pid) &&
           hosts_switch_ip("link set %s-%d master %s up", into, host, into) &&
           hosts_address(host, interface, address) && hosts_address(host, interface, second) &&
           hosts_ip(host, "link set %s up", interface);
}

void hosts_names(int host, const char *text)
{
    int fd = hosts[host].names;
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
        bail_out("/etc/hosts of a host: %s", strerror(errno));
}

void hosts_start(int host, struct command *command, const char *const *arguments)
{
    const char *words[MOST_WORDS] = {"nsenter", "-t", NULL, "-n", "-u", "-m", "--"};
    char pid[16];
    int count = 7;
    snprintf(pid, sizeof(pid), "%d", hosts[host].pid);
    words[2] = pid;
    while (*arguments != NULL && count < MOST_WORDS - 1)
        words[count++] = *arguments++;
    words[count] = NULL;
    command_start(command, NULL, words);
}
