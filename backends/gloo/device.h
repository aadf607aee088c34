/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo's devices, one for each address, shared by all communicators of the process.
 */
#ifndef MUSTER_BACKENDS_GLOO_DEVICE_H
#define MUSTER_BACKENDS_GLOO_DEVICE_H

#include <stdbool.h>

#include "gloo_c.h"
#include "muster/backend.h"

struct device;

/* The device of a numeric address, made if there is none. batch: its thread is scheduled as
 * SCHED_BATCH, so that it does not keep others off a core that it shares with them. */
muster_status device_get(const char *address, bool batch, struct device **found);

gloo_c_device *device_handle(struct device *device);

/* Gives it back; the last one frees it, which takes up to 10 ms. */
void device_put(struct device *device);

/* AF_INET or AF_INET6. */
int device_family(const char *address);

#endif
