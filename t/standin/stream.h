/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Part of the stand-in for hardware, which makes no claim about hardware: streams that run what
 * they are given later, each on a thread of its own, MUSTER_STANDIN_DELAY_US (100) microseconds
 * after it was given at the earliest. See driver.h for the functions; devices are given here, and a
 * stream is never NULL.
 */
#ifndef MUSTER_T_STANDIN_STREAM_H
#define MUSTER_T_STANDIN_STREAM_H

#include "driver.h"

cu_result stream_open(int device, unsigned flags, int priority, standin_stream **stream);
cu_result stream_close(standin_stream *stream);

/* The stream itself, the default one of the device for NULL; NULL if there is no such stream. */
standin_stream *stream_of(int device, standin_stream *stream);

cu_result stream_push(standin_stream *stream, void (*run)(void *what), void *what);
cu_result stream_await(standin_stream *stream, standin_mark mark);
standin_mark stream_mark(standin_stream *stream);
bool stream_reached(standin_mark mark);
void stream_wait(standin_mark mark);
void stream_wait_device(int device);

#endif
