/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks print, passed on line by line, so that lines of different ranks never mix.
 */
#ifndef MUSTER_RUN_OUTPUT_H
#define MUSTER_RUN_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output_bytes {
    char *bytes;
    size_t size;
    size_t capacity;
};

/* Where lines go: a standard descriptor of ours, and what waits to be written to it. */
struct output_stream {
    int descriptor;
    struct output_bytes queue;
    size_t written; /* of the queue */
    bool broken;    /* nothing can be written there any more */
    int error;      /* why not */
};

/* Takes what a rank has written and queues whole lines, each after tag. line keeps the rest. */
void output_take(struct output_stream *stream, struct output_bytes *line, const char *tag,
                 const char *bytes, size_t size);

/* The rank has closed it: the last line may lack its end. */
void output_finish(struct output_stream *stream, struct output_bytes *line, const char *tag);

/* Whether something waits, and whether that is so much that no more should be taken. */
bool output_waits(const struct output_stream *stream);
bool output_full(const struct output_stream *stream);

/* Writes a line that waits, or some of it; to be called when poll says that there is room. */
void output_write(struct output_stream *stream);

void output_free(struct output_bytes *bytes);

#endif
