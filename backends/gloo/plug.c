/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plugs and the filter before Gloo.
 */
#include "config.h"

#include "plug.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"

bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
    const void *left = &a->at, *right = &b->at;
    if (a->at.ss_family != b->at.ss_family)
        return false;
    if (a->at.ss_family == AF_INET) {
        const struct sockaddr_in *x = left, *y = right;
        return x->sin_port == y->sin_port && x->sin_addr.s_addr == y->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *x = left, *y = right;
    return x->sin6_port == y->sin6_port && IN6_ARE_ADDR_EQUAL(&x->sin6_addr, &y->sin6_addr);
}

bool endpoint_own(int fd, struct endpoint *own)
{
    own->size = sizeof(own->at);
    return getsockname(fd, (struct sockaddr *)&own->at, &own->size) == 0;
}

bool endpoint_peer(int fd, struct endpoint *peer)
{
    peer->size = sizeof(peer->at);
    return getpeername(fd, (struct sockaddr *)&peer->at, &peer->size) == 0;
}

muster_status plug_error(const char *what)
{
    return gloo_host->error(MUSTER_ERR_SYSTEM, "can't %s a socket of Gloo's: %s", what,
                            strerror(errno));
}

muster_status plug_make(plug *made, const char *address)
{
    /* A reset in the end, so that nothing of this connection lingers. */
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    made->at.size = device_address(address, &made->at.at);
    made->fd = socket(made->at.at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made->fd < 0)
        return plug_error("make");
    setsockopt(made->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    if (bind(made->fd, (struct sockaddr *)&made->at.at, made->at.size) != 0 ||
        !endpoint_own(made->fd, &made->at))
        return plug_error("bind");
    return MUSTER_OK;
}

void plug_admit(const plug *only, int listener)
{
    enum { PORT_AT = 0, ADDRESS4_AT = 12, ADDRESS6_AT = 8 };
    const void *at = &only->at.at;
    const struct sockaddr_in *v4 = at;
    const struct sockaddr_in6 *v6 = at;
    bool six = only->at.at.ss_family == AF_INET6;
    const uint8_t *address = six ? (const uint8_t *)&v6->sin6_addr : (const uint8_t *)&v4->sin_addr;
    unsigned words = six ? 4 : 1, count = 0;
    uint32_t first = (uint32_t)SKF_NET_OFF + (six ? ADDRESS6_AT : ADDRESS4_AT);
    struct sock_filter program[12];
    program[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_H | BPF_ABS, PORT_AT);
    program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                    ntohs(six ? v6->sin6_port : v4->sin_port), 0,
                                                    (uint8_t)(2 * words + 1));
    for (unsigned i = 0; i < words; i++) {
        uint32_t word;
        memcpy(&word, address + 4 * i, sizeof(word));
        program[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first + 4 * i);
        program[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(word), 0,
                                                        (uint8_t)(2 * (words - 1 - i) + 1));
    }
    program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
    program[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog filter = {(unsigned short)count, program};
    setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

bool plug_connect(const plug *it, const struct endpoint *to)
{
    enum { PLUG_MS = 200 };
    struct pollfd done = {.fd = it->fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof(error);
    return connect(it->fd, (const struct sockaddr *)&to->at, to->size) == 0 ||
           (errno == EINPROGRESS && poll(&done, 1, PLUG_MS) == 1 &&
            getsockopt(it->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0);
}
