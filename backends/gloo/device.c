/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo's devices: each has a thread of Gloo's that does all reading and most writing. Gloo starts
 * it as a child of the thread that makes the device and offers no way to prepare it, so the device
 * is made on a short thread that has prepared itself.
 */
#include "config.h"

#include "device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/signals.h"
#include "comm.h"
#include "descriptors.h"

struct device {
    struct device *next;
    int users;
    bool batch;
    gloo_c_device *handle;
    pthread_mutex_t lock;
    char address[];
};

/* What the short thread is asked for and what comes of it. */
struct birth {
    const char *address;
    bool batch;
    gloo_c_device *handle;
    gloo_c_status status;
    gloo_c_why why;
};

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct device *devices;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* In a child of fork the devices have no thread: they are left to the parent. */
static void devices_after_fork(void)
{
    pthread_mutex_init(&devices_lock, NULL);
    devices = NULL;
}

static void devices_watch_fork(void)
{
    pthread_atfork(NULL, NULL, devices_after_fork);
}

int device_family(const char *address)
{
    return strchr(address, ':') == NULL ? AF_INET : AF_INET6;
}

gloo_c_device *device_handle(struct device *device)
{
    return device->handle;
}

pthread_mutex_t *device_lock(struct device *device)
{
    return &device->lock;
}

socklen_t device_address(const char *text, struct sockaddr_storage *address)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    memset(address, 0, sizeof(*address));
    if (getaddrinfo(text, NULL, &hints, &found) != 0)
        return 0;
    socklen_t size = found->ai_addrlen;
    memcpy(address, found->ai_addr, size);
    freeaddrinfo(found);
    return size;
}

static void *device_birth(void *argument)
{
    struct birth *birth = argument;
    if (birth->batch) {
        struct sched_param none = {0};
        sched_setscheduler(0, SCHED_BATCH, &none);
    }
    birth->status = gloo_c_device_new(birth->address, device_family(birth->address), &birth->handle,
                                      &birth->why);
    return NULL;
}

static bool is_wildcard(const struct sockaddr_storage *address)
{
    const void *at = address;
    if (address->ss_family == AF_INET)
        return ((const struct sockaddr_in *)at)->sin_addr.s_addr == INADDR_ANY;
    return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)at)->sin6_addr);
}

/* Gloo's own words for an address that does not work name its source; the kernel's are better. */
static muster_status device_try_bind(const char *address)
{
    struct sockaddr_storage at;
    socklen_t size = device_address(address, &at);
    if (size == 0)
        return gloo_host->error(MUSTER_ERR_ARGUMENT, "'%s' is not a numeric address", address);
    if (is_wildcard(&at))
        return gloo_host->error(MUSTER_ERR_ARGUMENT,
                                "the address %s stands for all interfaces, and Gloo needs one: "
                                "choose it with gloo.iface or gloo.hostname",
                                address);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool works = fd >= 0 && bind(fd, (const struct sockaddr *)&at, size) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (works)
        return MUSTER_OK;
    return gloo_host->error(MUSTER_ERR_SYSTEM,
                            "the address %s can't be used on this host: %s; choose another with "
                            "gloo.iface or gloo.hostname",
                            address, strerror(error));
}

static muster_status device_fault(const struct birth *birth)
{
    if (birth->status == GLOO_C_NO_THREAD)
        return comm_no_thread("for Gloo", birth->why.text);
    if (birth->status == GLOO_C_NO_MEMORY)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY,
                                "no memory to start Gloo on %s: %s; a limit on "
                                "the address space may be too low (ulimit -v)",
                                birth->address, birth->why.text);
    return gloo_host->error(MUSTER_ERR_SYSTEM,
                            "Gloo can't use the address %s: %s; choose another with gloo.iface or "
                            "gloo.hostname",
                            birth->address, birth->why.text);
}

static muster_status device_start(struct birth *birth)
{
    pthread_t thread;
    signals before;
    signals_block(&before, SIGPIPE);
    int error = gloo_c_thread_room() ? pthread_create(&thread, NULL, device_birth, birth) : ENOMEM;
    signals_restore(&before);
    if (error != 0)
        return comm_no_thread("for Gloo", strerror(error));
    pthread_join(thread, NULL);
    return birth->status == GLOO_C_OK ? MUSTER_OK : device_fault(birth);
}

static muster_status device_make(const char *address, bool batch, struct device **made)
{
    muster_status status = device_try_bind(address);
    if (status != MUSTER_OK)
        return status;
    size_t length = strlen(address) + 1;
    struct device *device = calloc(1, sizeof(*device) + length);
    if (device == NULL)
        return gloo_host->error(MUSTER_ERR_NO_MEMORY, "no memory for a device of Gloo");
    memcpy(device->address, address, length);
    struct birth birth = {.address = device->address, .batch = batch};
    status = device_start(&birth);
    if (status != MUSTER_OK) {
        free(device);
        return status;
    }
    pthread_mutex_init(&device->lock, NULL);
    device->batch = batch;
    device->handle = birth.handle;
    *made = device;
    return MUSTER_OK;
}

muster_status device_get(const char *address, bool batch, struct device **found)
{
    pthread_once(&fork_once, devices_watch_fork);
    pthread_mutex_lock(&devices_lock);
    struct device *device = devices;
    while (device != NULL && (strcmp(device->address, address) != 0 || device->batch != batch))
        device = device->next;
    muster_status status = MUSTER_OK;
    if (device == NULL) {
        status = device_make(address, batch, &device);
        if (status == MUSTER_OK) {
            device->next = devices;
            devices = device;
        }
    }
    if (status == MUSTER_OK) {
        device->users++;
        *found = device;
    }
    pthread_mutex_unlock(&devices_lock);
    return status;
}

void device_put(struct device *device)
{
    pthread_mutex_lock(&devices_lock);
    bool last = --device->users == 0;
    if (last) {
        struct device **link = &devices;
        while (*link != device)
            link = &(*link)->next;
        *link = device->next;
    }
    pthread_mutex_unlock(&devices_lock);
    if (!last)
        return;
    gloo_c_device_free(device->handle);
    pthread_mutex_destroy(&device->lock);
    free(device);
}
