/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A longer line is cut in two; a fuller queue makes ranks wait. */
enum { LONGEST_LINE = 1 << 20, FULL_QUEUE = 4 << 20, MOST_WRITTEN = 1 << 20 };

/* What does not fit into memory is dropped: there is nobody left to tell. */
static void output_append(struct output_bytes *to, const char *bytes, size_t size)
{
    if (to->size + size > to->capacity) {
        size_t capacity = to->size + size + to->capacity + 4096;
        char *larger = realloc(to->bytes, capacity);
        if (larger == NULL)
            return;
        to->bytes = larger;
        to->capacity = capacity;
    }
    if (size > 0)
        memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

static void output_queue(struct output_stream *stream, struct output_bytes *line, const char *tag,
                         bool newline)
{
    if (!stream->broken) {
        output_append(&stream->queue, tag, strlen(tag));
        output_append(&stream->queue, line->bytes, line->size);
        output_append(&stream->queue, "\n", newline ? 1 : 0);
    }
    line->size = 0;
}

void output_take(struct output_stream *stream, struct output_bytes *line, const char *tag,
                 const char *bytes, size_t size)
{
    while (size > 0) {
        const char *newline = memchr(bytes, '\n', size);
        size_t part = newline == NULL ? size : (size_t)(newline - bytes) + 1;
        output_append(line, bytes, part);
        if (newline != NULL)
            output_queue(stream, line, tag, false);
        else if (line->size >= LONGEST_LINE)
            output_queue(stream, line, tag, true);
        bytes += part;
        size -= part;
    }
}

void output_finish(struct output_stream *stream, struct output_bytes *line, const char *tag)
{
    if (line->size > 0)
        output_queue(stream, line, tag, true);
    output_free(line);
}

bool output_waits(const struct output_stream *stream)
{
    return stream->queue.size > stream->written;
}

bool output_full(const struct output_stream *stream)
{
    return stream->queue.size - stream->written > FULL_QUEUE;
}

/* A pipe with room takes PIPE_BUF bytes without making us wait, and a line up to that in one. */
void output_write(struct output_stream *stream)
{
    const char *next = stream->queue.bytes + stream->written;
    size_t size = stream->queue.size - stream->written;
    const char *newline = memchr(next, '\n', size);
    if (newline != NULL)
        size = (size_t)(newline - next) + 1;
    ssize_t written =
        write(stream->descriptor, next, size < (size_t)PIPE_BUF ? size : (size_t)PIPE_BUF);
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
        stream->broken = true;
        stream->error = errno;
    }
    if (written > 0)
        stream->written += (size_t)written;
    if (stream->broken || stream->written == stream->queue.size)
        stream->queue.size = stream->written = 0;
    if (stream->written > MOST_WRITTEN) {
        stream->queue.size -= stream->written;
        memmove(stream->queue.bytes, stream->queue.bytes + stream->written, stream->queue.size);
        stream->written = 0;
    }
}

void output_free(struct output_bytes *bytes)
{
    free(bytes->bytes);
    *bytes = (struct output_bytes){NULL, 0, 0};
}
