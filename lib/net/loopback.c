/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A loopback address for each process: 127.128.0.1 to 127.255.255.254, by process id.
 */
#include "config.h"

#include "net/loopback.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Last bytes of 0 and 255 are left out: some take them for those of a network. */
enum { LAST_BYTES = 254, BYTES = 256, SECOND_BYTES = 128 };

static bool can_be_bound(const char *address)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
        return false;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
    if (fd >= 0)
        close(fd);
    return bound;
}

const char *loopback_of_process(long long pid, char *text, size_t size)
{
    unsigned long long number = (unsigned long long)pid;
    snprintf(text, size, "127.%llu.%llu.%llu",
             SECOND_BYTES + number / LAST_BYTES / BYTES % SECOND_BYTES, number / LAST_BYTES % BYTES,
             1 + number % LAST_BYTES);
    if (!can_be_bound(text))
        snprintf(text, size, "127.0.0.1");
    return text;
}
