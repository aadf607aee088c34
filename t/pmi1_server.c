/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A stand-in for the PMI-1 server of a launcher.
 */
#include "config.h"

#include "pmi1_server.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST = 8, ROOM = 8192 };

typedef struct server {
    pmi1_manner manner;
    int count;
    int sockets[MOST];
    char lines[MOST][ROOM];
    size_t used[MOST];
    int in_barrier;
    int finalized;
    char key[256];
    char value[2048];
} server;

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        data += sent;
        size -= (size_t)sent;
    }
}

/* The parent of the test has copies of the socket, which a close would leave open. */
static void end(server *s, int client)
{
    shutdown(s->sockets[client], SHUT_RDWR);
    close(s->sockets[client]);
    s->sockets[client] = -1;
}

/* A line as the server's manner has it. */
static void answer(server *s, int client, const char *line)
{
    static char junk[3 * ROOM];
    int fd = s->sockets[client];
    size_t size = strlen(line);
    switch (s->manner) {
    case PMI1_BYTES:
        for (size_t i = 0; i < size; i++) {
            send_all(fd, line + i, 1);
            usleep(200);
        }
        return;
    case PMI1_SILENT:
        return;
    case PMI1_CUT:
        send_all(fd, line, size / 2);
        end(s, client);
        return;
    case PMI1_NONSENSE:
        send_all(fd, "\xff\xfe GET / HTTP/1.0\n", 18);
        return;
    case PMI1_OVERLONG:
        memset(junk, 'x', sizeof(junk));
        send_all(fd, junk, sizeof(junk));
        return;
    case PMI1_TWO_LINES:
        snprintf(junk, sizeof(junk), "%.*scmd=more\n", (int)size, line); /* come together */
        send_all(fd, junk, strlen(junk));
        return;
    case PMI1_ZERO:
        send_all(fd, "cmd=response_to_init\0 rc=0\n", 27);
        return;
    default:
        send_all(fd, line, size);
    }
}

static void enter_barrier(server *s)
{
    if (++s->in_barrier < s->count || s->manner == PMI1_NO_BARRIER)
        return;
    s->in_barrier = 0;
    for (int i = 0; i < s->count; i++)
        answer(s, i, "cmd=barrier_out rc=0\n");
}

static void get(server *s, int client, const char *line)
{
    char text[2400], key[256] = "";
    sscanf(line, "cmd=get kvsname=kvs_1 key=%255s", key);
    if (s->manner != PMI1_LOSES && strcmp(key, s->key) == 0)
        snprintf(text, sizeof(text), "cmd=get_result rc=0 msg=success value=%s\n", s->value);
    else
        snprintf(text, sizeof(text), "cmd=get_result rc=-1 msg=key_%s_not_found value=unknown\n",
                 key);
    answer(s, client, text);
}

static void take(server *s, int client, const char *line)
{
    if (strncmp(line, "cmd=init ", 9) == 0)
        answer(s, client,
               s->manner == PMI1_REFUSES
                   ? "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n"
                   : "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    else if (strcmp(line, "cmd=get_maxes") == 0)
        answer(s, client,
               s->manner == PMI1_BAD_MAX ? "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=x\n"
               : s->manner == PMI1_SMALL ? "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4\n"
                                         : "cmd=maxes kvsname_max=256 keylen_max=64 "
                                           "vallen_max=1024\n");
    else if (strcmp(line, "cmd=get_my_kvsname") == 0)
        answer(s, client,
               s->manner == PMI1_NO_NAME ? "cmd=my_kvsname\n" : "cmd=my_kvsname kvsname=kvs_1\n");
    else if (sscanf(line, "cmd=put kvsname=kvs_1 key=%255s value=%2047s", s->key, s->value) == 2)
        answer(s, client, "cmd=put_result rc=0 msg=success\n");
    else if (strcmp(line, "cmd=barrier_in") == 0)
        enter_barrier(s);
    else if (strncmp(line, "cmd=get ", 8) == 0)
        get(s, client, line);
    else if (strcmp(line, "cmd=finalize") == 0) {
        answer(s, client, "cmd=finalize_ack rc=0\n");
        s->finalized++;
    } else
        answer(s, client, "cmd=what\n");
}

static void read_from(server *s, int client)
{
    char *line = s->lines[client];
    ssize_t got = recv(s->sockets[client], line + s->used[client], ROOM - s->used[client] - 1, 0);
    if (got <= 0) {
        end(s, client);
        return;
    }
    s->used[client] += (size_t)got;
    line[s->used[client]] = '\0';
    char *newline = strchr(line, '\n');
    if (newline == NULL)
        return;
    *newline = '\0';
    s->used[client] = 0;
    take(s, client, line);
}

int pmi1_serve(const int *sockets, int count, pmi1_manner manner)
{
    static server s;
    s = (server){.manner = manner, .count = count};
    memcpy(s.sockets, sockets, (size_t)count * sizeof(*sockets));
    for (int i = 0; i < count && manner == PMI1_GONE; i++)
        end(&s, i);
    for (;;) {
        struct pollfd wait[MOST];
        bool any = false;
        for (int i = 0; i < count; i++) {
            wait[i] = (struct pollfd){s.sockets[i], POLLIN, 0};
            any = any || s.sockets[i] >= 0;
        }
        if (!any || poll(wait, (nfds_t)count, 15000) <= 0)
            return s.finalized == count ? 0 : 1;
        for (int i = 0; i < count; i++)
            if (wait[i].fd >= 0 && wait[i].fd == s.sockets[i] && wait[i].revents != 0)
                read_from(&s, i);
    }
}
