/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attackers of a tcp store: one connection that does wrong, and crowds of them.
 */
#include "config.h"
#include "siege.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_conformance.h"
#include "store_peers.h"
#include "tap.h"
#include "tcp_store/tcp_entry.h"

int siege_enter(int port, unsigned char sent[80])
{
    job_secret secret;
    job_secret_nonces nonces;
    unsigned char proof[JOB_SECRET_PROOF], answer[TCP_ENTRY_MESSAGE];
    buffer message = {0};
    int fd = peer_connect(port);
    setenv("MUSTER_JOB_SECRET", SIEGE_SECRET, 1);
    job_secret_read(&secret, NULL);
    job_secret_draw(nonces.client);
    tcp_entry_put(&message, TCP_ENTRY_HELLO, nonces.client);
    bool good = send(fd, message.data, message.size, MSG_NOSIGNAL) == TCP_ENTRY_MESSAGE &&
                recv(fd, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer);
    memcpy(nonces.server, answer + TCP_ENTRY_HEAD, sizeof(nonces.server));
    job_secret_prove(&secret, JOB_SECRET_CLIENT, &nonces, proof);
    tcp_entry_put(&message, TCP_ENTRY_PROOF, proof);
    good = good &&
           send(fd, message.data + TCP_ENTRY_MESSAGE, TCP_ENTRY_MESSAGE, MSG_NOSIGNAL) > 0 &&
           recv(fd, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer) &&
           answer[TCP_ENTRY_MARK + 1] == TCP_ENTRY_WELCOME;
    memcpy(sent, message.data, message.size);
    buffer_free(&message);
    if (!good)
        bail_out("a good proof was refused");
    return fd;
}

bool siege_repelled(int port, const void *bytes, size_t size, int ms)
{
    int fd = peer_connect(port);
    send(fd, bytes, size, MSG_NOSIGNAL);
    bool closed = peer_closes(fd, ms);
    close(fd);
    return closed;
}

/* ---- Crowds -------------------------------------------------------------------------------- */

/* So many connections for one process, where it may have that many. */
enum { MOST_OF_ONE = 2500, MOST_PROCESSES = 40 };

struct crowd {
    pid_t processes[MOST_PROCESSES];
    int num;
};

static int most_of_one(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_max < MOST_OF_ONE + 32 ? (int)files.rlim_max - 32 : MOST_OF_ONE;
}

static pid_t send_some(int port, int connections, const char *word)
{
    char numbers[2][16], byte;
    int ready[2];
    if (pipe(ready) != 0)
        bail_out("no pipe");
    snprintf(numbers[0], sizeof(numbers[0]), "%d", port);
    snprintf(numbers[1], sizeof(numbers[1]), "%d", connections);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ready[1], 1);
        close(ready[0]);
        close(ready[1]);
        if (getppid() == parent)
            execl("/proc/self/exe", "crowd", numbers[0], numbers[1], word, (char *)NULL);
        _exit(1);
    }
    close(ready[1]);
    if (child < 0 || read(ready[0], &byte, 1) != 1)
        bail_out("a crowd of %d did not come", connections);
    close(ready[0]);
    return child;
}

crowd *crowd_come(int port, int connections, const char *word)
{
    crowd *all = calloc(1, sizeof(*all));
    int most = most_of_one();
    while (all != NULL && connections > 0 && all->num < MOST_PROCESSES) {
        int some = connections < most ? connections : most;
        all->processes[all->num++] = send_some(port, some, word == NULL ? "" : word);
        connections -= some;
    }
    return all;
}

void crowd_go(crowd *all)
{
    for (int i = 0; i < all->num; i++) {
        kill(all->processes[i], SIGKILL);
        waitpid(all->processes[i], NULL, 0);
    }
    free(all);
}

/* From many addresses, since one has not enough ports. */
static int come_from(int number, int port, const char *word)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    from.sin_addr.s_addr = htonl(0x7f000002u + (uint32_t)(number % 200));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &on, sizeof(on));
    if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        exit(1);
    send(fd, word, strlen(word), MSG_NOSIGNAL);
    return fd;
}

void crowd_main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[0], "crowd") != 0)
        return;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    int port = atoi(argv[1]), num = atoi(argv[2]);
    struct pollfd *all = calloc((size_t)num, sizeof(*all));
    if (all == NULL)
        exit(1);
    for (int i = 0; i < num; i++)
        all[i] = (struct pollfd){come_from(i, port, argv[3]), POLLIN | POLLRDHUP, 0};
    if (write(1, "x", 1) != 1)
        exit(1);
    alarm(60);
    for (;;) {
        if (poll(all, (nfds_t)num, -1) <= 0)
            continue;
        for (int i = 0; i < num; i++)
            if (all[i].revents != 0) {
                close(all[i].fd);
                all[i].fd = come_from(i, port, argv[3]);
            }
        poll(NULL, 0, 5);
    }
}
