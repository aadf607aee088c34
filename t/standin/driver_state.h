/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: the state of its driver.
 */
#ifndef MUSTER_T_STANDIN_DRIVER_STATE_H
#define MUSTER_T_STANDIN_DRIVER_STATE_H

#include "driver.h"

/* What every call is answered with before anything else; start does what cuInit does. */
cu_result driver_ready(void);
cu_result driver_start(void);
bool driver_initialised(void);

int driver_version(void);
int driver_num_devices(void);
const standin_device *driver_device(int ordinal); /* or NULL */

/* A device that a context was made for. */
bool driver_in_use(int device);
void driver_make_use(int device);

/* The devices that the calling thread works on; the last one is current, -1 if there is none. */
int driver_current(void);
bool driver_push(int device);
void driver_pop(void);

#endif
