/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets and addresses.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/socket.h"
#include "net/socket_here.h"
#include "store_conformance.h"
#include "tap.h"

static socket_address first_of(const char *host, int port)
{
    socket_address *all = NULL, first = {0};
    size_t num = 0;
    if (socket_resolve(host, port, &all, &num) != MUSTER_OK)
        bail_out("%s", muster_last_error());
    first = all[0];
    free(all);
    return first;
}

static void addresses(void)
{
    char text[SOCKET_TEXT_SIZE], here[256], small[8];
    socket_address *all;
    size_t num;
    socket_address v4 = first_of("127.0.0.1", 80), v6 = first_of("::1", 80),
                   mapped = first_of("::ffff:192.0.2.7", 1), any = first_of("0.0.0.0", 5),
                   any6 = first_of("::", 5);
    is_str(socket_address_text(&v4, true, text), "127.0.0.1:80", "an address and port");
    is_str(socket_address_text(&v4, false, text), "127.0.0.1", "an address");
    is_str(socket_address_text(&v6, true, text), "[::1]:80", "one of IPv6 has brackets");
    is_str(socket_address_text(&v6, false, text), "::1", "but not without its port");
    is_str(socket_address_text(&mapped, true, text), "192.0.2.7:1", "IPv4 inside of IPv6");
    ok(socket_address_equal(&v4, &v4) && socket_address_equal(&v6, &v6), "equal addresses");
    ok(!socket_address_equal(&v4, &v6), "unlike families");
    ok(socket_address_is_loopback(&v4) && socket_address_is_loopback(&v6), "loopback");
    ok(!socket_address_is_loopback(&mapped), "others");
    ok(!socket_address_is_loopback(&any), "the wildcard");
    socket_address other = first_of("127.0.0.1", 81);
    ok(!socket_address_equal(&v4, &other), "unlike ports");
    other = socket_address_reachable(&any);
    is_str(socket_address_text(&other, true, text), "127.0.0.1:5", "the wildcard is reached here");
    other = socket_address_reachable(&any6);
    is_str(socket_address_text(&other, true, text), "[::1]:5", "that of IPv6 too");
    other = socket_address_reachable(&v4);
    ok(socket_address_equal(&other, &v4), "another one is itself");
    is_int(socket_resolve("no..such.host", 1, &all, &num), MUSTER_ERR_NOT_FOUND,
           "a name that is none");
    has_str(muster_last_error(), "no..such.host", "is quoted");
    has_str(socket_addresses_here(here, sizeof(here)), "127.0.0.1", "this host has addresses");
    is_str(socket_addresses_here(small, sizeof(small)), "none", "too little room for them");
    is_int(socket_local_address(-1, &other), false, "no socket, no address");
}

static int warnings;

static void count_warnings(void *user, muster_log_level level, const char *line)
{
    (void)user;
    warnings += level == MUSTER_LOG_WARNING && strstr(line, "'no..such.host'") != NULL;
}

static void names(void)
{
    socket_address *all;
    size_t num;
    muster_set_log(count_warnings, NULL, MUSTER_LOG_WARNING);
    long long start = now_ms();
    is_int(socket_resolve_until("no..such.host", 1, deadline_in(300), &all, &num),
           MUSTER_ERR_NOT_FOUND, "a name that gets no address");
    ok(now_ms() - start >= 300, "is tried until the deadline");
    has_str(muster_last_error(), "'no..such.host', tried for 0.3 s: ", "which is said");
    is_int(warnings, 1, "after one warning");
    muster_set_log(NULL, NULL, MUSTER_LOG_WARNING);
    is_int(socket_resolve_until("127.0.0.1", 1, deadline_in(0), &all, &num), MUSTER_OK,
           "an address needs no time");
    free(all);
}

static void described(void)
{
    int fd = -1, client;
    char text[SOCKET_TEXT_SIZE];
    socket_address list[2] = {first_of("127.0.0.1", 0), first_of("127.0.0.2", 0)};
    for (int i = 0; i < 2; i++) {
        socket_listen(&list[i], &fd);
        socket_local_address(fd, &list[i]);
        close(fd);
    }
    socket_connect(list, 2, false, deadline_in(1000), "test", &client);
    has_str(muster_last_error(), "127.0.0.1 Connection refused, 127.0.0.2 Connection refused",
            "all addresses that were tried are said");
    socket_connect(list, 1, false, deadline_in(1000), "a name", &client);
    has_str(muster_last_error(), "a name: no connection (127.0.0.1 Connection refused)",
            "the one of a name too");
    socket_connect(list, 1, false, deadline_in(1000), socket_address_text(list, true, text),
                   &client);
    ok(strstr(muster_last_error(), "(") == NULL, "but not what is said already");
}

static void listening(void)
{
    int fd = -1, second = -1;
    char text[SOCKET_TEXT_SIZE];
    socket_address any_port = first_of("127.0.0.1", 0), taken, foreign = first_of("192.0.2.1", 0);
    is_int(socket_listen(&any_port, &fd), MUSTER_OK, "listening on any port");
    ok(socket_local_address(fd, &taken) && socket_address_port(&taken) > 0, "gives a real one");
    ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "close-on-exec");
    is_int(socket_listen(&taken, &second), MUSTER_ERR_SYSTEM, "a port is taken once");
    has_str(muster_last_error(), socket_address_text(&taken, true, text), "which is named");
    has_str(muster_last_error(), "in use", "and said to be in use");
    is_int(socket_listen(&foreign, &second), MUSTER_ERR_SYSTEM, "an address of somebody else");
    has_str(muster_last_error(), "192.0.2.1:0", "is named");
    has_str(muster_last_error(), "127.0.0.1", "with those that this host has");
    close(fd);
}

/* As somebody who is not root, on a machine that keeps low ports for root, as most do. */
static void listening_low(void)
{
    pid_t child = fork();
    if (child == 0) {
        int fd;
        socket_address low = first_of("127.0.0.1", 1);
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(0);
        bool right = socket_listen(&low, &fd) == MUSTER_OK ||
                     strstr(muster_last_error(), "choose one from there on") != NULL ||
                     strstr(muster_last_error(), "in use") != NULL;
        _exit(!right);
    }
    int ended;
    waitpid(child, &ended, 0);
    ok(WIFEXITED(ended) && WEXITSTATUS(ended) == 0, "a low port is said to be one");
}

static bool one_port(const int *fds, size_t num)
{
    socket_address first = {0}, next = {0};
    for (size_t i = 0; i < num; i++)
        if (!socket_local_address(fds[i], i == 0 ? &first : &next) ||
            (i > 0 && socket_address_port(&first) != socket_address_port(&next)))
            return false;
    return true;
}

/* User case 8: a name of several addresses, of which this host has some. */
static void listening_on_all(void)
{
    int fds[4], other;
    size_t num = 0;
    char text[SOCKET_TEXT_SIZE];
    socket_address list[4] = {first_of("192.0.2.1", 0), first_of("127.0.0.1", 0),
                              first_of("127.0.0.1", 0), first_of("127.0.0.2", 0)};
    is_int(socket_listen_all(list, 4, fds, 4, &num), MUSTER_OK, "listening on all addresses");
    is_int((long long)num, 2, "that this host has, each once");
    ok(one_port(fds, num), "with one port");
    for (size_t i = 0; i < num; i++)
        close(fds[i]);
    is_int(socket_listen_all(list, 4, fds, 1, &num), MUSTER_OK, "or on so many");
    is_int((long long)num, 1, "as there is room for");
    close(fds[0]);
    is_int(socket_listen_all(list, 1, fds, 4, &num), MUSTER_ERR_SYSTEM, "none of them is here");
    has_str(muster_last_error(), "192.0.2.1:0: this host has no such address", "which is said");
    socket_listen(&list[3], &other);
    socket_local_address(other, &list[3]);
    list[1] = list[2] = socket_address_with_port(&list[1], socket_address_port(&list[3]));
    is_int(socket_listen_all(list + 1, 3, fds, 4, &num), MUSTER_ERR_SYSTEM,
           "a port that is in use on one of them");
    has_str(muster_last_error(), socket_address_text(&list[3], true, text), "is named");
    is_int((long long)num, 0, "and none is kept");
    close(other);
}

/* A socket that blocks ends its calls in time all the same. */
static void blocking(void)
{
    int fd = -1, client = -1;
    socket_address any_port = first_of("127.0.0.1", 0), there;
    socket_listen(&any_port, &fd);
    socket_local_address(fd, &there);
    socket_connect(&there, 1, false, deadline_in(1000), "test", &client);
    int server = accept(fd, NULL, NULL);
    int64_t patience_ms = 0;
    size_t got = 0;
    char bytes[8];
    is_int(socket_block(client), MUSTER_OK, "a socket that blocks");
    long long start = now_ms();
    is_int(socket_receive_blocking(client, &patience_ms, bytes, 8, deadline_in(50), &got),
           MUSTER_ERR_TIMEOUT, "receives nothing");
    ok(now_ms() - start >= 45, "in the time it was given");
    is_int(socket_receive_blocking(client, &patience_ms, bytes, 8, deadline_in(0), &got),
           MUSTER_ERR_TIMEOUT, "or in no time");
    socket_send(server, "abc", 3, deadline_in(1000));
    is_int(socket_receive_blocking(client, &patience_ms, bytes, 8, deadline_in(1000), &got),
           MUSTER_OK, "what has come");
    is_int((long long)got, 3, "is received");
    ok(patience_ms > 0 && patience_ms <= 1000, "without a further call where it has time enough");
    start = now_ms();
    is_int(socket_receive_blocking(client, &patience_ms, bytes, 8, deadline_in(150), &got),
           MUSTER_ERR_TIMEOUT, "after a short patience");
    ok(now_ms() - start >= 145, "a longer one is kept too");
    close(server);
    is_int(socket_receive_blocking(client, &patience_ms, bytes, 8, deadline_in(1000), &got),
           MUSTER_ERR_PEER_LOST, "who has gone is lost");
    is_int(socket_block(-1), MUSTER_ERR_SYSTEM, "no socket is an error");
    close(client);
    close(fd);
}

static void connecting(void)
{
    int fd = -1, client = -1;
    socket_address any_port = first_of("127.0.0.1", 0), there, list[2];
    socket_listen(&any_port, &fd);
    socket_local_address(fd, &there);
    is_int(socket_connect(&there, 1, false, deadline_in(1000), "test", &client), MUSTER_OK,
           "connecting");
    ok((fcntl(client, F_GETFL) & O_NONBLOCK) != 0, "to a socket that does not block");
    int server = accept(fd, NULL, NULL);
    size_t got = 0;
    char bytes[8];
    is_int(socket_send(client, "abc", 3, deadline_in(1000)), MUSTER_OK, "sending");
    is_int(socket_receive(server, bytes, 8, deadline_in(1000), &got), MUSTER_OK, "receiving");
    is_int((long long)got, 3, "what there is");
    is_int(socket_receive(client, bytes, 8, deadline_in(50), &got), MUSTER_ERR_TIMEOUT,
           "receiving nothing ends in time");
    size_t big = 64 << 20;
    char *zeros = calloc(1, big);
    is_int(socket_send(client, zeros, big, deadline_in(50)), MUSTER_ERR_TIMEOUT,
           "sending to who does not read ends in time");
    free(zeros);
    close(server);
    while (socket_receive(client, bytes, 8, deadline_in(1000), &got) == MUSTER_OK)
        continue;
    is_int(socket_receive(client, bytes, 8, deadline_in(1000), &got), MUSTER_ERR_PEER_LOST,
           "who has gone is lost");
    is_int(socket_send(client, "abc", 3, deadline_in(1000)), MUSTER_ERR_PEER_LOST,
           "for sending too, without a signal");
    close(client);
    close(fd);
    is_int(socket_connect(&there, 1, false, deadline_in(1000), "test", &client),
           MUSTER_ERR_PEER_LOST, "a refusal is an error");
    has_str(muster_last_error(), "test: no connection", "that says to what");
    long long start = now_ms();
    is_int(socket_connect(&there, 1, true, deadline_in(100), "test", &client), MUSTER_ERR_TIMEOUT,
           "tried again it takes the time given");
    ok(now_ms() - start >= 100 && now_ms() - start < patient(300), "and no more");
    socket_listen(&any_port, &fd);
    list[0] = there;
    socket_local_address(fd, &list[1]);
    is_int(socket_connect(list, 2, false, deadline_in(1000), "test", &client), MUSTER_OK,
           "the second address is tried when the first refuses");
    close(client);
    close(fd);
}

int main(void)
{
    plan(72);
    addresses();
    names();
    described();
    listening();
    listening_low();
    listening_on_all();
    connecting();
    blocking();
    return done();
}
