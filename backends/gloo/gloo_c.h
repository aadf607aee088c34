/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gloo C bindings: the part of Gloo's transport that moves messages, with a C face. Works with
 * Debian 12's Gloo of 2022 up to today's, which share these calls but no version number.
 *
 * No exception leaves: a function that can fail returns a gloo_c_status and puts Gloo's own words
 * into *why. Any function may be called from any thread.
 */
#ifndef MUSTER_BACKENDS_GLOO_GLOO_C_H
#define MUSTER_BACKENDS_GLOO_GLOO_C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gloo_c_status {
    GLOO_C_OK,
    GLOO_C_STOPPED, /* gloo_c_stop was called on the buffer */
    GLOO_C_IO,      /* a time-out, or a connection that is closed or broken */
    GLOO_C_NO_MEMORY,
    GLOO_C_NO_THREAD, /* the kernel has none to give, or no memory for its stack */
    GLOO_C_FAULT      /* anything else */
} gloo_c_status;

typedef struct gloo_c_why {
    char text[400];
} gloo_c_why;

/* The longest that a wait may take; Gloo's clock overflows on much longer ones. */
#define GLOO_C_LONGEST_MS (INT64_C(100) * 365 * 24 * 3600 * 1000)

typedef struct gloo_c_device gloo_c_device;   /* an address and the thread that serves it */
typedef struct gloo_c_context gloo_c_context; /* the connections of one group */
typedef struct gloo_c_buffer gloo_c_buffer;   /* memory that messages come from or go to */
typedef struct gloo_c_pause gloo_c_pause;     /* a time in which a device's thread does nothing */

/* "0.5.0", as the headers say. All known versions say it. */
const char *gloo_c_version(void);

/*
 * A thread gets memory for its exceptions when the first is thrown, and where there is none left
 * the process ends. So each has it from its first call of a function here on, or from this one, and
 * one that may be new asks first whether there is room for it.
 */
void gloo_c_prepare_thread(void);
bool gloo_c_thread_room(void);

/* Starts the device's thread, which inherits signal mask and scheduling class of the caller's.
 * family is AF_INET or AF_INET6, address numeric. */
gloo_c_status gloo_c_device_new(const char *address, int family, gloo_c_device **device,
                                gloo_c_why *why);
void gloo_c_device_free(gloo_c_device *device);

/* Returns when the device's thread has come to rest, where it stays until gloo_c_device_resume;
 * until then nothing may be freed or closed that the device serves. GLOO_C_IO: it did not come to
 * rest in time. */
gloo_c_status gloo_c_device_pause(gloo_c_device *device, int64_t timeout_ms, gloo_c_pause **pause,
                                  gloo_c_why *why);
void gloo_c_device_resume(gloo_c_pause *pause);

/* timeout_ms bounds the waits of connecting; a single connect may take five times as long. */
gloo_c_status gloo_c_context_new(gloo_c_device *device, int rank, int size, int64_t timeout_ms,
                                 gloo_c_context **context, gloo_c_why *why);

/* Closes what is open, which takes up to 10 ms a peer. No buffer of the context may be left. */
void gloo_c_context_free(gloo_c_context *context);

/* Closes all connections; what was handed to the kernel is still sent. Takes up to 10 ms a peer. */
void gloo_c_context_shut(gloo_c_context *context);

/* Prepares the connection to peer, for which Gloo listens from now on; *size is the capacity of
 * bytes and becomes the length of the address at which it does. */
gloo_c_status gloo_c_pair_new(gloo_c_context *context, int peer, void *bytes, size_t *size,
                              gloo_c_why *why);

/* Waits until a connection has come to where Gloo listens for this one; size is the length of its
 * address. */
gloo_c_status gloo_c_pair_await(gloo_c_context *context, int peer, size_t size, gloo_c_why *why);

/* The connection's descriptor stands for another socket now: has the device's thread look at that.
 */
gloo_c_status gloo_c_pair_watch(gloo_c_context *context, int peer, int fd, gloo_c_why *why);

/* Resets the connection: once this has returned no memory of its messages is touched. */
void gloo_c_pair_close(gloo_c_context *context, int peer);

/* The memory must outlive the buffer, and the buffer every message posted from it, or the
 * connection must have been closed. */
gloo_c_status gloo_c_buffer_new(gloo_c_context *context, void *data, size_t size,
                                gloo_c_buffer **buffer, gloo_c_why *why);
void gloo_c_buffer_free(gloo_c_buffer *buffer);

gloo_c_status gloo_c_send(gloo_c_buffer *buffer, int peer, uint64_t slot, size_t offset,
                          size_t size, gloo_c_why *why);
gloo_c_status gloo_c_recv(gloo_c_buffer *buffer, int peer, uint64_t slot, size_t offset,
                          size_t size, gloo_c_why *why);

/* Waits for one posted message. When the time is over Gloo closes all connections of the context.
 */
gloo_c_status gloo_c_wait_send(gloo_c_buffer *buffer, int64_t timeout_ms, gloo_c_why *why);
gloo_c_status gloo_c_wait_recv(gloo_c_buffer *buffer, int64_t timeout_ms, gloo_c_why *why);

/* Makes the wait that runs, or the next one, return GLOO_C_STOPPED. */
void gloo_c_stop(gloo_c_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
