/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ears, which are datagram sockets with a name that is no file's.
 */
#include "config.h"

#include "ear.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int ear = -1;

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t length = strlen(name);
    memcpy(address->sun_path + 1, name, length); /* the zero in front makes it no file's */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static muster_status ear_error(int error)
{
    bool full = error == EMFILE || error == ENFILE;
    return local_host->error(error == ENOMEM || error == ENOBUFS ? MUSTER_ERR_NO_MEMORY
                             : full                              ? MUSTER_ERR_SYSTEM
                                                                 : MUSTER_ERR_UNAVAILABLE,
                             "can't make a socket for ranks of this host to call this one: %s%s",
                             strerror(error), full ? "; look at ulimit -n" : "");
}

static int bind_to(int fd, const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    return bind(fd, (struct sockaddr *)&address, size);
}

muster_status ear_open(char *name)
{
    uint64_t number[2];
    if (getrandom(number, sizeof(number), 0) != sizeof(number))
        return ear_error(errno);
    snprintf(name, sizeof(((card *)NULL)->ear), "muster%016llx%016llx",
             (unsigned long long)number[0], (unsigned long long)number[1]);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return ear_error(errno);
    if (bind_to(fd, name) != 0) {
        muster_status status = ear_error(errno);
        close(fd);
        return status;
    }
    ear = fd;
    return MUSTER_OK;
}

void ear_close(void)
{
    if (ear >= 0)
        close(ear);
    ear = -1;
}

int ear_descriptor(void)
{
    return ear;
}

void ear_empty(void)
{
    enum { AT_ONCE = 64 }; /* somebody may keep speaking */
    char byte;
    for (int i = 0; i < AT_ONCE; i++)
        if (recv(ear, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno != EINTR)
            return;
}

void ear_speak(const char *name)
{
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    ssize_t sent;
    do
        sent = sendto(ear, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    while (sent < 0 && errno == EINTR);
}
