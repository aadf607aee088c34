/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo's devices, one for each address, shared by all communicators of the process.
 */
#ifndef MUSTER_BACKENDS_GLOO_DEVICE_H
#define MUSTER_BACKENDS_GLOO_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "gloo_c.h"
#include "muster/backend.h"

struct device;

/* The device of a numeric address, made if there is none. batch: its thread is scheduled as
 * SCHED_BATCH, so that it does not keep others off a core that it shares with them. */
muster_status device_get(const char *address, bool batch, struct device **found);

gloo_c_device *device_handle(struct device *device);

/* For whoever pauses the device's thread or changes where Gloo listens: one at a time. */
pthread_mutex_t *device_lock(struct device *device);

/* The numeric address with port 0, and its size; 0 if it is none. */
socklen_t device_address(const char *text, struct sockaddr_storage *address);

/* Gives it back; the last one frees it, which takes up to 10 ms. */
void device_put(struct device *device);

/* AF_INET or AF_INET6. */
int device_family(const char *address);

#endif
