/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strangers: those who connect to ports of a job to which they do not belong.
 */
#include "config.h"

#include "strangers.h"

#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HELD_MOST = 150, SOCKETS_MOST = 512 };

/* ---- one visit ---- */

/* Those that stay; the oldest goes when there are too many. */
static void hold(int fd)
{
    static int held[HELD_MOST];
    static unsigned next;
    int *place = &held[next++ % HELD_MOST];
    if (*place > 0)
        close(*place);
    *place = fd;
}

static void reset(int fd)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
}

static void say(int fd, const void *bytes, size_t size)
{
    if (send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* it was shown the door already */
}

static void talk(int fd, unsigned number)
{
    static const size_t sizes[] = {1, 4, 8, 27, 28, 29, 48, 1000, 60000};
    unsigned char noise[60000];
    size_t size = sizes[number % (sizeof(sizes) / sizeof(sizes[0]))];
    for (size_t i = 0; i < size; i++)
        noise[i] = (unsigned char)rand();
    say(fd, noise, size);
}

/* Newer versions of Gloo begin with the number of a pair; a message has six words in front: its
 * length with them, what it is, a slot, and two offsets and a length. */
static void mimic_gloo(int fd, unsigned number)
{
    int64_t pair = number / 2 % 8;
    uint64_t message[7] = {48 + 8, number % 4, UINT64_MAX - number % 3, 0, 8, 0, 1};
    if (number % 2 == 0)
        say(fd, &pair, sizeof(pair));
    say(fd, message, sizeof(message));
}

/* The greeting of a member that does not know the secret, whole or in part. */
static void mimic_muster(int fd, unsigned number)
{
    unsigned char greeting[28] = "MGhi";
    greeting[7] = (unsigned char)(number % 4);
    greeting[11] = (unsigned char)(number / 4 % 4);
    say(fd, greeting, number % 5 == 0 ? 12 : sizeof(greeting));
}

static void visit(int fd, stranger_way way)
{
    static unsigned number;
    number++;
    if (way == STRANGER_MIXED)
        way = (stranger_way)(number % STRANGER_MIXED);
    if (way == STRANGER_TALKS)
        talk(fd, number);
    else if (way == STRANGER_MIMICS && number % 2 == 0)
        mimic_gloo(fd, number / 2);
    else if (way == STRANGER_MIMICS)
        mimic_muster(fd, number / 2);
    if (way == STRANGER_RESETS)
        reset(fd);
    else if (way == STRANGER_CLOSES || number % 3 == 0)
        close(fd);
    else
        hold(fd);
}

void stranger_visit(const struct sockaddr *at, socklen_t size, stranger_way way, int count)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    for (int i = 0; i < count; i++) {
        int fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            break;
        /* On one host that is done at once, or goes on by itself. */
        if (connect(fd, at, size) != 0)
            hold(fd);
        else
            visit(fd, way);
    }
    pthread_mutex_unlock(&one_at_a_time);
}

/* ---- who listens ---- */

static unsigned spared;

void stranger_spare(int port)
{
    spared = (unsigned)port;
}

typedef struct inodes {
    int count;
    unsigned long list[SOCKETS_MOST];
} inodes;

static void add_sockets(pid_t pid, inodes *all)
{
    char path[64], link[400], what[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL && all->count < SOCKETS_MOST) {
        snprintf(link, sizeof(link), "%s/%s", path, entry->d_name);
        ssize_t length = readlink(link, what, sizeof(what) - 1);
        if (length <= 0)
            continue;
        what[length] = '\0';
        if (sscanf(what, "socket:[%lu]", &all->list[all->count]) == 1)
            all->count++;
    }
    if (folder != NULL)
        closedir(folder);
}

static bool among(const inodes *all, unsigned long inode)
{
    for (int i = 0; i < all->count; i++)
        if (all->list[i] == inode)
            return true;
    return false;
}

/* Calls found for each listening IPv4 address that is among the sockets; returns how many. */
static int each_listener(const inodes *all, void (*found)(const struct sockaddr_in *at, void *user),
                         void *user)
{
    enum { LISTENS = 0x0a };
    char line[512];
    int count = 0;
    FILE *table = fopen("/proc/net/tcp", "r");
    while (table != NULL && fgets(line, sizeof(line), table) != NULL) {
        unsigned address, port, state;
        unsigned long inode;
        if (sscanf(line, "%*d: %8x:%4x %*x:%*x %2x %*s %*s %*s %*d %*d %lu", &address, &port,
                   &state, &inode) != 4 ||
            state != LISTENS || port == spared || !among(all, inode))
            continue;
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        at.sin_addr.s_addr = address;
        count++;
        if (found != NULL)
            found(&at, user);
    }
    if (table != NULL)
        fclose(table);
    return count;
}

int stranger_count_listeners(pid_t pid)
{
    inodes all = {0};
    add_sockets(pid, &all);
    return each_listener(&all, NULL, NULL);
}

typedef struct haunting {
    stranger_way way;
    atomic_int *visits;
} haunting;

static void haunt(const struct sockaddr_in *at, void *user)
{
    const haunting *it = user;
    stranger_visit((const struct sockaddr *)at, sizeof(*at), it->way, 2);
    atomic_fetch_add(it->visits, 2);
}

void stranger_haunt(const pid_t *pids, int count, stranger_way way, const atomic_bool *stop,
                    atomic_int *visits)
{
    haunting it = {way, visits};
    while (!atomic_load(stop)) {
        inodes all = {0};
        for (int i = 0; i < count; i++)
            add_sockets(pids[i], &all);
        each_listener(&all, haunt, &it);
        usleep(300);
    }
}
